//! What is known of a provider's or a model's ways, where they are not everybody's.
//!
//! The values are data: whoever makes a [`super::ModelConfig`] fills them in, and what nobody says is as OpenAI's chat
//! completions have it.

use serde::{Deserialize, Serialize};

/// The wire protocol of a model's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI's chat completions, `{base_url}/chat/completions`, which nearly everybody speaks.
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

    /// What is put behind `base_url`.
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
    /// `functions.{name}:{index}`, the index counting all calls of the request: Kimi's models end their turns empty when
    /// they see others.
    FunctionsIndex,
    /// Nine letters and digits, which is all that Mistral takes.
    Alnum9,
}

/// Whether the reasoning that came with an answer goes back with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEcho {
    /// Wherever it came from, as text of the protocol that is spoken.
    Always,
    /// To the model, the endpoint and the protocol that it came from.
    #[default]
    SameEndpoint,
    /// The same, and an empty text with each answer that had none (DeepSeek in its thinking mode).
    EmptyString,
    /// To nobody: some endpoints refuse the field.
    Never,
}

/// What requests must take into account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// The protocol where the configuration leaves it open; chat completions when nobody says.
    pub api: Option<Api>,
    /// The form of tool call ids.
    pub tool_call_id: ToolCallIds,
    /// The field in which chat completions take reasoning text; as it came when none is named.
    pub reasoning_field: Option<String>,
    /// What goes back of reasoning.
    pub reasoning_echo: ReasoningEcho,
    /// The values of `tool_choice` that the endpoint takes; empty when it takes all.
    pub tool_choices: Vec<String>,
    /// Whether a request without tools must name those that its conversation calls.
    pub tools_in_summary: bool,
    /// Whether a user may speak directly after tool results.
    pub user_after_tool: bool,
    /// Whether system messages may stand behind the first.
    pub system_in_middle: bool,
    /// Whether a request for a stream may have options, which ask for its usage (chat completions).
    pub stream_options: bool,
    /// What stands for the thought signature of calls that another model made, where each must have one (chat completions:
    /// Gemini 3 refuses calls without, and takes this in its place; <https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
    pub signature_placeholder: Option<String>,
    /// Whether `usage` counts the whole prompt. Where it does not, a small count is no reason to ask the server for its window.
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
