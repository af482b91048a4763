//! The job that worked on earlier versions of a job's documents.

use crate::{Error, Store, error::During};
use uuid::Uuid;

/// An earlier job, as the job that names it may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousStatus {
    /// Its status.
    pub status: String,
    /// Whether the job may name it: it is its own login's, or the job is of somebody who acts for others.
    pub is_own: bool,
}

impl Store {
    /// The status of the job that `job_id` names as the earlier one; none where there is none of that id.
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
