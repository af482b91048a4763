//! The subset of the chat-completions wire format that this model reads and writes.
//!
//! Requests are read leniently where providers are lenient (unknown keys are ignored, `content` may be a string, a list
//! of text parts or null) and are checked strictly afterwards, in [`crate::server::check`]. Answers have exactly the
//! keys of OpenAI's answers, so that a client cannot distinguish them by format.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One request body of `POST …/chat/completions`.
#[derive(Debug, Clone, Deserialize)]
pub struct ChatRequest {
    /// The model asked for; echoed in the answer, otherwise without effect.
    pub model: String,
    /// The conversation, oldest message first.
    pub messages: Vec<Message>,
    /// The tools bound in this turn; none at all asks for a summary of the conversation.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tools: Vec<Tool>,
    /// `"none"` switches the tools off for this turn; every other value is without effect.
    #[serde(default)]
    pub tool_choice: Option<Value>,
    /// The most tokens the answer may have; the calls of a turn are cut to fit.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The newer name of `max_tokens`; the smaller of the two holds.
    #[serde(default)]
    pub max_completion_tokens: Option<u64>,
    /// Whether the answer comes as server-sent events.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stream: bool,
    /// What such a stream has besides the answer.
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
}

/// The part of a request that says more about its stream.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct StreamOptions {
    /// Whether the last event has the token counts.
    #[serde(default, deserialize_with = "null_as_default")]
    pub include_usage: bool,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the system.
    System,
    /// OpenAI's newer name for `system`.
    Developer,
    /// The user, or text that the engine prepared in the user's place.
    User,
    /// This model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// One message of the conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text; parts are joined, null is the empty string.
    #[serde(default, deserialize_with = "content_as_text")]
    pub content: String,
    /// The calls of an assistant message.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tool_calls: Vec<ToolCall>,
    /// In a tool message: the call that this is the result of.
    #[serde(default)]
    pub tool_call_id: Option<String>,
}

/// A tool that the engine offers.
#[derive(Debug, Clone, Deserialize)]
pub struct Tool {
    /// Its definition; only the name is used.
    pub function: Value,
}

impl Tool {
    /// The tool's name, empty when the definition has none.
    pub fn name(&self) -> &str {
        self.function.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A call of a tool, in a request's history and in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct ToolCall {
    /// Joins the call with its result; unique within a job.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default = "function_kind")]
    pub kind: String,
    /// What is called.
    pub function: FunctionCall,
}

/// The name and arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct FunctionCall {
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object written as a string.
    pub arguments: String,
}

/// One answer body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatResponse {
    /// Derived from the request, so that equal requests have equal answers.
    pub id: String,
    /// Always `chat.completion`.
    pub object: &'static str,
    /// Always 0: a clock would make equal requests differ.
    pub created: u64,
    /// The model that was asked for.
    pub model: String,
    /// Always one choice.
    pub choices: Vec<Choice>,
    /// Estimated as bytes / 4, since there is no tokenizer here.
    pub usage: Usage,
}

/// The one choice of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Always 0.
    pub index: u32,
    /// What the model says and calls.
    pub message: Reply,
    /// `tool_calls` when there are calls, else `stop`.
    pub finish_reason: &'static str,
}

/// The assistant's message in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// Always `assistant`.
    pub role: &'static str,
    /// What the model says.
    pub content: Option<String>,
    /// What the model calls; the key is absent when it calls nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
}

/// Token counts, estimated as bytes / 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the request: messages, calls and tool definitions.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// The sum of both.
    pub total_tokens: u64,
    /// How much of the request came from a cache.
    pub prompt_tokens_details: PromptTokensDetails,
}

/// The part of `usage` that tells of the provider's prefix cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PromptTokensDetails {
    /// Always 0: a stateless server has no cache.
    pub cached_tokens: u64,
}

fn function_kind() -> String {
    "function".to_owned()
}

fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(value: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(value)?.unwrap_or_default())
}

/// `content` in the three shapes that providers accept.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

fn content_as_text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Ok(match Option::<Content>::deserialize(value)? {
        None => String::new(),
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n"),
    })
}
