//! The search index over a job's texts: finding missing parts, adding, deleting, and search by words; `embeddings.rs`
//! searches by meaning.
//!
//! Nothing here belongs to a step. A search builds the index from the committed files, and lost parts are rebuilt; so
//! it is written outside the step's transaction, and without the fence.

use crate::{Error, Store, bind, error::During};
use uuid::Uuid;

/// A file's content that is not in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unindexed {
    /// Its SHA-256, which is its key.
    pub sha256: Vec<u8>,
    /// Its bytes, text or not.
    pub content: Vec<u8>,
}

/// A segment to be added to the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSegment {
    /// The hash of its content.
    pub sha256: Vec<u8>,
    /// Its position in the content, from 0.
    pub part: i32,
    /// The line it begins on, from 1.
    pub first_line: i32,
    /// Its text.
    pub text: String,
}

/// A segment found by a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSegment {
    /// A file that contains it; the first by name if there are several.
    pub path: String,
    /// The line it begins on, from 1.
    pub first_line: i32,
    /// Its text.
    pub text: String,
}

impl Store {
    /// Contents of these files that are not in the index yet, at least one if there are any, then up to `bytes`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unindexed(&self, job_id: Uuid, paths: &[String], bytes: i64) -> Result<Vec<Unindexed>, Error> {
        sqlx::query_file_as!(Unindexed, "queries/search/unindexed.sql", job_id, paths, bytes)
            .fetch_all(&self.pool)
            .await
            .during("look for texts to index")
    }

    /// Adds contents to the index, each with all of its segments. Idempotent.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn index_segments(
        &self,
        job_id: Uuid,
        contents: &[Vec<u8>],
        segments: &[NewSegment],
    ) -> Result<(), Error> {
        let keys: Vec<Vec<u8>> = segments.iter().map(|segment| segment.sha256.clone()).collect();
        let parts: Vec<i32> = segments.iter().map(|segment| segment.part).collect();
        let lines: Vec<i32> = segments.iter().map(|segment| segment.first_line).collect();
        let texts: Vec<String> = segments.iter().map(|segment| bind::text(&segment.text).into_owned()).collect();
        sqlx::query_file!("queries/search/index_segments.sql", job_id, contents, &keys, &parts, &lines, &texts)
            .execute(&self.pool)
            .await
            .during("index texts for search")?;
        Ok(())
    }

    /// Removes contents that no file of the job has any more from the index; returns how many.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn forget_segments(&self, job_id: Uuid) -> Result<u64, Error> {
        let done = sqlx::query_file!("queries/search/forget_segments.sql", job_id).execute(&self.pool).await;
        Ok(done.during("remove texts from the search index")?.rows_affected())
    }

    /// The segments of these files that match the words of a query, best first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn search_segments(
        &self,
        job_id: Uuid,
        query: &str,
        paths: &[String],
        limit: i64,
    ) -> Result<Vec<FoundSegment>, Error> {
        let query = bind::text(query);
        sqlx::query_file_as!(FoundSegment, "queries/search/search_segments.sql", job_id, &query, paths, limit)
            .fetch_all(&self.pool)
            .await
            .during("search texts by words")
    }
}
