//! The interface of the index of the workspace's texts, for `search_files`, and of requirements by meaning, for
//! `query_similar_requirements`. The worker implements it over the store.

use crate::workspace::{BoxFuture, WorkspaceError};
use plumbline_engine::KnownRequirement;
use uuid::Uuid;

/// Ranked search over a job's committed texts.
pub trait TextIndex: std::fmt::Debug + Send + Sync {
    /// Whether segments can be ranked by meaning.
    fn has_embeddings(&self) -> bool;

    /// The segments of these files that match a query, best first, at most `limit`.
    fn ranked<'a>(
        &'a self,
        query: &'a str,
        paths: &'a [String],
        ranking: Ranking,
        limit: usize,
    ) -> BoxFuture<'a, Result<Ranked, WorkspaceError>>;

    /// Requirements with a meaning similar to a text, nearest first, at most `limit`: the unjudged ones of `job` and
    /// the integrated ones of all jobs of its login. None if segments cannot be ranked by meaning either.
    fn similar_requirements<'a>(
        &'a self,
        job: Uuid,
        text: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<SemanticMatches, WorkspaceError>>;
}

/// Requirements with a meaning similar to a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SemanticMatches {
    /// The requirements, nearest first, with the cosine similarity of the embeddings: 1 is the same.
    pub requirements: Vec<(KnownRequirement, f64)>,
    /// A note on the ranking for the reader, e.g. that meaning was unavailable.
    pub remark: Option<String>,
}

/// The criterion by which segments are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// Their words.
    Words,
    /// Their meaning.
    Semantic,
    /// Both, by reciprocal rank fusion.
    Both,
}

/// The result of a ranked search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    /// The segments, best first.
    pub segments: Vec<RankedSegment>,
    /// A note on the ranking for the reader, e.g. that meaning was unavailable.
    pub remark: Option<String>,
}

/// A segment found by a search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RankedSegment {
    /// The file.
    pub path: String,
    /// The line it begins on, from 1.
    pub first_line: u32,
    /// Its lines.
    pub text: String,
}
