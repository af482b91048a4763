//! Finding segments of texts by their words and by what they mean: how a text is cut into segments, and how two rankings
//! become one. Where the segments are kept is the store's matter, and their embeddings come from [`plumbline_llm::Embedder`].

mod rank_fusion;
mod segments;
mod text_index;

pub use rank_fusion::fuse;
pub use segments::{Segment, segments};
pub use text_index::{Ranked, RankedSegment, Ranking, SemanticMatches, TextIndex};
