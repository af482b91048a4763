//! Taking jobs from the queue.

use crate::{Error, Lease, Store, error::During};
use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

/// A job this worker has just taken.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// The job.
    pub id: Uuid,
    /// Names its configuration.
    pub job_type: String,
    /// What to do.
    pub prompt: String,
    /// A file or folder under the import root.
    pub document_path: Option<String>,
    /// Whether the row carries a document; read it with [`Store::job_content`].
    pub has_document_content: bool,
    /// Free data, as the user wrote it.
    pub context: Value,
    /// Overrides of the configuration, as the user wrote them.
    pub config: Value,
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
    /// Whether the attempt before was cut off, so that calls in flight then have an unknown outcome.
    pub interrupted: bool,
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
    /// # Errors
    /// [`Error::Database`].
    pub async fn claim(
        &self,
        worker_id: Uuid,
        limit: i64,
        job_types: Option<&[String]>,
    ) -> Result<Vec<ClaimedJob>, Error> {
        // Workers claim now and then for as long as they live, whether there are steps or not.
        self.steps.retire();
        sqlx::query_file_as!(ClaimedJob, "queries/claim.sql", worker_id, limit, job_types)
            .fetch_all(&self.pool)
            .await
            .during("claim jobs")
    }
}
