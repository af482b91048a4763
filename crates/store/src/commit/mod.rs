//! One step, one transaction; concurrent steps of several jobs share it.
//!
//! The path of a step:
//!
//! 1. [`step_rows`] folds its changes into rows as JSON: those of nearly every step, and the rare ones ([`rare_rows`],
//!    which explains how to add a kind of row); [`file_versions`] are bytes.
//! 2. [`batcher`] puts it into a batch; a single step is a batch of one.
//! 3. [`batch`] writes the batch: the fence first, which locks the jobs' rows, so that locks are always taken job row
//!    first. A step whose fence matches no row has lost its lease, and nothing of it is written.
//! 4. A step that its batch could not write is written alone, and waits for locks.

mod approvals;
mod batch;
mod batcher;
mod checkpoint_retention;
mod exit;
mod file_versions;
mod phase_rows;
mod rare_rows;
mod step_rows;

use crate::{
    Error, Lease, NewJob, Store, StoredSettings,
    error::During,
    fail_points::{Point, part, reach},
};
use batch::{Failure, Locks, PreparedStep};
pub(crate) use batcher::CommitBatcher;
use batcher::Reply;
use file_versions::FileVersions;
use plumbline_engine::{Change, Progress, State};
use std::sync::Arc;
use step_rows::StepRows;

/// A step to write.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// The lease of the run.
    pub lease: Lease,
    /// The run's current step; the commit increments it.
    pub expected_step: i64,
    /// The engine's changes, in order.
    pub changes: &'a [Change],
    /// The checkpoint after the changes.
    pub state: &'a State,
    /// The progress columns after the changes.
    pub progress: &'a Progress,
    /// The resolved configuration, with a job's first step; an already stored one is kept.
    pub settings: Option<&'a StoredSettings>,
    /// A job to enqueue in the same transaction, for `on_complete`; not if feedback prevents the job from completing.
    pub enqueue_next: Option<&'a NewJob>,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The step now committed.
    pub step: i64,
    /// Whether there is feedback that no step has taken in yet; read it with [`Store::feedback`].
    pub feedback_pending: bool,
}

impl Store {
    /// Writes a step atomically.
    ///
    /// If the answer is lost, the row is read back: if it advanced under our lease, the commit happened.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: another claim, another step, or the user changed the status; nothing was written, drop the
    /// run. [`Error::Database`]: nothing was written; retry the same commit if the error is transient.
    pub async fn commit(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let step = Arc::new(self.prepare(commit).await?);
        // The rare outcomes are boxed: otherwise each of hundreds of waiting steps reserves the memory for them.
        let committed = match self.admit(Arc::clone(&step)).await {
            Ok(Reply::Written(committed)) => committed,
            Ok(Reply::NotWritten) => Box::pin(self.commit_alone(commit, &step)).await?,
            Ok(Reply::Failed(failure)) => Box::pin(self.settle(commit, failure)).await?,
            // Unknown whether the batch wrote it.
            Err(_) => {
                let written = Box::pin(self.commit_alone(commit, &step)).await;
                Box::pin(self.or_found(commit, written)).await?
            }
        };
        reach(Point::Committed, part(commit.state)).await?;
        Ok(committed)
    }

    /// The rows of a step, including what must be read from the database.
    async fn prepare(&self, commit: &Commit<'_>) -> Result<PreparedStep, Error> {
        let rows = StepRows::of(commit);
        if let Some(shared) = rows.rare.shared_files {
            self.keep_shared(shared).await?;
        }
        let files = FileVersions::of(self, commit.lease.job_id, &rows.files).await?;
        Ok(PreparedStep::of(commit, rows, files))
    }

    /// Writes a step that its batch could not write, and waits for locks.
    async fn commit_alone(&self, commit: &Commit<'_>, step: &PreparedStep) -> Result<Committed, Error> {
        match self.write(&[step], Locks::Wait).await {
            Ok(written) => {
                let committed = written.first().map(|written| written.committed);
                committed.ok_or(Error::LeaseLost(commit.lease.job_id))
            }
            Err(failure) => self.settle(commit, failure).await,
        }
    }

    /// Finds out whether a step was committed, if its failure leaves that open.
    async fn settle(&self, commit: &Commit<'_>, failure: Failure) -> Result<Committed, Error> {
        if !failure.in_doubt {
            return Err(failure.error);
        }
        match self.find(commit).await? {
            Found::Committed(committed) => Ok(committed),
            Found::NotCommitted => Err(failure.error),
            Found::Others => Err(Error::LeaseLost(commit.lease.job_id)),
        }
    }

    /// Writes a step after an attempt with an unknown outcome: the answer to the commit and the answer to the check
    /// were both lost, or the caller gave up waiting. If the step was committed, returns that.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn commit_again(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let written = self.commit(commit).await;
        self.or_found(commit, written).await
    }

    /// The outcome of a step that may have been written before: the fence refuses the second write, and the row shows
    /// which.
    async fn or_found(&self, commit: &Commit<'_>, written: Result<Committed, Error>) -> Result<Committed, Error> {
        match written {
            Err(Error::LeaseLost(job_id)) => match self.find(commit).await? {
                Found::Committed(committed) => Ok(committed),
                Found::NotCommitted | Found::Others => Err(Error::LeaseLost(job_id)),
            },
            other => other,
        }
    }

    /// Looks for a step whose commit had no answer. Only the holder of this lease epoch writes steps under it.
    async fn find(&self, commit: &Commit<'_>) -> Result<Found, Error> {
        let row = sqlx::query_file!("queries/commit/committed_step.sql", commit.lease.job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read a step whose commit was not acknowledged")?;
        Ok(match row {
            Some(row) if row.lease_epoch == commit.lease.epoch && row.step > commit.expected_step => {
                // Whether feedback waits is no longer known; assuming so costs the caller one query.
                Found::Committed(Committed { step: commit.expected_step + 1, feedback_pending: true })
            }
            Some(row) if row.lease_epoch == commit.lease.epoch => Found::NotCommitted,
            Some(_) | None => Found::Others,
        })
    }
}

/// The row's evidence on a step whose commit had no answer.
enum Found {
    Committed(Committed),
    NotCommitted,
    /// Another claim has the job.
    Others,
}
