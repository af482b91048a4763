//! Finds jobs by a prefix of the id, by status, type and time.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use uuid::Uuid;

impl Store {
    /// Jobs whose id is between `first` and `last`, at most three: one is a match, more are ambiguous.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn jobs_between(&self, first: Uuid, last: Uuid) -> Result<Vec<Uuid>, Error> {
        sqlx::query_file_scalar!("queries/views/jobs_between.sql", first, last)
            .fetch_all(&self.pool)
            .await
            .during("look for the job")
    }

    /// Jobs that failed at or after this time and are still failed, in order; optionally of one type.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn failed_since(&self, time: DateTime<Utc>, job_type: Option<&str>) -> Result<Vec<Uuid>, Error> {
        sqlx::query_file_scalar!("queries/views/failed_since.sql", time, job_type)
            .fetch_all(&self.pool)
            .await
            .during("look for failed jobs")
    }
}
