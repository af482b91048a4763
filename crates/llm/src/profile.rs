//! Known deviations of a provider or a model from the usual behaviour.
//!
//! The values are data: the creator of a [`super::ModelConfig`] sets them, and the defaults are those of OpenAI's chat
//! completions.

use plumbline_engine::{Api, ReasoningEcho, ToolCallIds};
use serde::{Deserialize, Serialize};

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
