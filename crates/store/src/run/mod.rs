//! The inputs of a run besides its checkpoint: the user's row, resolved settings, messages, todos.

mod abandoned;
mod input;
pub(crate) mod load;
mod previous;
mod settings;

pub use input::{JobInput, MOST_DOCUMENT_BYTES, Oversized};
pub use previous::PreviousStatus;
pub use settings::{InlineDocument, JobSettings, StoredSettings};
