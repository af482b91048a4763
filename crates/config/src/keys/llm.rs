//! `llm` and `llm_by_purpose`.

use super::part::{Part, without};
use crate::{LlmFallback, Prices, ProfileKeys};
use plumbline_engine::{Api, OutputCapField, Purpose, Streaming, TodoListPosition, ToolChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The language model and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// Name of the model at the endpoint. `PLUMBLINE_MODEL` fills it if no file of the job type sets it.
    #[schemars(extend("x-level" = "job"))]
    pub model: Option<String>,
    /// Address of the endpoint up to, not including, `/chat/completions`, `/responses` or `/messages`.
    /// `OPENAI_BASE_URL` fills it if no file of the job type sets it.
    pub base_url: Option<String>,
    /// The protocol: `chat` is OpenAI's chat completions, which nearly every server supports, `responses` its newer
    /// one, and `messages` Anthropic's. `auto` is `chat`, or `responses` for the rest of a job whose endpoint says that
    /// the model supports tools only there.
    pub api: ApiChoice,
    /// Name of the environment variable that holds the API key. The key itself is never in a configuration.
    pub api_key_env: Option<String>,
    /// Sampling temperature; left to the provider when absent.
    #[schemars(extend("x-level" = "job"), range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Reasoning effort, e.g. `low`, `medium` or `high`, sent in the protocol's form; not sent when absent. For Claude
    /// models without effort levels, a budget of thinking tokens.
    #[schemars(extend("x-level" = "job"))]
    pub reasoning_level: Option<String>,
    /// Cap for one answer, in tokens, sent with every request.
    #[schemars(extend("x-level" = "bounded"), range(min = 16, max = 100_000_000))]
    pub max_output_tokens: u32,
    /// The request field of that cap. OpenAI's reasoning models require `max_completion_tokens`; `max_tokens` works
    /// everywhere else.
    pub output_cap: OutputCapField,
    /// The model's context window, in tokens, for prompt and answer together.
    #[schemars(extend("x-level" = "bounded"), range(min = 1024, max = 100_000_000))]
    pub context_window: u32,
    /// Timeout in seconds for the complete answer to a request.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_s: u64,
    /// Whether answers are streamed, so that no gateway drops the connection during a long answer; an answer is used
    /// only when complete. `auto` streams unless the endpoint refuses it.
    pub stream: Streaming,
    /// Timeout in seconds for a pause within an answer; comments and pings of a stream count as activity.
    #[schemars(range(min = 1, max = 86400))]
    pub idle_timeout_s: u64,
    /// Retries of one request in quick succession before the job is parked and continues later.
    #[schemars(range(max = 100))]
    pub max_retries: u32,
    /// `required`: each answer must call a tool, if the endpoint can enforce it. `auto`: the model may answer with
    /// text, and is told that text has no effect.
    #[schemars(extend("x-level" = "job"))]
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools in one answer; left to the provider when absent.
    #[schemars(extend("x-level" = "job"))]
    pub parallel_tool_calls: Option<bool>,
    /// `last`: the active todo list is the last message, so that the provider's prefix cache remains usable.
    /// `after_system`: it is directly after the system prompt, for models that need it there.
    pub todo_list_position: TodoListPosition,
    /// Prices, for the cost of a job and its budget: US dollars per million tokens, or `free` for a model whose requests
    /// cost nothing.
    pub prices: Prices,
    /// Properties of the provider and the model, which override the profiles of `providers.json`.
    pub profile: ProfileKeys,
    /// Sent as `service_tier`, e.g. `flex`, `priority` or `auto`, which changes speed and price: set `llm.prices` to
    /// the prices of the tier. Not sent when absent.
    pub service_tier: Option<String>,
    /// Rate limits of the key, shared by all workers on one database; limits that the provider announces in its answers
    /// are learnt and enforced too. Several job types with one model and key should set the same limits.
    pub limits: LlmLimits,
    /// Fallback models, in order: `[{after: 3, on: [overloaded], llm: {model: …}}]`. A job stays with a fallback to the
    /// end of the phase.
    pub fallback: Vec<LlmFallback>,
}

impl Llm {
    /// The protocol in which a job's first request is made.
    pub fn protocol(&self) -> Api {
        self.api.chosen().or(self.profile.api).unwrap_or(Api::Chat)
    }
}

/// Rate limits; an absent key means no limit here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmLimits {
    /// Requests per minute.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens per minute, of prompts and answers together.
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Maximum concurrent requests, e.g. the number of slots of your own server.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
}

/// The protocol, or automatic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = plumbline_engine::plain_words)]
pub enum ApiChoice {
    /// As the endpoint requires.
    Auto,
    /// This protocol.
    #[serde(untagged)]
    This(Api),
}

impl ApiChoice {
    /// The chosen protocol.
    pub fn chosen(self) -> Option<Api> {
        match self {
            Self::Auto => None,
            Self::This(api) => Some(api),
        }
    }
}

/// Keys of `llm` without a meaning for summaries.
const OF_TURNS: [&str; 4] = ["fallback", "tool_choice", "parallel_tool_calls", "todo_list_position"];

/// The sections of `llm_by_purpose`.
pub(crate) const SECTIONS: [(&str, Purpose); 3] = [
    ("llm_by_purpose.strategic", Purpose::Strategic),
    ("llm_by_purpose.tactical", Purpose::Tactical),
    ("llm_by_purpose.summary", Purpose::Summary),
];

/// Parts of `llm` that differ by the purpose of a request; merged over `llm`.
///
/// They stay JSON objects here because any part of [`Llm`] may be absent; [`crate::Resolved::llm`] gives the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlmByPurpose {
    /// Turns of strategic phases.
    // Entries of `fallback` name their purposes.
    #[schemars(with = "Part<Llm>", transform = without(&["fallback"]))]
    pub strategic: Map<String, Value>,
    /// Turns of tactical phases.
    #[schemars(with = "Part<Llm>", transform = without(&["fallback"]))]
    pub tactical: Map<String, Value>,
    /// Summaries at compactions.
    // They are requested without tools and without a todo list.
    #[schemars(with = "Part<Llm>", transform = without(&OF_TURNS))]
    pub summary: Map<String, Value>,
}

impl LlmByPurpose {
    /// The differences for a purpose.
    pub(crate) fn of(&self, purpose: Purpose) -> &Map<String, Value> {
        match purpose {
            Purpose::Strategic => &self.strategic,
            Purpose::Tactical => &self.tactical,
            Purpose::Summary => &self.summary,
        }
    }
}
