//! Staged blobs: the parts of a long text, written in small transactions before the step that refers to them, so that
//! the whole text is never in memory.
//!
//! A blob is identified by its hash and belongs to no file until a step's commit places it
//! ([`plumbline_engine::PlacedFile`]). A worker that dies in between leaves blobs without a file; the repeated call
//! stages the same ones again, which has no effect, and leftovers are deleted with the job.

use crate::{
    Error, Lease, Store,
    error::During,
    fail_points::{Point, reach},
};
use uuid::Uuid;

impl Store {
    /// Writes blobs for a later step; `part` names the part of the job for the fail-point that follows.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: nothing was written. [`Error::Database`]; retrying is harmless.
    pub async fn stage_blobs(&self, lease: &Lease, contents: &[Vec<u8>], part: &str) -> Result<(), Error> {
        let held = sqlx::query_file_scalar!("queries/workspace/stage_blobs.sql", lease.job_id, lease.epoch, contents)
            .fetch_one(&self.pool)
            .await
            .during("put parts of a text aside")?;
        reach(Point::StageBlobs, part).await?;
        if held { Ok(()) } else { Err(Error::LeaseLost(lease.job_id)) }
    }

    /// A staged blob by its SHA-256; none if there is no such blob.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn read_staged_blob(&self, job_id: Uuid, sha256: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        sqlx::query_file_scalar!("queries/workspace/read_staged_blob.sql", job_id, sha256)
            .fetch_optional(&self.pool)
            .await
            .during("read a part of a text")
    }
}
