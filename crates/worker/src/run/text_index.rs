//! The index of a job's texts: updated by a search, so that a step that writes a file has no extra cost. It is not part
//! of the job's state: the next search rebuilds missing parts. Requirements get their embeddings in the same way.

use plumbline_llm::Embedder;
use plumbline_store::backoff::LostTime;
use plumbline_store::{Error, FoundSegment, NewSegment, Store, Unindexed};
use plumbline_tools::search::{fuse, segments};
use plumbline_tools::{BoxFuture, Ranked, RankedSegment, Ranking, SemanticMatches, TextIndex, WorkspaceError};
use std::sync::Arc;
use uuid::Uuid;

/// Bytes of texts indexed at a time, which are held in memory.
const INDEXED_BYTES: i64 = 4 << 20;
/// Segments embedded in one call.
const EMBEDDED_AT_ONCE: i64 = 64;
/// Maximum segments that one search embeds; the remaining ones wait for the next search, and the result says so.
const EMBEDDED_IN_ALL: usize = 2_048;

/// One job's texts.
#[derive(Debug)]
pub(crate) struct JobTexts<'a> {
    pub(crate) store: &'a Store,
    pub(crate) lost_time: &'a LostTime,
    pub(crate) job_id: Uuid,
    pub(crate) embedder: Option<Arc<Embedder>>,
}

impl TextIndex for JobTexts<'_> {
    fn has_embeddings(&self) -> bool {
        self.embedder.is_some()
    }

    fn ranked<'a>(
        &'a self,
        query: &'a str,
        paths: &'a [String],
        ranking: Ranking,
        limit: usize,
    ) -> BoxFuture<'a, Result<Ranked, WorkspaceError>> {
        Box::pin(async move {
            self.search(query, paths, ranking, limit).await.map_err(|error| WorkspaceError(Box::new(error)))
        })
    }

    fn similar_requirements<'a>(
        &'a self,
        job: Uuid,
        text: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<SemanticMatches, WorkspaceError>> {
        Box::pin(async move {
            let Some(embedder) = &self.embedder else { return Ok(SemanticMatches::default()) };
            let found = self.similar_requirements(embedder, job, text, limit).await;
            let found = found.map_err(|error| WorkspaceError(Box::new(error)))?;
            Ok(found.unwrap_or_else(|reason| SemanticMatches {
                remark: Some(format!("{reason}, so words alone are compared")),
                ..SemanticMatches::default()
            }))
        })
    }
}

impl JobTexts<'_> {
    async fn search(&self, query: &str, paths: &[String], ranking: Ranking, limit: usize) -> Result<Ranked, Error> {
        self.bring_up_to_date(paths).await?;
        let mut remark = None;
        let mut rankings = Vec::new();
        if let (Some(embedder), Ranking::Semantic | Ranking::Both) = (&self.embedder, ranking) {
            match self.semantic(embedder, query, paths, limit).await? {
                Ok((found, said)) => {
                    rankings.push(found);
                    remark = said;
                }
                Err(reason) => remark = Some(format!("{reason}, so this is a text search")),
            }
        }
        if ranking != Ranking::Semantic || rankings.is_empty() {
            let most = i64::try_from(limit).unwrap_or(i64::MAX);
            let found =
                self.lost_time.retry_transient(|| self.store.search_segments(self.job_id, query, paths, most)).await?;
            rankings.push(ranked(found));
        }
        let mut segments = fuse(&rankings);
        segments.truncate(limit);
        Ok(Ranked { segments, remark })
    }

    /// Indexes texts written since the last search and removes deleted ones.
    async fn bring_up_to_date(&self, paths: &[String]) -> Result<(), Error> {
        self.lost_time.retry_transient(|| self.store.forget_segments(self.job_id)).await?;
        loop {
            let contents =
                self.lost_time.retry_transient(|| self.store.unindexed(self.job_id, paths, INDEXED_BYTES)).await?;
            if contents.is_empty() {
                return Ok(());
            }
            // Some MiB of untrusted text at a time, off the event loop.
            let (new, keys) = plumbline_bounds::run_blocking(move |_| {
                let new: Vec<NewSegment> = contents.iter().flat_map(cut).collect();
                (new, contents.into_iter().map(|content| content.sha256).collect::<Vec<_>>())
            })
            .await;
            self.lost_time.retry_transient(|| self.store.index_segments(self.job_id, &keys, &new)).await?;
        }
    }

    /// The semantic ranking with a remark, or why there is none; a failing endpoint does not fail the search.
    async fn semantic(
        &self,
        embedder: &Embedder,
        query: &str,
        paths: &[String],
        limit: usize,
    ) -> Result<Result<(Vec<RankedSegment>, Option<String>), String>, Error> {
        let model = embedder.model();
        let wanted = match embedder.embed(&[query]).await {
            Ok(mut embeddings) => embeddings.pop().unwrap_or_default(),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut embedded = 0;
        let remark = loop {
            let missing = self
                .lost_time
                .retry_transient(|| self.store.unembedded(self.job_id, paths, model, EMBEDDED_AT_ONCE))
                .await?;
            if missing.is_empty() {
                break None;
            }
            if embedded >= EMBEDDED_IN_ALL {
                break Some("some texts are not ranked by meaning yet; search again to include more".to_owned());
            }
            let texts: Vec<&str> = missing.iter().map(|segment| segment.text.as_str()).collect();
            let embeddings = match embedder.embed(&texts).await {
                Ok(embeddings) => embeddings,
                Err(error) => return Ok(Err(error.to_string())),
            };
            self.lost_time
                .retry_transient(|| self.store.put_embeddings(self.job_id, model, &missing, &embeddings))
                .await?;
            embedded += missing.len();
        };
        let found = self
            .lost_time
            .retry_transient(|| self.store.nearest_segments(self.job_id, model, &wanted, paths, limit))
            .await?;
        Ok(Ok((ranked(found), remark)))
    }

    /// The same for requirements: those with which the requirements of `job` are compared.
    async fn similar_requirements(
        &self,
        embedder: &Embedder,
        job: Uuid,
        text: &str,
        limit: usize,
    ) -> Result<Result<SemanticMatches, String>, Error> {
        let model = embedder.model();
        let wanted = match embedder.embed(&[text]).await {
            Ok(mut embeddings) => embeddings.pop().unwrap_or_default(),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut embedded = 0;
        let remark = loop {
            let missing = self
                .lost_time
                .retry_transient(|| self.store.unembedded_requirements(job, model, EMBEDDED_AT_ONCE))
                .await?;
            if missing.is_empty() {
                break None;
            }
            if embedded >= EMBEDDED_IN_ALL {
                break Some("some requirements are not compared by meaning yet; ask again to include more".to_owned());
            }
            let texts: Vec<&str> = missing.iter().map(|requirement| requirement.text.as_str()).collect();
            let embeddings = match embedder.embed(&texts).await {
                Ok(embeddings) => embeddings,
                Err(error) => return Ok(Err(error.to_string())),
            };
            self.lost_time
                .retry_transient(|| self.store.put_requirement_embeddings(model, &missing, &embeddings))
                .await?;
            embedded += missing.len();
        };
        let near = self
            .lost_time
            .retry_transient(|| self.store.nearest_requirements(job, model, &wanted, limit, None))
            .await?;
        let requirements = near.into_iter().map(|near| (near.requirement, near.likeness)).collect();
        Ok(Ok(SemanticMatches { requirements, remark }))
    }
}

/// The segments of a content; none for bytes that are not text.
fn cut(content: &Unindexed) -> Vec<NewSegment> {
    let text = std::str::from_utf8(&content.content).unwrap_or_default();
    let segment = |(part, segment): (i32, plumbline_tools::search::Segment)| NewSegment {
        sha256: content.sha256.clone(),
        part,
        first_line: i32::try_from(segment.first_line).unwrap_or(i32::MAX),
        text: segment.text,
    };
    (0..).zip(segments(text)).map(segment).collect()
}

fn ranked(found: Vec<FoundSegment>) -> Vec<RankedSegment> {
    let segment = |found: FoundSegment| RankedSegment {
        path: found.path,
        first_line: u32::try_from(found.first_line).unwrap_or(1),
        text: found.text,
    };
    found.into_iter().map(segment).collect()
}
