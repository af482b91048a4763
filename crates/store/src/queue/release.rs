//! Releases a job outside a step.

use crate::{Error, Lease, Store, bind::text, error::During, error_details};
use plumbline_engine::JobError;
use std::time::Duration;

/// Why a worker releases a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseReason {
    /// The worker is shutting down and no call of the job was in flight.
    Drain,
    /// The worker is shutting down and abandoned a call in flight: the next attempt must know that its outcome is
    /// unknown.
    Abandoned,
    /// Another job, suspected of crashing workers, must run alone.
    MakesRoom,
    /// The worker's configuration changed since the claim and no longer has the job's type.
    UnknownType,
    /// A lease that belongs to none of the worker's runs (see [`Store::held`]), or a run that broke: it is unknown what
    /// was in flight.
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

    /// The attempt's outcome: `lost` if the worker lost it.
    fn outcome(self) -> &'static str {
        match self {
            Self::Drain | Self::MakesRoom | Self::UnknownType => "released",
            Self::Abandoned | Self::Orphaned => "lost",
        }
    }
}

impl Store {
    /// Releases a job cleanly: pending again, and the attempt does not count.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
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

    /// Releases a job that cannot continue here now: pending, with the reason, and due after `wait` at the earliest.
    /// The attempt does not count.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
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

    /// Releases a job after a failure that it did not cause, identified by `code`: pending, with the reason and a delay
    /// that grows while the same failure recurs at the same step. After `patience` the job fails; zero: never. Returns
    /// whether it failed.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
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
        .during("release the job")?
        .ok_or(Error::LeaseLost(lease.job_id))
    }

    /// Fails a job that cannot be run: unknown type, missing document, invalid configuration, rows that do not load.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
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

    /// Pauses a job until an operator fixes the problem in `reason`.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
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
