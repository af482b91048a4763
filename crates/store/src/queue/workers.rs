//! The worker's own row: all its leases depend on its heartbeat.

use crate::{Error, Lease, Store, error::During};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A worker's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWorker {
    /// New for each process.
    pub id: Uuid,
    /// The host it runs on.
    pub hostname: String,
    /// The program's version.
    pub version: String,
    /// Maximum concurrent jobs.
    pub concurrency: i32,
    /// The job types it can run. Jobs whose type is in no live worker's list wait (see [`Store::note_unknown_types`]).
    pub job_types: Vec<String>,
    /// The job types whose files it has and cannot use, an object of error messages by job type. Their jobs wait
    /// without a timeout.
    pub broken_types: Map<String, Value>,
    /// The bounds up to which `resume_job` may raise the limits of jobs, an object of `limits_ceiling` by job type.
    pub limits_ceilings: Value,
}

impl Store {
    /// Registers a worker, with its first heartbeat.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn register_worker(&self, worker: &NewWorker) -> Result<(), Error> {
        sqlx::query_file!(
            "queries/queue/register_worker.sql",
            worker.id,
            worker.hostname,
            worker.version,
            worker.concurrency,
            &worker.job_types,
            Value::Object(worker.broken_types.clone()),
            worker.limits_ceilings
        )
        .execute(&self.pool)
        .await
        .during("register the worker")?;
        Ok(())
    }

    /// Makes jobs due that wait for something a worker with another environment or other files may have: those whose
    /// reason begins with `reason`. Returns their number.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn retry_waiting_for(&self, reason: &str) -> Result<u64, Error> {
        let done = sqlx::query_file!("queries/queue/retry_waiting_for.sql", reason);
        Ok(done.execute(&self.pool).await.during("retry jobs that wait for another worker")?.rows_affected())
    }

    /// Renews the worker's leases. `false`: the row is gone, and with it the leases.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn heartbeat(&self, worker_id: Uuid) -> Result<bool, Error> {
        let done = sqlx::query_file!("queries/queue/heartbeat.sql", worker_id)
            .execute(&self.pool)
            .await
            .during("send a heartbeat")?;
        Ok(done.rows_affected() == 1)
    }

    /// Deletes the worker's row; jobs it still holds are rescued by the next sweep of any worker.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unregister_worker(&self, worker_id: Uuid) -> Result<(), Error> {
        sqlx::query_file!("queries/queue/unregister_worker.sql", worker_id)
            .execute(&self.pool)
            .await
            .during("unregister the worker")?;
        Ok(())
    }

    /// The leases that the database counts as this worker's: one that belongs to no run of the process is an orphan and
    /// should be released.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn held(&self, worker_id: Uuid) -> Result<Vec<Lease>, Error> {
        let rows = sqlx::query_file!("queries/queue/held_leases.sql", worker_id)
            .fetch_all(&self.pool)
            .await
            .during("list held jobs")?;
        Ok(rows.into_iter().map(|row| Lease { job_id: row.id, epoch: row.lease_epoch }).collect())
    }
}
