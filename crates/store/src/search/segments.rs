//! The search index over a job's texts: finding missing parts, adding, deleting, and search by words; `embeddings.rs`
//! searches by meaning.
//!
//! Nothing here belongs to a step. The index is built from the committed files on a search, and lost parts are rebuilt;
//! so it is written outside the step's transaction, and without the fence.

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

/// A piece of a text, to be put into the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSegment {
    /// Which content it is of.
    pub sha256: Vec<u8>,
    /// Its position in it, from 0.
    pub part: i32,
    /// The line it begins on, from 1.
    pub first_line: i32,
    /// Its words.
    pub text: String,
}

/// A piece of a text, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSegment {
    /// A file that holds it; the first by name where several do.
    pub path: String,
    /// The line it begins on, from 1.
    pub first_line: i32,
    /// Its words.
    pub text: String,
}

impl Store {
    /// Contents of these files that are not in the index yet, at least one where there are any, then up to `bytes`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unindexed(&self, job_id: Uuid, paths: &[String], bytes: i64) -> Result<Vec<Unindexed>, Error> {
        sqlx::query_file_as!(Unindexed, "queries/search/unindexed.sql", job_id, paths, bytes)
            .fetch_all(&self.pool)
            .await
            .during("look for texts to index")
    }

    /// Puts contents into the index, each with all of its segments. Indexing one twice does nothing.
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

    /// Takes contents that no file of the job has any more out of the index; returns how many.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn forget_segments(&self, job_id: Uuid) -> Result<u64, Error> {
        let done = sqlx::query_file!("queries/search/forget_segments.sql", job_id).execute(&self.pool).await;
        Ok(done.during("take texts out of the search index")?.rows_affected())
    }

    /// Segments of these files with the words of a query, the best first.
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
