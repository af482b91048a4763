//! Conversations in memory, and how their size is bounded.

mod closed_todos;
pub(crate) mod compaction;
mod excerpt;
mod history;
mod message;

pub use compaction::Room;
pub use history::{History, MessageRef, ToolCallRef};
pub use message::{CLEARED_NOTE, Message, MessageKind, Role, ToolCall};
