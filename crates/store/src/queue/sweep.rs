//! Rescues jobs of dead workers.

use crate::{Error, Lease, Store, error::During};
use uuid::Uuid;

/// Jobs rescued in one statement: locks are short even if a large worker dies.
const BATCH: i64 = 200;

/// Jobs whose approvals expire in one statement.
const EXPIRED_AT_ONCE: i32 = 200;

/// A rescued job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// The job.
    pub job_id: Uuid,
    /// The worker that lost it.
    pub worker_id: Uuid,
    /// The epoch that is now invalid.
    pub lease_epoch: i64,
    /// Crashes since the job's last committed step.
    pub crash_count: i32,
    /// Whether this failed the job: three crashes at one step, or no attempt left. Otherwise it is pending again.
    pub failed: bool,
}

impl Rescued {
    /// The lease that was lost.
    pub fn lease(&self) -> Lease {
        Lease { job_id: self.job_id, epoch: self.lease_epoch }
    }
}

impl Store {
    /// Rescues every job whose worker's heartbeat is older than `lease_secs` by the database's clock, or whose worker's
    /// row is gone. Any worker may do this at any time; concurrent sweeps rescue different jobs.
    ///
    /// # Errors
    /// [`Error::Database`]; jobs rescued before stay rescued.
    pub async fn sweep(&self, lease_secs: u32) -> Result<Vec<Rescued>, Error> {
        let mut rescued = Vec::new();
        loop {
            let batch = sqlx::query_file_as!(Rescued, "queries/queue/sweep.sql", f64::from(lease_secs), BATCH)
                .fetch_all(&self.pool)
                .await
                .during("reclaim jobs from dead workers")?;
            let last = batch.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
            rescued.extend(batch);
            if last {
                break;
            }
        }
        self.expire_calls().await?;
        sqlx::query_file!("queries/queue/forget_workers.sql")
            .execute(&self.pool)
            .await
            .during("delete the rows of dead workers")?;
        Ok(rescued)
    }

    /// Expires overdue approvals; a job that waits for no other approval resumes.
    async fn expire_calls(&self) -> Result<(), Error> {
        loop {
            let jobs = sqlx::query_file_scalar!("queries/queue/expire_calls.sql", EXPIRED_AT_ONCE)
                .fetch_one(&self.pool)
                .await
                .during("expire undecided calls")?;
            if jobs < EXPIRED_AT_ONCE {
                return Ok(());
            }
        }
    }
}
