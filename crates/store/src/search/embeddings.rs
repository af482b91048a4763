//! Embeddings of segments and of requirements: finding missing ones, storing them, and nearest-neighbour search.
//!
//! There are two implementations with the same result. With pgvector the database compares: through an HNSW index, or
//! exactly for few rows, as its planner decides. Otherwise the worker streams the embeddings, compares each and keeps
//! the best: exact, and with only the best in memory.
//!
//! Like the full-text index, none of this is part of a step: lost parts are rebuilt.

use crate::{Error, FoundSegment, Store, UserJson, error::During, requirements::row::KnownRow};
use futures_util::TryStreamExt as _;
use plumbline_engine::KnownRequirement;
use uuid::Uuid;

/// A segment without an embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The hash of its content.
    pub sha256: Vec<u8>,
    /// Its position in the content, from 0.
    pub part: i32,
    /// Its text.
    pub text: String,
}

/// A requirement without an embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnembeddedRequirement {
    /// The job that recorded it.
    pub job_id: Uuid,
    /// Its row.
    pub id: Uuid,
    /// Its text.
    pub text: String,
}

/// A requirement with a meaning similar to the query.
#[derive(Clone, Debug, PartialEq)]
pub struct NearRequirement {
    /// The requirement.
    pub requirement: KnownRequirement,
    /// Cosine similarity: the dot product of the normalized embeddings; 1 for the same meaning, 0 for unrelated ones.
    pub likeness: f64,
}

impl Store {
    /// Segments of these files that `model` has not embedded yet.
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
        sqlx::query_file_as!(Unembedded, "queries/search/unembedded.sql", job_id, paths, model, limit)
            .fetch_all(&self.pool)
            .await
            .during("look for segments to embed")
    }

    /// Stores the embeddings of segments, one each, all of the same dimension; normalizes them to length 1.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn put_embeddings(
        &self,
        job_id: Uuid,
        model: &str,
        segments: &[Unembedded],
        embeddings: &[Vec<f32>],
    ) -> Result<(), Error> {
        let keys: Vec<Vec<u8>> = segments.iter().map(|segment| segment.sha256.clone()).collect();
        let parts: Vec<i32> = segments.iter().map(|segment| segment.part).collect();
        let (numbers, dimension) = in_a_row(embeddings);
        self.index_embeddings("segment_embeddings", model, dimension).await?;
        sqlx::query_file!("queries/search/put_embeddings.sql", job_id, model, &keys, &parts, &numbers, dimension)
            .execute(&self.pool)
            .await
            .during("store embeddings")?;
        Ok(())
    }

    /// The segments of these files nearest to an embedding of `model`, nearest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn nearest_segments(
        &self,
        job_id: Uuid,
        model: &str,
        wanted: &[f32],
        paths: &[String],
        limit: usize,
    ) -> Result<Vec<FoundSegment>, Error> {
        let wanted = of_length_one(wanted);
        if self.has_vector_search(wanted.len()).await? {
            let most = i64::try_from(limit).unwrap_or(i64::MAX);
            let run = sqlx::query_file_as!(
                FoundSegment,
                "queries/search/nearest_segments.sql",
                job_id,
                model,
                &wanted,
                paths,
                most
            );
            return run.fetch_all(&self.pool).await.during("search texts by meaning");
        }
        let mut best = Best::new(limit);
        let mut rows = sqlx::query_file!("queries/search/embeddings.sql", job_id, paths, model).fetch(&self.pool);
        while let Some(row) = rows.try_next().await.during("search texts by meaning")? {
            // Another dimension means another model under the same name; not comparable.
            if row.embedding.len() == wanted.len() {
                best.offer(likeness(&row.embedding, &wanted), || (row.path, row.sha256, row.part));
            }
        }
        drop(rows);
        let (mut paths, mut hashes, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (_, (path, sha256, part)) in best.kept {
            paths.push(path);
            hashes.push(sha256);
            parts.push(part);
        }
        sqlx::query_file_as!(FoundSegment, "queries/search/segments.sql", job_id, &paths, &hashes, &parts)
            .fetch_all(&self.pool)
            .await
            .during("read segments")
    }

    /// Requirements that those of a job are compared with and that `model` has not embedded yet, the job's own first:
    /// its unjudged ones and the integrated ones of all jobs of its login.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn unembedded_requirements(
        &self,
        job_id: Uuid,
        model: &str,
        limit: i64,
    ) -> Result<Vec<UnembeddedRequirement>, Error> {
        sqlx::query_file_as!(UnembeddedRequirement, "queries/search/unembedded_requirements.sql", job_id, model, limit)
            .fetch_all(&self.pool)
            .await
            .during("look for requirements to embed")
    }

    /// Stores the embeddings of requirements, one each, all of the same dimension; normalizes them to length 1.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn put_requirement_embeddings(
        &self,
        model: &str,
        requirements: &[UnembeddedRequirement],
        embeddings: &[Vec<f32>],
    ) -> Result<(), Error> {
        let jobs: Vec<Uuid> = requirements.iter().map(|requirement| requirement.job_id).collect();
        let ids: Vec<Uuid> = requirements.iter().map(|requirement| requirement.id).collect();
        let texts: Vec<String> = requirements.iter().map(|requirement| requirement.text.clone()).collect();
        let (numbers, dimension) = in_a_row(embeddings);
        self.index_embeddings("requirement_embeddings", model, dimension).await?;
        sqlx::query_file!(
            "queries/search/put_requirement_embeddings.sql",
            model,
            &jobs,
            &ids,
            &numbers,
            dimension,
            &texts
        )
        .execute(&self.pool)
        .await
        .during("store embeddings of requirements")?;
        Ok(())
    }

    /// The requirements nearest to an embedding of `model`, nearest first: the job's unjudged ones and the integrated
    /// ones of its login's jobs. With `before`, a row of the job, only those that precede it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn nearest_requirements(
        &self,
        job_id: Uuid,
        model: &str,
        wanted: &[f32],
        limit: usize,
        before: Option<Uuid>,
    ) -> Result<Vec<NearRequirement>, Error> {
        let wanted = of_length_one(wanted);
        let near = if self.has_vector_search(wanted.len()).await? {
            let most = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = sqlx::query_file!("queries/search/nearest_requirements.sql", job_id, model, &wanted, most);
            let rows = rows.fetch_all(&self.pool).await.during("search requirements by meaning")?;
            rows.into_iter().map(|row| (row.likeness, (row.job_id, row.id))).collect()
        } else {
            self.compared_requirements(job_id, model, &wanted, limit).await?
        };
        let jobs: Vec<Uuid> = near.iter().map(|(_, (job, _))| *job).collect();
        let ids: Vec<Uuid> = near.iter().map(|(_, (_, id))| *id).collect();
        let rows =
            sqlx::query_file_as!(KnownRow, "queries/search/requirements_by_keys.sql", &jobs, &ids, before, job_id);
        let rows = rows.fetch_all(&self.pool).await.during("read requirements")?;
        let found = rows.into_iter().filter_map(|row| {
            let likeness = near.get(row.place())?.0;
            Some(NearRequirement { requirement: row.into(), likeness })
        });
        Ok(found.collect())
    }

    /// The nearest requirements without pgvector: compares each here.
    async fn compared_requirements(
        &self,
        job_id: Uuid,
        model: &str,
        wanted: &[f32],
        limit: usize,
    ) -> Result<Vec<(f64, (Uuid, Uuid))>, Error> {
        let dimension = i32::try_from(wanted.len()).unwrap_or(i32::MAX);
        let mut best = Best::new(limit);
        let mut rows =
            sqlx::query_file!("queries/search/requirement_embeddings.sql", job_id, model, dimension).fetch(&self.pool);
        while let Some(row) = rows.try_next().await.during("search requirements by meaning")? {
            best.offer(likeness(&row.embedding, wanted), || (row.job_id, row.requirement_id));
        }
        Ok(best.kept)
    }

    async fn has_vector_search(&self, dimension: usize) -> Result<bool, Error> {
        let dimension = i32::try_from(dimension).unwrap_or(i32::MAX);
        let asked = sqlx::query_file_scalar!("queries/search/vector_search.sql", dimension).fetch_one(&self.pool).await;
        asked.during("look for pgvector")
    }

    async fn index_embeddings(&self, table: &str, model: &str, dimension: i32) -> Result<(), Error> {
        let made = sqlx::query_file_scalar!("queries/search/index_embeddings.sql", table, model, dimension);
        made.fetch_one(&self.pool).await.during("index embeddings").map(drop)
    }
}

/// Keeps the best of the offered items, best first.
struct Best<K> {
    limit: usize,
    kept: Vec<(f64, K)>,
}

impl<K> Best<K> {
    fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new() }
    }

    fn offer(&mut self, likeness: f64, key: impl FnOnce() -> K) {
        let at = self.kept.partition_point(|(known, _)| *known >= likeness);
        if at < self.limit {
            self.kept.insert(at, (likeness, key()));
            self.kept.truncate(self.limit);
        }
    }
}

fn likeness(left: &[f32], right: &[f32]) -> f64 {
    f64::from(left.iter().zip(right).map(|(left, right)| left * right).sum::<f32>())
}

/// The components of all embeddings concatenated, each normalized to length 1, and their dimension.
fn in_a_row(embeddings: &[Vec<f32>]) -> (Vec<f32>, i32) {
    let dimension = embeddings.first().map_or(0, Vec::len);
    let numbers = embeddings.iter().flat_map(|embedding| of_length_one(embedding)).collect();
    (numbers, i32::try_from(dimension).unwrap_or(i32::MAX))
}

/// Normalizes a vector to length 1; the zero vector stays zero.
fn of_length_one(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(move |number| if length > 0.0 { number / length } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_best_are_kept_and_in_order() {
        let mut best = Best::new(3);
        for (likeness, key) in [(0.1, 'a'), (0.9, 'b'), (0.5, 'c'), (0.5, 'd'), (0.4, 'e'), (1.0, 'f')] {
            best.offer(likeness, || key);
        }
        assert_eq!(best.kept.iter().map(|(_, key)| *key).collect::<String>(), "fbc");
        let mut none = Best::new(0);
        none.offer(1.0, || 'a');
        assert!(none.kept.is_empty());
    }
}
