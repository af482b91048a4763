//! Finding passages of texts by their words and by what they mean: how a text is cut into passages, how two rankings
//! become one, and how a passage gets its embedding. Where the passages are kept is the store's matter.

mod embedder;
mod fuse;
mod passages;

pub use embedder::{EmbedError, Embedder, EmbedderSettings};
pub use fuse::fuse;
pub use passages::{Passage, passages};
