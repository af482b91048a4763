//! One entry of the conversation, in its stored form and for the model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who speaks, in the words of the chat-completions protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The phase's system prompt.
    System,
    /// The system's openings and nudges, and the user's own words.
    User,
    /// The model's answer.
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// Why a message is there; decides what compaction may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Layer 1: phase prompt, instructions, the user's prompt and `workspace.md`. Never summarized.
    System,
    /// What the system prepared for the phase, so that re-orienting costs no turns.
    Opening,
    /// Layer 4: the summary that stands for compacted conversation.
    Summary,
    /// A user's feedback, word for word. Never summarized away.
    Feedback,
    /// The system's remark to the model: a guardrail's, or that the user has placed files.
    Nudge,
    /// The model's answer, with or without tool calls.
    Reply,
    /// What a tool call gave.
    ToolResult,
}

/// A tool call as the model asked for it, under our own id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the job; made from the message's place, because providers reuse and omit theirs (FAULTS F40).
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// JSON text, valid: broken arguments are replaced by `{}` before storing, since a stored broken call would be
    /// refused by the provider for ever (lesson 37).
    pub arguments: String,
}

/// One message of a job's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Place in the job's history, from 1, without gaps.
    pub seq: i64,
    /// Who speaks.
    pub role: Role,
    /// Why it is there.
    pub kind: MessageKind,
    /// The text; empty where an assistant only calls tools.
    pub content: String,
    /// The assistant's calls, in the order of emission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a tool result: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Provider fields that must be echoed unchanged (thought signatures, reasoning content: FAULTS F44).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Tokens, counted once when the message came to be.
    pub tokens: u32,
    /// The step that said it.
    #[serde(default)]
    pub step: i64,
    /// A tool result whose text the model no longer gets, only a one-line note
    /// (see [`CLEARED_NOTE`]).
    #[serde(default)]
    pub cleared: bool,
}

/// How the note begins that the model reads in place of a cleared tool result.
pub const CLEARED_NOTE: &str = "[result cleared to save space: ";
