//! How a model is asked: words of `llm` and of a provider's profile in the configuration. The engine decides nothing by
//! them; the model's client does.

use serde::{Deserialize, Serialize};

/// The wire protocol of a model's server.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Api {
    /// OpenAI's chat completions, `{base_url}/chat/completions`, supported by nearly every server.
    Chat,
    /// OpenAI's responses, `{base_url}/responses`.
    Responses,
    /// Anthropic's messages, `{base_url}/messages`.
    Messages,
}

impl Api {
    /// The word used in configuration, in SQL and in logs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The path after `base_url`.
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/messages",
        }
    }
}

/// The form of the ids that join tool calls and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum ToolCallIds {
    /// Ours, e.g. `call_12_1`.
    #[default]
    Plain,
    /// `functions.{name}:{index}`, the index counting all calls of the request: Kimi's models end their turns without
    /// output if they see other ids.
    FunctionsIndex,
    /// Nine letters and digits, the only form that Mistral accepts.
    Alnum9,
}

/// Whether the reasoning of an answer is sent back with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum ReasoningEcho {
    /// From any origin, as text in the current protocol.
    Always,
    /// Only to the model, endpoint and protocol of its origin.
    #[default]
    SameEndpoint,
    /// The same, and an empty text for each answer without reasoning (DeepSeek in its thinking mode).
    EmptyString,
    /// Never: some endpoints refuse the field.
    Never,
}

/// Whether the model must call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum ToolChoice {
    /// It may answer by text.
    #[default]
    Auto,
    /// It must call a tool.
    Required,
}

/// Whether an answer is streamed. It is used only when complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Streaming {
    /// Streamed, unless the endpoint refuses that.
    #[default]
    Auto,
    /// Always streamed.
    On,
    /// Never streamed.
    Off,
}

/// The request field that carries the cap of the answer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum OutputCapField {
    /// `max_tokens`: accepted everywhere except by OpenAI's reasoning models.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's newer name, refused by some servers.
    MaxCompletionTokens,
}

impl OutputCapField {
    /// The field's name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
