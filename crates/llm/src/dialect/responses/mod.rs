//! OpenAI's responses: a list of items in, a list of items out, nothing stored at the provider.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;

/// The key in a message's `extra` under which the items of an answer are kept.
const ITEMS: &str = "items";
