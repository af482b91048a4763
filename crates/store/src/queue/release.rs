//! Releases a job outside a step.

use crate::{Error, Lease, Store, bind::text, error::During, error_details};
use plumbline_engine::JobError;
use std::time::Duration;

/// Why a worker gives a job back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseReason {
    /// The worker is shutting down and nothing of the job was in flight.
    Drain,
    /// The worker is shutting down and gave up a call in flight: the next attempt must know that its outcome is
    /// unknown.
    Abandoned,
    /// Another job, suspected of killing workers, is run alone.
    MakesRoom,
    /// The worker has forgotten the job's type since it claimed it: its configuration has changed.
    UnknownType,
    /// A lease that none of the worker's runs knows (see [`Store::held`]), or a run that broke: nobody knows what was
    /// in flight.
    Orphaned,
}

impl ReleaseReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Drain | Self::Abandoned => "its worker is shutting down",
            Self::MakesRoom => "its worker runs a job alone that met several crashes",
            Self::UnknownType => "its worker no longer knows its job type; it waits for one that does",
            Self::Orphaned => "its worker gave it back",
        }
    }

    /// The attempt's outcome: `lost` where it was taken away from its worker.
    fn outcome(self) -> &'static str {
        match self {
            Self::Drain | Self::MakesRoom | Self::UnknownType => "released",
            Self::Abandoned | Self::Orphaned => "lost",
        }
    }
}

impl Store {
    /// Gives a job back cleanly: pending again, and the attempt does not count.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn release(&self, lease: &Lease, reason: ReleaseReason) -> Result<(), Error> {
        sqlx::query_file_scalar!(
            "queries/queue/release.sql",
            lease.job_id,
            lease.epoch,
            reason.as_str(),
            reason.outcome()
        )
        .fetch_optional(&self.pool)
        .await
        .during("release the job")?
        .map(drop)
        .ok_or(Error::LeaseLost(lease.job_id))
    }

    /// Gives a job back that cannot go on here now: pending, with the reason, and not due before so long a time. The attempt
    /// does not count.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn release_for(&self, lease: &Lease, reason: &str, wait: Duration) -> Result<(), Error> {
        let reason = text(reason);
        sqlx::query_file_scalar!(
            "queries/queue/release_for.sql",
            lease.job_id,
            lease.epoch,
            reason.as_ref(),
            wait.as_secs_f64()
        )
        .fetch_optional(&self.pool)
        .await
        .during("release the job")?
        .map(drop)
        .ok_or(Error::LeaseLost(lease.job_id))
    }

    /// Gives a job back for trouble that is not its own, which `code` is known by: pending, with the reason and a wait that
    /// grows while the same meets the same step. After `patience` of that the job fails; zero: never. Whether it failed.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn give_back(&self, lease: &Lease, reason: &str, code: &str, patience: Duration) -> Result<bool, Error> {
        let reason = text(reason);
        sqlx::query_file_scalar!(
            "queries/queue/give_back.sql",
            lease.job_id,
            lease.epoch,
            reason.as_ref(),
            code,
            patience.as_secs_f64()
        )
        .fetch_optional(&self.pool)
        .await
        .during("give the job back")?
        .ok_or(Error::LeaseLost(lease.job_id))
    }

    /// Fails a job that cannot be run: unknown type, missing document, invalid configuration, rows that do not load.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn reject(&self, lease: &Lease, error: &JobError) -> Result<(), Error> {
        let message = text(&error.message);
        sqlx::query_file_scalar!(
            "queries/queue/reject.sql",
            lease.job_id,
            lease.epoch,
            message.as_ref(),
            error_details::of(error)
        )
        .fetch_optional(&self.pool)
        .await
        .during("fail the job")?
        .map(drop)
        .ok_or(Error::LeaseLost(lease.job_id))
    }

    /// Pauses a job that cannot go on until somebody has mended what `reason` says.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn park(&self, lease: &Lease, reason: &str) -> Result<(), Error> {
        let reason = text(reason);
        sqlx::query_file_scalar!("queries/queue/park.sql", lease.job_id, lease.epoch, reason.as_ref())
            .fetch_optional(&self.pool)
            .await
            .during("pause the job")?
            .map(drop)
            .ok_or(Error::LeaseLost(lease.job_id))
    }
}
