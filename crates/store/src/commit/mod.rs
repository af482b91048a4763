//! One step, one transaction, and nearly always one statement.
//!
//! `step.sql` is the step: the fence, and in the same statement what nearly every step has to write, so that a step is
//! one round trip and one commit. Where there is more (a phase, findings, the job's end), the same statement runs within
//! an explicit transaction and the rest follows before COMMIT. Either way the fence comes first and locks the job's row,
//! so that locks are always taken job row first; and if it touches no row, the lease is lost and nothing is written.
//! Where many jobs commit at once, their steps share a statement (see `group`).

mod batch;
mod group;
mod leave;
mod plan;
mod rest;
mod step;
mod thinning;
mod workspace;

use crate::{
    Error, Lease, NewJob, Store, StoredSettings, aside,
    error::During,
    fail_points::{Point, part, reach},
};
use batch::Batch;
pub(crate) use group::Group;
use group::{Answer, Entered};
use plumbline_engine::{Change, Progress, State};
use sqlx::Connection as _;
use workspace::Versions;

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
    pub settings: Option<&'a StoredSettings>,
    /// A job to enqueue in the same transaction, for `on_complete`; not if feedback keeps the job from completing.
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
    /// When the answer is lost, the row is read back: if it advanced under our lease, the commit happened.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: another claim, another step, or the user changed the status; nothing was written, drop
    /// the run. [`Error::Database`]: nothing was written; the same commit may be tried again if it is transient.
    pub async fn commit(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let batch = Batch::of(commit);
        if let Some(shared) = batch.shared {
            Box::pin(self.keep_shared(shared)).await?;
        }
        let files = Box::pin(Versions::of(self, commit.lease.job_id, &batch.files)).await?;
        if files.placed.is_empty() && rest::is_common(commit, &batch) {
            self.commit_with_others(commit, &batch, &files).await
        } else {
            Box::pin(self.commit_with_rest(commit, &batch, &files)).await
        }
    }

    /// Alone if no other step is being written, or else together with those that come meanwhile. Many jobs may wait here
    /// for others, so that what talks to the server is boxed: it takes many times the room.
    async fn commit_with_others(
        &self,
        commit: &Commit<'_>,
        batch: &Batch<'_>,
        files: &Versions<'_>,
    ) -> Result<Committed, Error> {
        let answer = match self.enter(commit, batch, files) {
            Entered::Alone(_turn) => return Box::pin(self.commit_alone(commit, batch, files)).await,
            Entered::Together(answer) => answer.await,
        };
        match answer {
            Ok(Answer::Written(committed)) => {
                reach(Point::Committed, part(commit.state)).await?;
                Ok(committed)
            }
            Ok(Answer::NotWritten) => Box::pin(self.commit_alone(commit, batch, files)).await,
            // Nobody knows whether it was written.
            Err(_) => {
                let written = Box::pin(self.commit_alone(commit, batch, files)).await;
                Box::pin(self.or_found(commit, written)).await
            }
        }
    }

    /// The step's statement is its own transaction, unless there is more to write.
    async fn commit_alone(
        &self,
        commit: &Commit<'_>,
        batch: &Batch<'_>,
        files: &Versions<'_>,
    ) -> Result<Committed, Error> {
        match rest::is_empty(commit, batch) {
            true => Box::pin(self.write_alone(commit, batch, files)).await,
            false => Box::pin(self.commit_with_rest(commit, batch, files)).await,
        }
    }

    async fn write_alone(
        &self,
        commit: &Commit<'_>,
        batch: &Batch<'_>,
        files: &Versions<'_>,
    ) -> Result<Committed, Error> {
        let mut connection = self.step_connection().await.during("begin a step")?;
        let answer = step::write(&mut connection, commit, batch, files).await;
        if answer.is_ok() {
            connection.keep()
        } else {
            drop(connection)
        }
        let Some(answer) = answer.transpose() else { return Err(Error::LeaseLost(commit.lease.job_id)) };
        reach(Point::Committed, part(commit.state)).await?;
        match answer {
            Ok(committed) => Ok(committed),
            Err(source) if is_refusal(&source) => Err(Error::Database { doing: "write a step", source }),
            Err(source) => self.settle(commit, source).await,
        }
    }

    /// The step's statement and the rest, in a transaction.
    async fn commit_with_rest(
        &self,
        commit: &Commit<'_>,
        batch: &Batch<'_>,
        files: &Versions<'_>,
    ) -> Result<Committed, Error> {
        let mut connection = self.step_connection().await.during("begin a step")?;
        let mut tx = connection.begin().await.during("begin a step")?;
        let written = step::write(&mut tx, commit, batch, files).await.during("write a step")?;
        let committed = written.ok_or(Error::LeaseLost(commit.lease.job_id))?;
        reach(Point::Fenced, part(commit.state)).await?;
        aside::place(&mut tx, commit.lease.job_id, committed.step, &files.placed).await?;
        rest::write(&mut tx, commit, committed.step, batch).await?;
        reach(Point::Written, part(commit.state)).await?;
        let answer = tx.commit().await;
        reach(Point::Committed, part(commit.state)).await?;
        match answer {
            Ok(()) => {
                connection.keep();
                Ok(committed)
            }
            Err(source) => {
                drop(connection);
                self.settle(commit, source).await
            }
        }
    }

    /// Finds out whether a step was committed whose answer did not come.
    async fn settle(&self, commit: &Commit<'_>, source: sqlx::Error) -> Result<Committed, Error> {
        match self.find(commit).await? {
            Found::Committed(committed) => Ok(committed),
            Found::NotCommitted => Err(Error::Database { doing: "commit a step", source }),
            Found::Others => Err(Error::LeaseLost(commit.lease.job_id)),
        }
    }

    /// Writes a step after a try of which nobody knows how it ended: the answer to the commit was lost and so was the
    /// answer to the question whether it happened, or the caller gave up waiting. If it did happen, that is the answer.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn commit_again(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let written = self.commit(commit).await;
        Box::pin(self.or_found(commit, written)).await
    }

    /// What became of a step that may have been written before: the fence refuses the second time, and the row tells.
    async fn or_found(&self, commit: &Commit<'_>, written: Result<Committed, Error>) -> Result<Committed, Error> {
        match written {
            Err(Error::LeaseLost(job_id)) => match self.find(commit).await? {
                Found::Committed(committed) => Ok(committed),
                Found::NotCommitted | Found::Others => Err(Error::LeaseLost(job_id)),
            },
            other => other,
        }
    }

    /// Looks for a step whose commit had no answer. Nobody else writes steps under this lease's epoch.
    async fn find(&self, commit: &Commit<'_>) -> Result<Found, Error> {
        let row = sqlx::query_file!("queries/committed_step.sql", commit.lease.job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read a step back after its commit was not answered")?;
        Ok(match row {
            Some(row) if row.lease_epoch == commit.lease.epoch && row.step > commit.expected_step => {
                // Whether feedback waits is not known any more; that it may costs the caller one look.
                Found::Committed(Committed { step: commit.expected_step + 1, feedback_pending: true })
            }
            Some(row) if row.lease_epoch == commit.lease.epoch => Found::NotCommitted,
            Some(_) | None => Found::Others,
        })
    }
}

/// What the row says of a step whose commit had no answer.
enum Found {
    Committed(Committed),
    NotCommitted,
    /// Another claim has the job.
    Others,
}

/// Whether the server itself said that it did not do it. The end of a session says nothing about what was done before:
/// classes 08 (a pooler lost its connection to the server) and 57P (the server went down).
fn is_refusal(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| !code.starts_with("08") && !code.starts_with("57P"))
}
