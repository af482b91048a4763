//! One step, one transaction; concurrent steps of several jobs share it.
//!
//! A step's way:
//!
//! 1. [`step_rows`] folds its changes into rows: the rows of nearly every step are one JSON document, rare rows another
//!    ([`rare_rows`], which explains how to add a kind of row), and [`file_versions`] are bytes.
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
        let step = Arc::new(self.prepare(commit).await?);
        let committed = match self.admit(Arc::clone(&step)).await {
            Ok(Reply::Written(committed)) => committed,
            Ok(Reply::NotWritten) => self.commit_alone(commit, &step).await?,
            Ok(Reply::Failed(failure)) => self.settle(commit, failure).await?,
            // Nobody knows whether it was written.
            Err(_) => {
                let written = self.commit_alone(commit, &step).await;
                self.or_found(commit, written).await?
            }
        };
        reach(Point::Committed, part(commit.state)).await?;
        Ok(committed)
    }

    /// The rows of a step, with what they need of the database.
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

    /// Writes a step after a try of which nobody knows how it ended: the answer to the commit was lost and so was the
    /// answer to the question whether it happened, or the caller gave up waiting. If it did happen, that is the answer.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn commit_again(&self, commit: &Commit<'_>) -> Result<Committed, Error> {
        let written = self.commit(commit).await;
        self.or_found(commit, written).await
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
        let row = sqlx::query_file!("queries/commit/committed_step.sql", commit.lease.job_id)
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
