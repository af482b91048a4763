//! Everything about a job that is decided before it starts: the part of the resolved configuration that the engine
//! needs.

use crate::transition::MAX_CALLS;
use crate::{
    ApprovalRules, Fallback, PhaseKind, Purpose, StrategicTodos, UntrustedRules,
    tools::{ToolSpec, Toolset},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

/// Counts the tokens of a text. A pure function, so the engine needs no tokenizer.
pub type TokenCounter = Arc<dyn Fn(&str) -> u32 + Send + Sync>;

/// One job's settings; constant for the job's whole life.
#[derive(Clone)]
pub struct Settings {
    /// Rendered prompts.
    pub prompts: Prompts,
    /// All tools of the job, each with the phases in which it is bound, in the fixed order of the request.
    pub tools: Arc<Toolset>,
    /// Names of tools that are bound only once the model has searched for them.
    pub deferred: Arc<BTreeSet<String>>,
    /// Sizes and rules of phases.
    pub phases: PhaseSettings,
    /// The bounds of the guardrails.
    pub limits: Limits,
    /// The properties of the model that the engine needs; see [`Settings::model_for`].
    pub model: ModelSettings,
    /// The models for other purposes, if different.
    pub other_models: OtherModels,
    /// Models used if those fail, in order (`llm.fallback`).
    pub fallbacks: Vec<Fallback>,
    /// Whether `job_complete` ends the job or hands it to a person.
    pub autonomy: Autonomy,
    /// The calls that people decide on.
    pub approval: ApprovalRules,
    /// The restrictions once it has read untrusted text.
    pub untrusted: UntrustedRules,
    /// The required deliverables.
    pub owed: Owed,
    /// Whether completion requires that the documents' passages are accounted for, and within which bounds.
    pub coverage: Option<CoverageSettings>,
    /// Who extracts and cuts documents.
    pub prepare: Prepare,
    /// Counts tokens for messages the engine writes itself.
    pub count_tokens: TokenCounter,
    /// Computed at the first use.
    pub prompt_prefixes: SystemPromptPrefixes,
}

/// The common beginnings of the system prompts of strategic and of tactical phases: one text each for all jobs with the
/// same settings. A provider's cache serves it to all of them, and a worker stores it once.
#[derive(Debug, Default)]
pub struct SystemPromptPrefixes(OnceLock<Arc<[Box<str>]>>);

/// A copy may get different prompts.
impl Clone for SystemPromptPrefixes {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("limits", &self.limits).field("model", &self.model).finish_non_exhaustive()
    }
}

/// The job's texts, rendered once for the bound tools.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    /// System prompt of strategic phases.
    pub strategic: String,
    /// System prompt of tactical phases.
    pub tactical: String,
    /// Asks for the summary at a compaction.
    pub summarization: String,
    /// The job type's `instructions.md`.
    pub instructions: String,
    /// The todos that the system writes for strategic phases.
    pub todos: StrategicTodos,
}

/// The parts of `deliverables` in the configuration that the engine needs: the contents of files are checked outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owed {
    /// The files, in the configuration's order.
    pub files: Vec<OwedFile>,
    /// Whether the outside checks files before `job_complete` is decided: it then gets the call, and returns an error
    /// if a condition is not met, otherwise its counts ([`Inspected`](crate::Inspected)).
    pub is_inspected: bool,
}

/// A deliverable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedFile {
    /// Path in the workspace, normalized.
    pub path: String,
    /// Whether the job can complete only with it.
    pub required: bool,
    /// Whether a schema defines real content: then the file may be short.
    pub has_schema: bool,
}

/// Sizes and rules of phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseSettings {
    /// Minimum number of todos of a tactical phase.
    #[schemars(range(min = 1, max = 100))]
    pub min_todos: usize,
    /// Maximum number of todos of a tactical phase.
    #[schemars(range(min = 1, max = 100))]
    pub max_todos: usize,
    /// Whether `archive/phase_<n>.yaml` is written when a phase ends.
    pub archive_on_transition: bool,
    /// `reset`: each phase starts with a new conversation, and files are the memory. `compact`: the conversation
    /// continues and is summarized when it grows too large.
    pub history_at_boundary: HistoryAtBoundary,
}

/// The parts of `coverage_settings` in the configuration that the engine needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageSettings {
    /// Minimum share of passages that must be answered, 0 to 1.
    pub minimum: f64,
    /// Maximum share of the passages with candidates that may be closed with hardly any of these cited, 0 to 1.
    pub max_closed: f64,
    /// Maximum share of the requirements that may differ from their quotes, 0 to 1.
    pub unsupported: f64,
    /// Whether the type's files bind a tool that records requirements: then requirements decide passages, not quotes.
    pub records: bool,
}

/// How documents express obligations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum DocumentStyle {
    /// By normative words: regulation, contracts, specifications.
    #[default]
    Normative,
    /// Also by the present passive, as in policies: `Access rights are reviewed every quarter.`
    Policy,
}

/// `documents.prepare` of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Prepare {
    /// The system, before the first request.
    #[default]
    Start,
    /// The model; the system prepares the rest when the first phase of work ends.
    Model,
}

/// What happens to the conversation when a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum HistoryAtBoundary {
    /// The next phase starts with a fresh conversation (the files are the memory).
    Reset,
    /// The conversation continues; compaction by threshold bounds it.
    Compact,
}

/// Limits and budgets. A used-up budget pauses the job without losing work.
// Every number has an upper bound far above any use, so that sums and durations made of it cannot overflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of model calls of a job. `PLUMBLINE_MAX_ITERATIONS` fills it if no file of the job type sets it.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub max_iterations: u32,
    /// Context size, in tokens, from which old content is cleared or summarized.
    #[schemars(range(min = 512))]
    pub context_threshold_tokens: u32,
    /// Number of most recent answers whose results are never cleared; at least the last one.
    pub keep_recent_tool_results: u32,
    /// What becomes of the tool results of a closed todo's turns: `keep` (they stay until the window needs their room, and a
    /// provider's prefix cache serves them) or `drop` (they leave the conversation as the todo closes, but for requirements that
    /// wait to be judged and passages that are not answered). They are dropped, too, where the profile says `prefix_cache: false`.
    #[serde(default)]
    pub closed_todos: ClosedTodos,
    /// Maximum tool result, in tokens, that enters the conversation completely; a larger one goes to `tool_results/`.
    #[schemars(range(min = 64))]
    pub max_tool_result_tokens: u32,
    /// Maximum retries of a tool after a transient failure.
    #[schemars(range(max = 100))]
    pub tool_retries: u32,
    /// Timeout of a tool in seconds.
    #[schemars(range(min = 1, max = 86400))]
    pub tool_timeout_s: u64,
    /// Tokens, prompt and completion together, after which the job is paused; unlimited when absent.
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub token_budget: Option<u64>,
    /// US dollars after which the job is paused, counted with `llm.prices`, which a job with a budget requires to
    /// start; unlimited when absent.
    #[schemars(range(min = 0.0, max = 1_000_000_000.0))]
    pub cost_budget_usd: Option<f64>,
    /// Seconds from the job's first start after which it is paused; unlimited when absent.
    #[schemars(range(min = 1, max = 315_360_000))]
    pub deadline_s: Option<u64>,
    /// Consecutive answers without a tool call before the phase is planned again; at three times as many the job fails.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub turns_without_tool_call: u32,
    /// Bounds for the same call with the same arguments and result.
    pub repeated_calls: RepeatedCalls,
    /// Turns without a closed todo, a changed file or a requirement before the phase is planned again; three times as many
    /// turns, six times with new texts or content, twelve times with new answers of
    /// services, in which only what was there changes.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub turns_without_progress: u32,
    /// Seconds after which a call that waits for a person's decision (`approval`) expires; the same for an approved
    /// call that was not made.
    #[schemars(range(min = 1, max = 31_536_000))]
    pub approval_expires_s: u64,
    /// What happens when a tool fails after its last retry, or times out: `continue` (the model reads the error) or
    /// `stop` (the job fails).
    #[serde(default)]
    pub on_tool_failure: OnToolFailure,
}

impl Limits {
    /// The cost budget in millionths of a US dollar.
    pub fn cost_budget_microusd(&self) -> Option<i64> {
        self.cost_budget_usd.map(|usd| (usd * 1e6).round() as i64)
    }
}

/// What happens to the tool results of a closed todo's turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum ClosedTodos {
    /// They are kept until the window needs their room: the provider's cache serves what it has read before.
    #[default]
    Keep,
    /// They are removed when the todo is closed.
    Drop,
}

/// The consequence of a tool that still fails after its last retry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum OnToolFailure {
    /// The model reads the error and continues.
    #[default]
    Continue,
    /// The job fails.
    Stop,
}

/// How often the same call may give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepeatedCalls {
    /// From this count on, the result has a remark.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub nudge: u32,
    /// From this count on, the call is refused.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub refuse: u32,
    /// From this count on, the phase is abandoned and planned again.
    #[schemars(range(min = 2, max = 1_000_000))]
    pub replan: u32,
}

/// The properties of the model that the engine needs; the rest of `llm` belongs to the adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// Name, as recorded in `llm_requests`.
    pub model: String,
    /// Answer cap, in tokens, sent with every request.
    pub max_output_tokens: u32,
    /// The model's window, in tokens.
    pub context_window: u32,
    /// Consecutive failures of one request that are retried in place, before the job is parked.
    pub max_retries: u32,
    /// The place of the active todo list.
    pub todo_list_position: TodoListPosition,
    /// For the cost of a request.
    pub prices: Prices,
    /// Whether the server's count covers the whole prompt. If not, a small count is not a sign of truncation.
    pub reports_whole_prompt: bool,
    /// Whether the server has a prefix cache.
    pub prefix_cache: bool,
}

/// Models that differ from the one for todos (`llm_by_purpose`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherModels {
    /// For plans.
    pub strategic: Option<ModelSettings>,
    /// For summaries.
    pub summary: Option<ModelSettings>,
}

/// The place of layer 2 in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum TodoListPosition {
    /// As the last message, role `user`: nothing before it changes, so a provider's prefix cache stays valid.
    Last,
    /// Directly after the system prompt, role `system`, for models that require it there.
    AfterSystem,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Uncached prompt tokens.
    pub input: f64,
    /// Prompt tokens the provider served from its cache.
    pub cached_input: f64,
    /// Prompt tokens the provider wrote into its cache.
    pub cache_write: f64,
    /// Completion tokens.
    pub output: f64,
}

impl Prices {
    /// Cost of one request in millionths of a US dollar, rounded to the nearest.
    pub fn cost_microusd(&self, usage: &crate::vocabulary::Usage) -> i64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let written = usage.cache_write_tokens.min(usage.prompt_tokens - cached);
        let fresh = usage.prompt_tokens - cached - written;
        // Dollars per million tokens and millionths of a dollar per token are the same number.
        let cost = f64::from(fresh) * self.input
            + f64::from(cached) * self.cached_input
            + f64::from(written) * self.cache_write
            + f64::from(usage.completion_tokens) * self.output;
        cost.round() as i64
    }
}

/// Who decides on completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Autonomy {
    /// `job_complete` ends the job.
    Full,
    /// `job_complete` puts the job into `review` for a person.
    Review,
}

impl Settings {
    /// The model for a purpose. Its caps and prices apply only to its own requests.
    pub fn model_for(&self, purpose: Purpose) -> &ModelSettings {
        let other = match purpose {
            Purpose::Strategic => &self.other_models.strategic,
            Purpose::Tactical => &None,
            Purpose::Summary => &self.other_models.summary,
        };
        other.as_ref().unwrap_or(&self.model)
    }

    /// The beginnings of system prompts, of both kinds of phases.
    pub(crate) fn prompt_prefixes(&self) -> &Arc<[Box<str>]> {
        let Prompts { strategic, tactical, instructions, .. } = &self.prompts;
        let beginning = |prompt: &str, kind| {
            let (prompt, tools, instructions) = (prompt.trim(), self.tools_on_demand(kind), instructions.trim());
            let limit = self.size_of_an_answer(kind);
            format!("{prompt}\n\n{limit}{tools}\n\n## Instructions\n\n{instructions}\n\n").into_boxed_str()
        };
        self.prompt_prefixes.0.get_or_init(|| {
            [beginning(strategic, PhaseKind::Strategic), beginning(tactical, PhaseKind::Tactical)].into()
        })
    }

    /// The part of layer 1 that is the same for all jobs: the phase's prompt and the instructions.
    pub(crate) fn beginning(&self, kind: PhaseKind) -> &str {
        let place = match kind {
            PhaseKind::Strategic => 0,
            PhaseKind::Tactical => 1,
        };
        &self.prompt_prefixes()[place]
    }

    /// The capacity of an answer in terms that a model can plan with: a record of a requirement takes about 400 tokens,
    /// 60 with `record_passage`, and a token at least three bytes.
    fn size_of_an_answer(&self, kind: PhaseKind) -> String {
        let most = self.model_for(kind.purpose()).max_output_tokens;
        let kilobytes = u64::from(most) * 3 / 1000;
        let binds = |name: &str| self.bound(kind).any(|tool| tool.name == name);
        let records = match (binds("record_passage"), binds("add_requirement")) {
            (true, _) => format!("some {} records, or ", most / 60),
            (false, true) => format!("some {} records, or ", most / 400),
            (false, false) => "some ".to_string(),
        };
        format!(
            "An answer holds {most} tokens at most: {records}{kilobytes} KB of a file. What is longer is cut off there: the calls \
             that are whole are carried out, the torn one is not. It may make {MAX_CALLS} calls. A result shows {} tokens at most.",
            self.limits.max_tool_result_tokens
        )
    }

    /// The deferred tools, one line each with the beginning of their description; empty if there are none.
    fn tools_on_demand(&self, kind: PhaseKind) -> String {
        let line = |tool: &ToolSpec| {
            let ends = [". ", ", ", "; ", " ("].into_iter().filter_map(|mark| tool.description.find(mark)).min();
            let does = ends.map_or(tool.description.trim_end_matches('.'), |end| &tool.description[..end]);
            format!("\n- {}: {does}.", tool.name)
        };
        let lines: String = self.deferred(kind).map(line).collect();
        match lines.is_empty() {
            true => lines,
            false => format!("\n\nFurther tools on demand; search_tools loads what they take:\n{lines}"),
        }
    }

    /// The tools bound in every phase of this kind, in the fixed order; see [`crate::Run::bound`] for the tools that a
    /// job has loaded in addition.
    pub fn bound(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(move |tool| tool.phases.contains(kind) && !self.deferred.contains(&tool.name))
    }

    /// The tools bound in phases of this kind once these were loaded: the fixed ones in their order, then the loaded
    /// ones in theirs.
    pub(crate) fn bound_with(&self, kind: PhaseKind, loaded: &[String]) -> impl Iterator<Item = &ToolSpec> {
        let loaded = loaded.iter().filter_map(move |name| self.deferred(kind).find(|tool| tool.name == *name));
        self.bound(kind).chain(loaded)
    }

    /// The tools that may be loaded in phases of this kind.
    pub fn deferred(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(move |tool| tool.phases.contains(kind) && self.deferred.contains(&tool.name))
    }
}
