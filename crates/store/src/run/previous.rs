//! The job that processed earlier versions of a job's documents.

use crate::{Error, Store, error::During};
use uuid::Uuid;

/// An earlier job, as visible to the job that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousStatus {
    /// Its status.
    pub status: String,
    /// Whether the job may name it: both belong to the same login, or the job's login acts for others.
    pub is_own: bool,
}

impl Store {
    /// The status of the earlier job that `job_id` names; none if there is no job with that id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn previous_status(&self, job_id: Uuid, previous: Uuid) -> Result<Option<PreviousStatus>, Error> {
        sqlx::query_file_as!(PreviousStatus, "queries/run/previous_job.sql", job_id, previous)
            .fetch_optional(&self.pool)
            .await
            .during("look up the job over earlier versions")
    }
}
