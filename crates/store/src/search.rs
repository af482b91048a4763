//! The search index over a job's texts: what is missing from it, adding, forgetting, and looking things up by words or
//! by meaning.
//!
//! Nothing here belongs to a step. The index is made from the committed files when somebody searches, and what is lost
//! of it is made again; so it is written outside of the step's transaction, and without the fence.

use crate::{Error, Store, error::During, rows};
use futures_util::TryStreamExt as _;
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
pub struct NewPassage {
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
pub struct FoundPassage {
    /// A file that holds it; the first by name where several do.
    pub path: String,
    /// The line it begins on, from 1.
    pub first_line: i32,
    /// Its words.
    pub text: String,
}

/// A passage without an embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// Which content it is of.
    pub sha256: Vec<u8>,
    /// Its position in it, from 0.
    pub part: i32,
    /// Its words.
    pub text: String,
}

/// A passage's key with its likeness to what is looked for.
struct Near {
    likeness: f32,
    path: String,
    sha256: Vec<u8>,
    part: i32,
}

impl Store {
    /// Contents of these files that are not in the index yet, at least one where there are any, then up to `bytes`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unindexed(&self, job_id: Uuid, paths: &[String], bytes: i64) -> Result<Vec<Unindexed>, Error> {
        sqlx::query_file_as!(Unindexed, "queries/unindexed.sql", job_id, paths, bytes)
            .fetch_all(&self.pool)
            .await
            .during("look for texts to index")
    }

    /// Puts contents into the index, each with all of its passages. Indexing one twice does nothing.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn index_passages(
        &self,
        job_id: Uuid,
        contents: &[Vec<u8>],
        passages: &[NewPassage],
    ) -> Result<(), Error> {
        let keys: Vec<Vec<u8>> = passages.iter().map(|passage| passage.sha256.clone()).collect();
        let parts: Vec<i32> = passages.iter().map(|passage| passage.part).collect();
        let lines: Vec<i32> = passages.iter().map(|passage| passage.first_line).collect();
        let texts: Vec<String> = passages.iter().map(|passage| rows::text(&passage.text).into_owned()).collect();
        sqlx::query_file!("queries/index_passages.sql", job_id, contents, &keys, &parts, &lines, &texts)
            .execute(&self.pool)
            .await
            .during("index texts for search")?;
        Ok(())
    }

    /// Takes contents that no file of the job has any more out of the index; returns how many.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn forget_passages(&self, job_id: Uuid) -> Result<u64, Error> {
        let done = sqlx::query_file!("queries/forget_passages.sql", job_id).execute(&self.pool).await;
        Ok(done.during("take texts out of the search index")?.rows_affected())
    }

    /// Passages of these files with the words of a query, the best first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn search_passages(
        &self,
        job_id: Uuid,
        query: &str,
        paths: &[String],
        limit: i64,
    ) -> Result<Vec<FoundPassage>, Error> {
        let query = rows::text(query);
        sqlx::query_file_as!(FoundPassage, "queries/search_passages.sql", job_id, &query, paths, limit)
            .fetch_all(&self.pool)
            .await
            .during("search texts by words")
    }

    /// Passages of these files that `model` has not embedded yet.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unembedded(
        &self,
        job_id: Uuid,
        paths: &[String],
        model: &str,
        limit: i64,
    ) -> Result<Vec<Unembedded>, Error> {
        sqlx::query_file_as!(Unembedded, "queries/unembedded.sql", job_id, paths, model, limit)
            .fetch_all(&self.pool)
            .await
            .during("look for passages to embed")
    }

    /// Stores the embeddings of passages, one each, all of the same dimension; their length is made 1.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn put_embeddings(
        &self,
        job_id: Uuid,
        model: &str,
        passages: &[Unembedded],
        embeddings: &[Vec<f32>],
    ) -> Result<(), Error> {
        let keys: Vec<Vec<u8>> = passages.iter().map(|passage| passage.sha256.clone()).collect();
        let parts: Vec<i32> = passages.iter().map(|passage| passage.part).collect();
        let dimension = embeddings.first().map_or(0, Vec::len);
        let numbers: Vec<f32> = embeddings.iter().flat_map(|embedding| of_length_one(embedding)).collect();
        let dimension = i32::try_from(dimension).unwrap_or(i32::MAX);
        sqlx::query_file!("queries/put_embeddings.sql", job_id, model, &keys, &parts, &numbers, dimension)
            .execute(&self.pool)
            .await
            .during("store embeddings")?;
        Ok(())
    }

    /// Passages of these files nearest to an embedding of `model`, the nearest first. The search is exact: every
    /// passage is compared, and no more than the best are held.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn nearest_passages(
        &self,
        job_id: Uuid,
        model: &str,
        wanted: &[f32],
        paths: &[String],
        limit: usize,
    ) -> Result<Vec<FoundPassage>, Error> {
        let wanted: Vec<f32> = of_length_one(wanted).collect();
        let mut best: Vec<Near> = Vec::with_capacity(limit + 1);
        let mut rows = sqlx::query_file!("queries/embeddings.sql", job_id, paths, model).fetch(&self.pool);
        while let Some(row) = rows.try_next().await.during("search texts by meaning")? {
            // Another dimension is another model's under the same name; it says nothing here.
            if row.embedding.len() != wanted.len() {
                continue;
            }
            let likeness = row.embedding.iter().zip(&wanted).map(|(left, right)| left * right).sum();
            if best.len() == limit && best.last().is_some_and(|worst| worst.likeness >= likeness) {
                continue;
            }
            let at = best.partition_point(|known| known.likeness >= likeness);
            best.insert(at, Near { likeness, path: row.path, sha256: row.sha256, part: row.part });
            best.truncate(limit);
        }
        drop(rows);
        self.passages(job_id, &best).await
    }

    async fn passages(&self, job_id: Uuid, keys: &[Near]) -> Result<Vec<FoundPassage>, Error> {
        let paths: Vec<String> = keys.iter().map(|key| key.path.clone()).collect();
        let hashes: Vec<Vec<u8>> = keys.iter().map(|key| key.sha256.clone()).collect();
        let parts: Vec<i32> = keys.iter().map(|key| key.part).collect();
        sqlx::query_file_as!(FoundPassage, "queries/passages.sql", job_id, &paths, &hashes, &parts)
            .fetch_all(&self.pool)
            .await
            .during("read passages")
    }
}

/// The same direction with length 1; nothing has no direction and stays nothing.
fn of_length_one(vector: &[f32]) -> impl Iterator<Item = f32> + '_ {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(move |number| if length > 0.0 { number / length } else { 0.0 })
}
