//! `llm` and `llm_by_purpose`.

use plumbline_engine::TodoListPosition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The language model and how to talk to it (OpenAI chat completions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// Name of the model as the endpoint knows it. `PLUMBLINE_MODEL` wins over configuration files.
    pub model: Option<String>,
    /// Address of the endpoint up to, not including, `/chat/completions`. `OPENAI_BASE_URL` wins over configuration
    /// files.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the API key. The key itself never stands in a configuration.
    pub api_key_env: Option<String>,
    /// Sampling temperature; left to the provider when absent.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Sent as `reasoning_effort`, e.g. `low`, `medium` or `high`; not sent when absent.
    pub reasoning_level: Option<String>,
    /// Cap for one answer, in tokens, sent with every request.
    #[schemars(range(min = 16, max = 100_000_000))]
    pub max_output_tokens: u32,
    /// The request field that carries that cap. OpenAI's reasoning models want `max_completion_tokens`; `max_tokens` is
    /// understood everywhere else.
    #[schemars(with = "String", extend("enum" = ["max_tokens", "max_completion_tokens"]))]
    pub output_cap: OutputCap,
    /// The model's window, in tokens; prompt and answer together fit in it.
    #[schemars(range(min = 1024, max = 100_000_000))]
    pub context_window: u32,
    /// Seconds until a request that has not been answered whole counts as failed.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_s: u64,
    /// Tries of one request in quick succession before the job is parked and goes on later.
    #[schemars(range(max = 100))]
    pub max_retries: u32,
    /// Whether the model may call several tools in one answer; left to the provider when absent.
    pub parallel_tool_calls: Option<bool>,
    /// `last`: the active todo list is the last message, so that the provider's prefix cache keeps serving.
    /// `after_system`: it stands directly after the system prompt, for models that want it there.
    #[schemars(with = "String", extend("enum" = ["last", "after_system"]))]
    pub todo_list_position: TodoListPosition,
    /// Prices, for the cost of a job and its budget.
    pub prices: Prices,
}

/// The request field that carries the cap of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputCap {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Prompt tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub input: f64,
    /// Prompt tokens that the provider served from its cache.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub cached_input: f64,
    /// Completion tokens.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub output: f64,
}

/// Parts of `llm` that differ by what a request is for; merged over `llm`.
///
/// They stay JSON objects here because any part of [`Llm`] may be absent; [`super::Resolved::llm`] gives the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlmByPurpose {
    /// Turns of strategic phases.
    #[schemars(with = "Llm")]
    pub strategic: Map<String, Value>,
    /// Turns of tactical phases.
    #[schemars(with = "Llm")]
    pub tactical: Map<String, Value>,
    /// Summaries at compactions.
    #[schemars(with = "Llm")]
    pub summary: Map<String, Value>,
}
