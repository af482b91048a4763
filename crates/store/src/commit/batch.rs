//! Writes the steps of a batch: in one transaction, the fence first.
//!
//! `commit_steps.sql` has the fence and the rows of nearly every step; if no step of the batch has more, it is the
//! whole transaction: one round trip. Otherwise, in this order:
//!
//! 1. `commit_steps.sql`
//! 2. `commit_rare_rows.sql`: one statement for all kinds of rare rows (see [`super::rare_rows`]), and once more for
//!    each further two hundred passages of a document that was cut
//! 3. changes of recorded requirements, one by one: each must see what the step recorded and changed before it
//! 4. approvals of calls ([`super::approvals`]): if one is no longer approved, its step is refused
//! 5. `exit_jobs.sql`: a trigger releases rows that an ending job still holds
//! 6. the follow-up jobs of ended jobs
//!
//! Only the rows of steps that passed the fence are written.

use super::{
    Commit, Committed, approvals,
    exit::{self, ExitRow},
    file_versions::FileVersions,
    rare_rows::Documents,
    step_rows::StepRows,
};
use crate::{
    Error, Lease, NewJob,
    bind::json,
    error::During,
    fail_points::{Point, part, reach},
    queue::enqueue,
    requirements::lookup,
};
use plumbline_engine::{ApprovalChange, RequirementChange};
use sqlx::{Connection as _, PgConnection};
use std::{iter, time::Duration};

/// A transaction that waits only 50 ms for a lock: its steps concern many jobs. The server plans its statements once:
/// from the arguments it would expect fewer rows than without them, take that for a gain, and plan the statement for
/// rare rows again for each batch, which takes a fifth of its time.
const BEGIN_IMPATIENT: &str = "BEGIN; SET LOCAL lock_timeout = 50; SET LOCAL plan_cache_mode = force_generic_plan";

/// A step ready to be written, without its run.
#[derive(Debug)]
pub(super) struct PreparedStep {
    lease: Lease,
    /// The step's number.
    step: i64,
    /// For the fail-points.
    part: &'static str,
    document: String,
    messages: String,
    state: String,
    files: FileVersions,
    rare: Option<Box<PreparedRareRows>>,
}

/// The rare rows of a step.
#[derive(Debug)]
struct PreparedRareRows {
    /// For `commit_rare_rows.sql`, in order.
    documents: Vec<Documents>,
    requirement_changes: Vec<RequirementChange>,
    approvals: Vec<ApprovalChange>,
    exit: Option<ExitRow>,
    next_job: Option<NewJob>,
}

/// How a batch treats rows locked by other sessions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Locks {
    /// Skips a step whose job is locked, and waits only briefly for other locks.
    Skip,
    /// Waits. For a batch of one.
    Wait,
}

/// A written step, by its position in the batch.
pub(super) struct Written {
    pub(super) place: usize,
    pub(super) committed: Committed,
}

/// Why a batch was not written, or whether that is unknown.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// Unknown: the answer to the commit was lost.
    pub(super) in_doubt: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, in_doubt: false }
    }
}

impl Failure {
    /// Whether the error is a lock timeout.
    pub(super) fn is_lock_timeout(&self) -> bool {
        let Error::Database { source, .. } = &self.error else { return false };
        source.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "55P03")
    }

    pub(super) fn unanswered(after: Duration) -> Self {
        Self { error: Error::Unanswered(after), in_doubt: true }
    }

    /// Of the commit itself: unless the server says that it did not commit, the outcome is unknown.
    fn of_commit(source: sqlx::Error) -> Self {
        let in_doubt = !is_refusal(&source);
        Self { error: Error::Database { doing: "commit a step", source }, in_doubt }
    }
}

impl PreparedStep {
    pub(super) fn of(commit: &Commit<'_>, mut rows: StepRows<'_>, files: FileVersions) -> Self {
        let rare = PreparedRareRows {
            documents: rows.rare.documents(commit.lease.job_id, commit.expected_step + 1),
            requirement_changes: rows.rare.requirement_changes.iter().copied().cloned().collect(),
            approvals: rows.rare.approvals.iter().copied().cloned().collect(),
            exit: rows.rare.exit.map(|leave| ExitRow::of(commit.lease, leave)),
            next_job: commit.enqueue_next.cloned(),
        };
        Self {
            lease: commit.lease,
            step: commit.expected_step + 1,
            part: part(commit.state),
            document: json(&rows),
            messages: json(&rows.messages),
            state: json(commit.state),
            files,
            rare: (!rare.is_empty()).then(|| Box::new(rare)),
        }
    }

    /// Approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        let files = self.files.contents.iter().flatten().map(Vec::len);
        let rare = self.rare.iter().flat_map(|rare| &rare.documents).map(Documents::size);
        let rows = self.document.len() + self.messages.len() + self.state.len();
        rows + files.sum::<usize>() + rare.sum::<usize>()
    }
}

impl PreparedRareRows {
    fn is_empty(&self) -> bool {
        self.documents.is_empty()
            && self.requirement_changes.is_empty()
            && self.approvals.is_empty()
            && self.exit.is_none()
            && self.next_job.is_none()
    }
}

/// Writes the steps of a batch; returns those that were written. The others' leases are lost, or their rows are locked.
pub(super) async fn write(
    connection: &mut PgConnection,
    steps: &[&PreparedStep],
    locks: Locks,
) -> Result<Vec<Written>, Failure> {
    let doing = "begin a step";
    let mut tx = match locks {
        Locks::Skip if steps.iter().all(|step| step.rare.is_none()) => {
            return commit_steps(connection, steps).await.map_err(Failure::of_commit);
        }
        Locks::Skip => connection.begin_with(BEGIN_IMPATIENT).await.during(doing)?,
        Locks::Wait => {
            let mut tx = connection.begin().await.during(doing)?;
            for step in steps {
                sqlx::query_file!("queries/commit/lock_job.sql", step.lease.job_id)
                    .fetch_optional(&mut *tx)
                    .await
                    .during(doing)?;
            }
            tx
        }
    };
    let written = commit_steps(&mut tx, steps).await.during("write a step")?;
    let of_written: Vec<_> = written.iter().filter_map(|written| steps.get(written.place).copied()).collect();
    for step in &of_written {
        reach(Point::Fenced, step.part).await?;
    }
    write_rare_rows(&mut tx, &of_written).await?;
    for step in &of_written {
        reach(Point::Written, step.part).await?;
    }
    tx.commit().await.map_err(Failure::of_commit)?;
    Ok(written)
}

/// The fence, and the rows of nearly every step.
async fn commit_steps(connection: &mut PgConnection, steps: &[&PreparedStep]) -> Result<Vec<Written>, sqlx::Error> {
    let documents: Vec<&str> = steps.iter().map(|step| &*step.document).collect();
    let messages: Vec<&str> = steps.iter().map(|step| &*step.messages).collect();
    let states: Vec<&str> = steps.iter().map(|step| &*step.state).collect();
    let files = || steps.iter().map(|step| &step.files);
    // Positions start at 1, as in the statement.
    let places: Vec<i64> =
        (1..).zip(files()).flat_map(|(place, files)| iter::repeat_n(place, files.paths.len())).collect();
    let paths: Vec<&str> = files().flat_map(|files| &files.paths).map(String::as_str).collect();
    let contents: Vec<Option<&[u8]>> = files().flat_map(|files| &files.contents).map(Option::as_deref).collect();
    let placeholders: Vec<bool> = files().flat_map(|files| &files.placeholders).copied().collect();
    let rows = sqlx::query_file!(
        "queries/commit/commit_steps.sql",
        &documents as &[&str],
        &messages as &[&str],
        &states as &[&str],
        &places,
        &paths as &[&str],
        &contents as &[Option<&[u8]>],
        &placeholders,
    )
    .fetch_all(connection)
    .await?;
    let written = rows.into_iter().filter_map(|row| {
        let place = usize::try_from(row.place - 1).ok()?;
        Some(Written { place, committed: Committed { step: row.step, feedback_pending: row.feedback_pending } })
    });
    Ok(written.collect())
}

async fn write_documents(tx: &mut PgConnection, steps: &[&Documents]) -> Result<(), Error> {
    let documents: Vec<&str> = steps.iter().map(|step| &*step.document).collect();
    let many = |rows: fn(&Documents) -> &Option<String>| steps.iter().map(|step| rows(step).as_deref()).collect();
    let citations: Vec<Option<&str>> = many(|step| &step.citations);
    let requirements: Vec<Option<&str>> = many(|step| &step.requirements);
    let passages: Vec<Option<&str>> = many(|step| &step.passages);
    sqlx::query_file!(
        "queries/commit/commit_rare_rows.sql",
        &documents as &[&str],
        &citations as &[Option<&str>],
        &requirements as &[Option<&str>],
        &passages as &[Option<&str>],
    )
    .execute(tx)
    .await
    .during("write the rare rows of a step")?;
    Ok(())
}

/// Writes the rare rows of steps that passed the fence.
async fn write_rare_rows(tx: &mut PgConnection, steps: &[&PreparedStep]) -> Result<(), Error> {
    let rare = || steps.iter().filter_map(|step| Some((step.lease.job_id, step.rare.as_deref()?)));
    // The first documents of all steps in one statement; each further document of a step in its own.
    let first: Vec<&Documents> = rare().filter_map(|(_, rare)| rare.documents.first()).collect();
    let further = rare().flat_map(|(_, rare)| rare.documents.iter().skip(1)).map(|documents| vec![documents]);
    for documents in std::iter::once(first).chain(further).filter(|documents| !documents.is_empty()) {
        write_documents(tx, &documents).await?;
    }
    for step in steps {
        if let Some(rare) = &step.rare {
            lookup::change(tx, step.lease.job_id, step.step, &rare.requirement_changes).await?;
            approvals::write(tx, step.lease.job_id, step.step, &rare.approvals).await?;
        }
    }
    let exits: Vec<&ExitRow> = rare().filter_map(|(_, rare)| rare.exit.as_ref()).collect();
    let exited =
        if exits.is_empty() { Vec::new() } else { exit::exit(tx, &exits).await.during("set the job's new status")? };
    for (job_id, rare) in rare() {
        if let Some(next_job) = &rare.next_job
            && (rare.exit.is_none() || exited.contains(&job_id))
        {
            enqueue::enqueue(tx, next_job).await?;
        }
    }
    Ok(())
}

/// Whether the server says that it did not commit. The end of a session does not say whether the commit happened:
/// classes 08 (a pooler lost its connection to the server) and 57P (the server went down).
fn is_refusal(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| !code.starts_with("08") && !code.starts_with("57P"))
}
