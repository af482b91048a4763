//! One job's requirements, a page at a time.

use crate::{Error, RequirementRow, Store, UserJson, error::During};
use serde::Serialize;
use uuid::Uuid;

/// The counts of requirements with one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingsCount {
    /// The status.
    pub status: String,
    /// How many requirements.
    pub requirements: i64,
    /// Their citations.
    pub citations: i64,
    /// Citations whose quote was verified in its source.
    pub verified: i64,
}

impl Store {
    /// A page of requirements after `after` (the nil id: from the beginning).
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn requirement_page(&self, job_id: Uuid, after: Uuid, limit: i64) -> Result<Vec<RequirementRow>, Error> {
        sqlx::query_file_as!(RequirementRow, "queries/views/dashboard/requirements.sql", job_id, after, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the job's requirements")
    }

    /// Counts of the job's requirements and citations, by status.
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
