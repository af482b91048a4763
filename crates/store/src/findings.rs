//! What tools must look up about earlier findings.

use crate::{Error, Store, error::During};
use plumbline_engine::Citation;
use uuid::Uuid;

impl Store {
    /// A citation of the job by its id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn citation(&self, job_id: Uuid, id: &str) -> Result<Option<Citation>, Error> {
        sqlx::query_file_as!(Citation, "queries/citation.sql", job_id, id)
            .fetch_optional(&self.pool)
            .await
            .during("read a citation")
    }

    /// The candidate id of the job's requirement with this content key (SHA-256 of the normalized text), if it is
    /// already recorded.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn requirement_known(&self, job_id: Uuid, content_key: &[u8]) -> Result<Option<String>, Error> {
        let known = sqlx::query_file_scalar!("queries/requirement_known.sql", job_id, content_key)
            .fetch_optional(&self.pool)
            .await
            .during("look for a requirement")?;
        Ok(known.flatten())
    }
}
