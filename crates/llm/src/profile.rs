//! Known deviations of a provider or a model from the usual behaviour.
//!
//! The values are data: the creator of a [`super::ModelConfig`] sets them, and the defaults are those of OpenAI's chat
//! completions.

use serde::{Deserialize, Serialize};

/// The wire protocol of a model's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Properties that affect requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// The protocol if the configuration leaves it open; chat completions by default.
    pub api: Option<Api>,
    /// The form of tool call ids.
    pub tool_call_id: ToolCallIds,
    /// The field of reasoning text in chat completions; the original one if none is named.
    pub reasoning_field: Option<String>,
    /// Which reasoning is sent back.
    pub reasoning_echo: ReasoningEcho,
    /// The values of `tool_choice` that the endpoint accepts; empty if it accepts all.
    pub tool_choices: Vec<String>,
    /// Whether a request without tools must name those that its conversation calls.
    pub tools_in_summary: bool,
    /// Whether a user message may directly follow tool results.
    pub user_after_tool: bool,
    /// Whether system messages may occur after the first message.
    pub system_in_middle: bool,
    /// Whether a streaming request may have options, which request usage (chat completions).
    pub stream_options: bool,
    /// Placeholder for the thought signature of calls by another model, if each must have one (chat completions: Gemini
    /// 3 refuses calls without, and accepts this instead;
    /// <https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
    pub signature_placeholder: Option<String>,
    /// Whether `usage` counts the whole prompt. If not, a small count is no reason to ask the server for its window.
    pub reports_whole_prompt: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            api: None,
            tool_call_id: ToolCallIds::default(),
            reasoning_field: None,
            reasoning_echo: ReasoningEcho::default(),
            tool_choices: Vec::new(),
            tools_in_summary: false,
            user_after_tool: true,
            system_in_middle: true,
            stream_options: true,
            signature_placeholder: None,
            reports_whole_prompt: true,
        }
    }
}
