//! Facts for `doctor`, the metrics and `--until-idle`.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;

/// The server's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The server's version string, e.g. `15.9`.
    pub server_version: String,
    /// The same as a number, e.g. 150009.
    pub server_version_num: i32,
    /// The server's clock, which governs leases and `run_at`.
    pub server_time: DateTime<Utc>,
    /// Whether it refuses writes: a standby, or `default_transaction_read_only`.
    pub read_only: bool,
}

/// Counts of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueueCounts {
    /// Jobs that a claim would take now.
    pub runnable: i64,
    /// Pending jobs with a later `run_at`.
    pub later: i64,
    /// Jobs held by any worker.
    pub running: i64,
    /// Workers of any job type with a heartbeat within the last minute.
    pub live_workers: i64,
    /// For how many seconds the longest-waiting runnable job has been runnable; 0 if there is none.
    pub oldest_wait_secs: i64,
}

impl QueueCounts {
    /// Whether no job is running and none is runnable.
    pub fn is_idle(&self) -> bool {
        self.runnable == 0 && self.running == 0
    }
}

impl Store {
    /// Reads the server's state; also tests that it answers.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn health(&self) -> Result<Health, Error> {
        sqlx::query_file_as!(Health, "queries/admin/health.sql")
            .fetch_one(&self.pool)
            .await
            .during("ask the database server")
    }

    /// Counts the queue, optionally only some job types.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn queue_counts(&self, job_types: Option<&[String]>) -> Result<QueueCounts, Error> {
        sqlx::query_file_as!(QueueCounts, "queries/admin/queue_counts.sql", job_types)
            .fetch_one(&self.pool)
            .await
            .during("count the queue")
    }
}
