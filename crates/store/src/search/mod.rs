//! The search index over a job's texts: by words, and by embeddings.

mod embeddings;
mod segments;

pub use embeddings::{NearRequirement, Unembedded, UnembeddedRequirement};
pub use segments::{FoundSegment, NewSegment, Unindexed};
