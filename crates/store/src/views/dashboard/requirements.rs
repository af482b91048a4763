//! One job's requirements, a page at a time.

use crate::{Error, RequirementRow, Store, UserJson, error::During};
use serde::Serialize;
use uuid::Uuid;

/// The requirements of one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingsCount {
    /// The status.
    pub status: String,
    /// How many requirements.
    pub requirements: i64,
    /// Their citations.
    pub citations: i64,
    /// Those of them whose quote was found in its source.
    pub verified: i64,
}

impl Store {
    /// A page of requirements after `after` (the nil id: from the first on).
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn requirement_page(&self, job_id: Uuid, after: Uuid, limit: i64) -> Result<Vec<RequirementRow>, Error> {
        sqlx::query_file_as!(RequirementRow, "queries/views/dashboard/requirements.sql", job_id, after, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the job's requirements")
    }

    /// The job's requirements and citations in numbers, by status.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn findings_counts(&self, job_id: Uuid) -> Result<Vec<FindingsCount>, Error> {
        sqlx::query_file_as!(FindingsCount, "queries/views/dashboard/findings.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("count the job's requirements")
    }
}
