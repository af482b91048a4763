//! One step, one transaction.
//!
//! The order never changes: the fence first, which also locks the job's row, so that locks are always taken job row
//! first; then what is new, a statement a family of tables and only where there is something to write; then COMMIT.
//! If the fence touches no row, the lease is lost and nothing is written.

mod batch;
mod fence;
mod leave;
mod thinning;
mod workspace;
mod write;

use crate::{
    Error, Lease, NewJob, Store, enqueue,
    error::During,
    fail_points::{Point, part, reach},
    settings, validation,
};
use batch::Batch;
use plumbline_engine::{Change, Progress, State};
use serde_json::Value;
use sqlx::PgConnection;

/// A step to write.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// The lease it is written under.
    pub lease: Lease,
    /// The step the run was at; the commit makes it one more.
    pub expected_step: i64,
    /// What the engine says must be written, in its order.
    pub changes: &'a [Change],
    /// The checkpoint after the changes.
    pub state: &'a State,
    /// The progress columns after the changes.
    pub progress: &'a Progress,
    /// The resolved configuration, with a job's first step; an earlier stored one stays.
    pub settings: Option<&'a Value>,
    /// A job to enqueue in the same transaction, for `on_complete`.
    pub enqueue_next: Option<&'a NewJob>,
}

/// What a commit says back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The step now committed.
    pub step: i64,
    /// Whether feedback waits that no step has taken in yet; read it with [`Store::feedback`].
    pub feedback_pending: bool,
}

impl Store {
    /// Writes a step, whole or not at all.
    ///
    /// When the answer to COMMIT is lost, the row is read back: if it advanced under our lease, the commit happened.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: another claim, another step, or the user changed the status; nothing was written, drop
    /// the run. [`Error::Database`]: nothing was written; the same commit may be tried again if it is transient.
    pub async fn commit(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let batch = Batch::of(commit);
        let mut tx = self.pool.begin().await.during("begin a step")?;
        let committed = write(&mut tx, commit, batch).await?;
        reach(Point::Written, part(commit.state)).await?;
        let answer = tx.commit().await;
        reach(Point::Committed, part(commit.state)).await?;
        match answer {
            Ok(()) => Ok(committed),
            Err(source) => match self.find(commit).await? {
                Found::Committed => Ok(committed),
                Found::NotCommitted => Err(Error::Database { doing: "commit a step", source }),
                Found::Others => Err(Error::LeaseLost(commit.lease.job_id)),
            },
        }
    }

    /// Writes a step after a try of which nobody knows how it ended: the answer to COMMIT was lost and so was the
    /// answer to the question whether it happened, or the caller gave up waiting. If it did happen, that is the answer.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn commit_again(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        match self.commit(commit).await {
            Err(Error::LeaseLost(job_id)) => match self.find(commit).await? {
                // Whether feedback waits is not known any more; that it may costs the caller one look.
                Found::Committed => Ok(Committed { step: commit.expected_step + 1, feedback_pending: true }),
                Found::NotCommitted | Found::Others => Err(Error::LeaseLost(job_id)),
            },
            other => other,
        }
    }

    /// Looks for a step whose COMMIT had no answer. Nobody else writes steps under this lease's epoch.
    async fn find(&self, commit: &Commit<'_>) -> Result<Found, Error> {
        let row = sqlx::query_file!("queries/committed_step.sql", commit.lease.job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read a step back after its commit was not answered")?;
        Ok(match row {
            Some(row) if row.lease_epoch == commit.lease.epoch && row.step > commit.expected_step => Found::Committed,
            Some(row) if row.lease_epoch == commit.lease.epoch => Found::NotCommitted,
            Some(_) | None => Found::Others,
        })
    }
}

/// What the row says of a step whose COMMIT had no answer.
enum Found {
    Committed,
    NotCommitted,
    /// Another claim has the job.
    Others,
}

async fn write(tx: &mut PgConnection, commit: &Commit<'_>, batch: Batch<'_>) -> Result<Committed, Error> {
    let committed = fence::fence(tx, commit, &batch).await?;
    reach(Point::Fenced, part(commit.state)).await?;
    let (job_id, step) = (commit.lease.job_id, committed.step);
    if let Some(resolved) = commit.settings {
        settings::put(tx, job_id, resolved).await?;
    }
    workspace::write_files(tx, job_id, step, &batch.files).await?;
    write::findings(tx, job_id, step, &batch).await?;
    validation::judge(tx, job_id, &batch.judgements).await?;
    write::plan(tx, job_id, step, &batch).await?;
    write::record(tx, commit, step, &batch).await?;
    if let Some(leave) = batch.left {
        leave::leave(tx, commit, step, leave).await?;
    }
    if let Some(next) = commit.enqueue_next {
        enqueue::enqueue(tx, next).await?;
    }
    Ok(committed)
}
