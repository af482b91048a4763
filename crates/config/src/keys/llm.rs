//! `llm` and `llm_by_purpose`.

use crate::{LlmFallback, Prices, ProfileKeys};
use plumbline_engine::{Purpose, TodoListPosition};
use plumbline_llm::{Api, Streaming, ToolChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The language model and how to talk to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llm {
    /// Name of the model as the endpoint knows it. `PLUMBLINE_MODEL` fills it where no file of the job type says it.
    pub model: Option<String>,
    /// Address of the endpoint up to, not including, `/chat/completions`, `/responses` or `/messages`. `OPENAI_BASE_URL`
    /// fills it where no file of the job type says it.
    pub base_url: Option<String>,
    /// The protocol: `chat` is OpenAI's chat completions, which nearly every server speaks, `responses` its newer one, and
    /// `messages` Anthropic's. `auto` is `chat`, and `responses` for the rest of a job whose endpoint says that the model
    /// takes tools there alone.
    #[schemars(with = "String", extend("enum" = ["auto", "chat", "responses", "messages"]))]
    pub api: ApiChoice,
    /// Name of the environment variable that holds the API key. The key itself never stands in a configuration.
    pub api_key_env: Option<String>,
    /// Sampling temperature; left to the provider when absent.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// How much the model thinks, e.g. `low`, `medium` or `high`, sent as the protocol's effort; not sent when absent. For
    /// Claude models that know no effort, a number of tokens to think with.
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
    /// Whether answers are streamed, so that no gateway takes a long answer for a dead connection; each is used as a whole
    /// all the same. `auto` streams unless the endpoint refuses that.
    #[schemars(with = "String", extend("enum" = ["auto", "on", "off"]))]
    pub stream: Streaming,
    /// Seconds of silence in the middle of an answer after which it counts as failed; comments and pings of a stream count
    /// as life.
    #[schemars(range(min = 1, max = 86400))]
    pub idle_timeout_s: u64,
    /// Tries of one request in quick succession before the job is parked and goes on later.
    #[schemars(range(max = 100))]
    pub max_retries: u32,
    /// `required`: each answer must call a tool, where the endpoint can see to that. `auto`: the model may answer by text,
    /// and is told that nothing happens by that.
    #[schemars(with = "String", extend("enum" = ["auto", "required"]))]
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools in one answer; left to the provider when absent.
    pub parallel_tool_calls: Option<bool>,
    /// `last`: the active todo list is the last message, so that the provider's prefix cache keeps serving.
    /// `after_system`: it stands directly after the system prompt, for models that want it there.
    #[schemars(with = "String", extend("enum" = ["last", "after_system"]))]
    pub todo_list_position: TodoListPosition,
    /// Prices, for the cost of a job and its budget: US dollars per million tokens, or `free` for a model whose requests
    /// cost nothing.
    pub prices: Prices,
    /// What is known of the provider's and the model's ways, over what `providers.json` knows of them.
    pub profile: ProfileKeys,
    /// Sent as `service_tier`, e.g. `flex`, `priority` or `auto`, which changes speed and price: set `llm.prices` to the
    /// tier's. Not sent when absent.
    pub service_tier: Option<String>,
    /// What the provider allows to the key, kept by all workers on one database together; what it says itself in its answers
    /// is learnt, and kept too. Several job types with one model and key should say the same.
    pub limits: LlmLimits,
    /// Models that are asked when this one fails, in their order: `[{after: 3, on: [overloaded], llm: {model: …}}]`. A job
    /// stays with one to the end of the phase.
    pub fallback: Vec<LlmFallback>,
}

impl Llm {
    /// The protocol in which a job's first request is made.
    pub fn protocol(&self) -> Api {
        self.api.chosen().or(self.profile.api).unwrap_or(Api::Chat)
    }
}

/// What a provider allows; a key that is absent has no limit here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmLimits {
    /// Requests within a minute.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens within a minute, those of prompts and of answers together.
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
    /// Requests under way at the same time, e.g. as many as a server of one's own has slots.
    #[schemars(range(min = 1, max = 100_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
}

/// The protocol, or that it is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiChoice {
    /// As the endpoint wants it.
    Auto,
    /// This one.
    #[serde(untagged)]
    This(Api),
}

impl ApiChoice {
    /// The protocol that was chosen.
    pub fn chosen(self) -> Option<Api> {
        match self {
            Self::Auto => None,
            Self::This(api) => Some(api),
        }
    }
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

/// Parts of `llm` that differ by what a request is for; merged over `llm`.
///
/// They stay JSON objects here because any part of [`Llm`] may be absent; [`crate::Resolved::llm`] gives the whole.
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

impl LlmByPurpose {
    /// What differs for a purpose.
    pub(crate) fn of(&self, purpose: Purpose) -> &Map<String, Value> {
        match purpose {
            Purpose::Strategic => &self.strategic,
            Purpose::Tactical => &self.tactical,
            Purpose::Summary => &self.summary,
        }
    }
}
