//! Search for segments of texts by words and by meaning: splitting a text into segments, and fusing two rankings. The
//! store keeps the segments, and their embeddings come from [`plumbline_llm::Embedder`].

mod rank_fusion;
mod segments;
mod text_index;

pub use rank_fusion::fuse;
pub use segments::{Segment, segments};
pub use text_index::{Ranked, RankedSegment, Ranking, SemanticMatches, TextIndex};
