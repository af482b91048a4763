//! One job's requirements, a page at a time.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// A requirement with what people judge it by.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct RequirementLine {
    pub id: Uuid,
    pub candidate_id: Option<String>,
    pub text: String,
    pub name: Option<String>,
    pub r#type: Option<String>,
    pub priority: Option<String>,
    pub source_document: Option<String>,
    pub source_location: Option<Value>,
    pub gobd_relevant: bool,
    pub gdpr_relevant: bool,
    pub citations: Value,
    pub reasoning: Option<String>,
    pub research_notes: Option<String>,
    pub confidence: f64,
    pub status: String,
    pub rejection_reason: Option<String>,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
}

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
    pub async fn requirement_page(&self, job_id: Uuid, after: Uuid, limit: i64) -> Result<Vec<RequirementLine>, Error> {
        sqlx::query_file_as!(RequirementLine, "queries/dash_requirements.sql", job_id, after, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the job's requirements")
    }

    /// The job's requirements and citations in numbers, by status.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn findings_counts(&self, job_id: Uuid) -> Result<Vec<FindingsCount>, Error> {
        sqlx::query_file_as!(FindingsCount, "queries/dash_findings.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("count the job's requirements")
    }
}
