//! Taking jobs from the queue.

use crate::{Error, Lease, Store, error::During};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use uuid::Uuid;

/// A job this worker has just taken. What its user wrote, [`Store::job_input`] reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// The job.
    pub id: Uuid,
    /// Names its configuration.
    pub job_type: String,
    /// Of its context; empty without one. A lane of the queue is a job type and a key.
    pub concurrency_key: String,
    /// Larger first.
    pub priority: i32,
    /// Could not run before; nothing before the year 1.
    pub run_at: DateTime<Utc>,
    /// When it was inserted; of jobs that could run from the same time on, the first comes first. Within the years 1
    /// to 9999.
    pub created_at: DateTime<Utc>,
    /// This attempt's number, from 1; given back unless it crashes or ends the job.
    pub attempt: i32,
    /// The user's bound.
    pub max_attempts: i32,
    /// The fencing token's number.
    pub lease_epoch: i64,
    /// Last committed step; 0 for a new job.
    pub step: i64,
    /// Seconds since the job could run, by the database's clock.
    pub waited_secs: f64,
    /// First claim ever.
    pub started_at: DateTime<Utc>,
    /// Whether feedback waits to be taken in.
    pub feedback_pending: bool,
    /// Whether it met so many crashes in a row that one more would fail it. Run it alone (see [`Store::run_alone`]): it must
    /// not be blamed for what another job did.
    pub is_suspect: bool,
    /// Whether [`Store::settings`] has the resolved configuration.
    pub has_settings: bool,
}

impl ClaimedJob {
    /// The lease under which the job is held.
    pub fn lease(&self) -> Lease {
        Lease { job_id: self.id, epoch: self.lease_epoch }
    }
}

impl Store {
    /// Takes up to `limit` runnable jobs, the most urgent first, optionally of some job types only. Jobs that another
    /// claim is just taking are skipped. Empty for a worker that is not registered.
    ///
    /// Fewer than `limit` means that the queue holds no more.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn claim(
        &self,
        worker_id: Uuid,
        limit: i64,
        job_types: Option<&[String]>,
    ) -> Result<Vec<ClaimedJob>, Error> {
        let claimed = sqlx::query_file_as!(ClaimedJob, "queries/queue/claim.sql", worker_id, limit, job_types);
        let mut claimed = claimed.fetch_all(&self.pool).await.during("claim jobs")?;
        claimed.sort_unstable_by_key(|job| (Reverse(job.priority), job.run_at, job.created_at, job.id));
        Ok(claimed)
    }

    /// Takes down that a worker runs a job and no other, before it begins: should the worker die, the job is to blame.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it was no longer ours; [`Error::Database`].
    pub async fn run_alone(&self, lease: &Lease) -> Result<(), Error> {
        sqlx::query_file_scalar!("queries/queue/run_alone.sql", lease.job_id, lease.epoch)
            .fetch_optional(&self.pool)
            .await
            .during("take down that the job runs alone")?
            .map(drop)
            .ok_or(Error::LeaseLost(lease.job_id))
    }
}
