//! The interface of the index of the workspace's texts, for `search_files`, and of requirements by meaning, for
//! `query_similar_requirements`. The worker implements it over the store.

use crate::requirements::validation_queue::KnownRequirement;
use crate::workspace::{BoxFuture, WorkspaceError};
use uuid::Uuid;

/// Ranked search over a job's committed texts.
pub trait TextIndex: std::fmt::Debug + Send + Sync {
    /// Whether segments can be ranked by their meaning.
    fn has_embeddings(&self) -> bool;

    /// The segments of these files that answer a query, the best first, at most `limit`.
    fn ranked<'a>(
        &'a self,
        query: &'a str,
        paths: &'a [String],
        ranking: Ranking,
        limit: usize,
    ) -> BoxFuture<'a, Result<Ranked, WorkspaceError>>;

    /// Requirements that mean something like a text, the nearest first, at most `limit`: the unjudged ones of `job`
    /// and the integrated ones of all jobs of its login. None where segments cannot be ranked by their meaning either.
    fn similar_requirements<'a>(
        &'a self,
        job: Uuid,
        text: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<SemanticMatches, WorkspaceError>>;
}

/// Requirements that mean something like a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SemanticMatches {
    /// The requirements, the nearest first, with the cosine of the angle between the two embeddings: 1 is the same.
    pub requirements: Vec<(KnownRequirement, f64)>,
    /// What the reader should know of the ranking, e.g. that meaning could not be had.
    pub remark: Option<String>,
}

/// What segments are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// The words they have.
    Words,
    /// What they mean.
    Semantic,
    /// Both, by reciprocal rank fusion.
    Both,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    /// The segments, the best first.
    pub segments: Vec<RankedSegment>,
    /// What the reader should know of the ranking, e.g. that meaning could not be had.
    pub remark: Option<String>,
}

/// A segment that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RankedSegment {
    /// The file.
    pub path: String,
    /// The line it begins on, from 1.
    pub first_line: u32,
    /// Its lines.
    pub text: String,
}
