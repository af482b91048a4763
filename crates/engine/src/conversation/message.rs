//! One entry of the conversation, in its stored form and for the model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The author, in the terms of the chat-completions protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The phase's system prompt.
    System,
    /// The system's openings and nudges, and the user's feedback.
    User,
    /// The model's answer.
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// The kind of a message; decides what compaction may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Layer 1: phase prompt, instructions, the user's prompt and `workspace.md`. Never summarized.
    System,
    /// The system's preparation for the phase, so that re-orienting costs no turns.
    Opening,
    /// Layer 4: the summary that replaces compacted conversation.
    Summary,
    /// A user's feedback, verbatim. Never summarized.
    Feedback,
    /// The system's remark to the model: by a guardrail, or that the user has added files.
    Nudge,
    /// The model's answer, with or without tool calls.
    Reply,
    /// The result of a tool call.
    ToolResult,
}

/// A tool call of the model, under our own id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the job; made from the message's place, because providers reuse and omit theirs.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// Valid JSON text: broken arguments are replaced by `{}` before storing, since the provider would refuse a stored
    /// broken call in every later request.
    pub arguments: String,
}

/// One message of a job's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Place in the job's history, from 1, without gaps.
    pub seq: i64,
    /// Its author.
    pub role: Role,
    /// Its kind.
    pub kind: MessageKind,
    /// The text; empty if an assistant only calls tools.
    pub content: String,
    /// The assistant's calls, in order of emission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a tool result: the id of its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Provider fields that must be echoed unchanged (thought signatures, reasoning content).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Tokens, counted once when the message is created.
    pub tokens: u32,
    /// The step that created it.
    #[serde(default)]
    pub step: i64,
    /// A tool result whose text the model no longer gets, only a one-line note
    /// (see [`CLEARED_NOTE`]).
    #[serde(default)]
    pub cleared: bool,
}

/// The beginning of the note that replaces a cleared tool result.
pub const CLEARED_NOTE: &str = "[result cleared to save space: ";
