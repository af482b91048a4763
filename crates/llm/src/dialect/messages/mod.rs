//! Anthropic's messages: turns of blocks, in which users and the model alternate.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;

/// The version of the protocol, sent with each request.
pub(crate) const VERSION: &str = "2023-06-01";

/// The key in a message's `extra` under which the blocks of an answer are kept.
const BLOCKS: &str = "blocks";
