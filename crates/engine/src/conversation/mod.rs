//! Conversations in memory, and how their size is bounded.

mod clearing;
pub(crate) mod compaction;
mod context;
mod excerpt;
mod history;
mod message;
mod room;

pub(crate) use clearing::Clearable;
pub(crate) use context::{Conversation, Frame};
pub(crate) use excerpt::MAX_BYTES_A_TOKEN;
pub use history::{History, MessageRef, ToolCallRef};
pub use message::{CLEARED_NOTE, Message, MessageKind, Role, ToolCall};
pub use room::Room;
