//! Taking jobs from the queue.

use crate::{Error, Lease, Store, error::During};
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use uuid::Uuid;

/// A job this worker has just claimed. [`Store::job_input`] reads the user's input.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// The job.
    pub id: Uuid,
    /// Selects its configuration.
    pub job_type: String,
    /// From its context; empty if there is none. A lane of the queue is a job type and a key.
    pub concurrency_key: String,
    /// Larger numbers are claimed first.
    pub priority: i32,
    /// Not runnable before; clamped to year 1 or later.
    pub run_at: DateTime<Utc>,
    /// When it was inserted; among jobs runnable since the same time, the oldest is first. Clamped to the years 1 to
    /// 9999.
    pub created_at: DateTime<Utc>,
    /// The number of this attempt, from 1; returned unless the attempt crashes or ends the job.
    pub attempt: i32,
    /// The user's limit.
    pub max_attempts: i32,
    /// The fencing token.
    pub lease_epoch: i64,
    /// Last committed step; 0 for a new job.
    pub step: i64,
    /// Seconds since the job became runnable, by the database's clock.
    pub waited_secs: f64,
    /// First claim ever.
    pub started_at: DateTime<Utc>,
    /// Whether there is feedback that no step has taken in.
    pub feedback_pending: bool,
    /// Whether one more crash in a row would fail it. Run it alone (see [`Store::run_alone`]), so that it is not blamed
    /// for a crash caused by another job.
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
    /// Claims up to `limit` runnable jobs, the most urgent first, optionally only of some job types. Skips jobs that a
    /// concurrent claim is taking. Empty for a worker that is not registered, or whose heartbeat is older than
    /// `lease_secs` by the database's clock, as after a suspended machine resumes.
    ///
    /// Fewer than `limit` means that the queue has no more.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn claim(
        &self,
        worker_id: Uuid,
        limit: i64,
        job_types: Option<&[String]>,
        lease_secs: u32,
    ) -> Result<Vec<ClaimedJob>, Error> {
        let claimed = sqlx::query_file_as!(
            ClaimedJob,
            "queries/queue/claim.sql",
            worker_id,
            limit,
            job_types,
            f64::from(lease_secs)
        );
        let mut claimed = claimed.fetch_all(&self.pool).await.during("claim jobs")?;
        claimed.sort_unstable_by_key(|job| (Reverse(job.priority), job.run_at, job.created_at, job.id));
        Ok(claimed)
    }

    /// Records, before the job begins, that a worker runs it alone: if the worker dies, the job is to blame.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was no longer ours; [`Error::Database`].
    pub async fn run_alone(&self, lease: &Lease) -> Result<(), Error> {
        sqlx::query_file_scalar!("queries/queue/run_alone.sql", lease.job_id, lease.epoch)
            .fetch_optional(&self.pool)
            .await
            .during("record that the job runs alone")?
            .map(drop)
            .ok_or(Error::LeaseLost(lease.job_id))
    }
}
