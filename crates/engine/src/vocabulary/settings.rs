//! Everything about a job that is decided before it starts: the resolved configuration as the engine needs it.

use crate::transition::MAX_CALLS;
use crate::{
    ApprovalRules, Fallback, PhaseKind, Purpose, StrategicTodos, UntrustedRules,
    tools::{ToolSpec, Toolset},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

/// Counts the tokens of a text. Counting is pure, so the engine takes it as a function and needs no tokenizer.
pub type TokenCounter = Arc<dyn Fn(&str) -> u32 + Send + Sync>;

/// One job's settings; the same for the job's whole life.
#[derive(Clone)]
pub struct Settings {
    /// Rendered prompts.
    pub prompts: Prompts,
    /// Every tool the job may use, each with the phases it is bound in, in the fixed order of the request.
    pub tools: Arc<Toolset>,
    /// Names of those that are bound only once the model has searched for them.
    pub deferred: Arc<BTreeSet<String>>,
    /// Sizes and rules of phases.
    pub phases: PhaseSettings,
    /// The bounds of the guardrails.
    pub limits: Limits,
    /// What the engine must know of the model; see [`Settings::model_for`].
    pub model: ModelSettings,
    /// The models of some purposes, where they are others.
    pub other_models: OtherModels,
    /// Models that are asked when those fail, in their order (`llm.fallback`).
    pub fallbacks: Vec<Fallback>,
    /// Whether `job_complete` ends the job or hands it to a person.
    pub autonomy: Autonomy,
    /// Which calls people decide on.
    pub approval: ApprovalRules,
    /// What it may do once it has read text of others.
    pub untrusted: UntrustedRules,
    /// What the job owes at its end.
    pub owed: Owed,
    /// Whether completion takes that the documents' passages are accounted for, and within which bounds.
    pub coverage: Option<CoverageSettings>,
    /// Who takes the text out of documents and cuts it.
    pub prepare: Prepare,
    /// Counts tokens for messages the engine writes itself.
    pub count_tokens: TokenCounter,
    /// Made when first needed.
    pub prompt_prefixes: SystemPromptPrefixes,
}

/// What the system prompts of strategic and of tactical phases begin with: one text each for all jobs with the same
/// settings. A provider's cache serves it to all of them, and a worker holds it once.
#[derive(Debug, Default)]
pub struct SystemPromptPrefixes(OnceLock<Arc<[Box<str>]>>);

/// A copy may get other prompts.
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

/// The job's texts, rendered once against the bound tools.
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

/// `deliverables` of the configuration, as far as they are decided here: what is in a file, the outside looks up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owed {
    /// The files, in the configuration's order.
    pub files: Vec<OwedFile>,
    /// Whether the outside looks into files before `job_complete` is decided on: it then gets the call, and gives back an
    /// error where something in them is not as it must be, or else what it counted ([`LookedInto`](crate::LookedInto)).
    pub is_inspected: bool,
}

/// A deliverable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedFile {
    /// Path in the workspace, normalized.
    pub path: String,
    /// Whether the job is complete only with it.
    pub required: bool,
    /// Whether a schema says what real content is: it may be short.
    pub has_schema: bool,
}

/// `phase_settings` of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSettings {
    /// Fewest todos of a tactical phase.
    pub min_todos: usize,
    /// Most todos of a tactical phase.
    pub max_todos: usize,
    /// Whether `archive/phase_<n>.yaml` is written when a phase ends.
    pub archive_on_transition: bool,
    /// What happens to the conversation between phases.
    pub history_at_boundary: HistoryAtBoundary,
}

/// `coverage_settings` of the configuration, as far as they are decided here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageSettings {
    /// Least share of passages that must be answered, 0 to 1.
    pub minimum: f64,
    /// Most of the passages with candidates that may be closed with hardly any of these cited, as a share of them, 0 to 1.
    pub max_closed: f64,
    /// Most of the requirements that may say what their quotes do not, as a share of them, 0 to 1.
    pub unsupported: f64,
    /// Whether the type's files bind a tool that records requirements: then these decide passages, not quotes.
    pub records: bool,
}

/// `documents.prepare` of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prepare {
    /// The system, before the first request.
    #[default]
    Start,
    /// The model; what it has not prepared when the first phase of work ends, the system does.
    Model,
}

/// What happens to the conversation when a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryAtBoundary {
    /// The next phase starts with a fresh conversation (the files are the memory).
    Reset,
    /// The conversation goes on; compaction by threshold keeps it in bounds.
    Compact,
}

/// `limits` of the configuration. `None` means unlimited.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Most model calls of the job.
    pub max_iterations: u32,
    /// Context size, in tokens, from which old content is cleared or summarized.
    pub context_threshold_tokens: u32,
    /// The results of how many of the newest answers clearing leaves alone; those of the last one always.
    pub keep_recent_tool_results: usize,
    /// What becomes of the results of a closed todo's turns.
    pub closed_todos: ClosedTodos,
    /// Largest tool result, in tokens, that enters the conversation whole.
    pub max_tool_result_tokens: u32,
    /// Total tokens the job may use before it is paused.
    pub token_budget: Option<u64>,
    /// Cost in millionths of a US dollar before the job is paused.
    pub cost_budget_microusd: Option<i64>,
    /// Seconds from the job's first start until it is paused.
    pub deadline_s: Option<u64>,
    /// Consecutive answers without a tool call: nudged up to here, then re-planned, at three times this the job fails.
    pub turns_without_tool_call: u32,
    /// Bounds for the same call with the same result.
    pub repeated_calls: RepeatedCalls,
    /// Turns without a closed todo, a changed file or a requirement before a re-planning is forced.
    pub turns_without_progress: u32,
    /// What a tool leads to that has failed for good.
    pub on_tool_failure: OnToolFailure,
}

/// What becomes of the tool results of a closed todo's turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClosedTodos {
    /// They stay until the window needs their room: what a provider has read is served from its cache.
    #[default]
    Keep,
    /// They leave the conversation as the todo closes.
    Drop,
}

/// What a tool leads to that still fails after its last try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnToolFailure {
    /// The model reads the error and goes on.
    #[default]
    Continue,
    /// The job fails.
    Stop,
}

/// How often the same call may give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedCalls {
    /// From here the result carries a remark.
    pub nudge: u32,
    /// From here the call is refused.
    pub refuse: u32,
    /// From here the phase is given up and re-planned.
    pub replan: u32,
}

/// What the engine must know of the model; the rest of `llm` is the adapter's.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// Name, as recorded in `llm_requests`.
    pub model: String,
    /// Answer cap, in tokens, sent with every request.
    pub max_output_tokens: u32,
    /// The model's window, in tokens.
    pub context_window: u32,
    /// Failures in a row of one request that are answered by waiting in place, before the job is parked.
    pub max_retries: u32,
    /// Where the active todo list stands.
    pub todo_list_position: TodoListPosition,
    /// For the cost of a request.
    pub prices: Prices,
    /// Whether the server's count of a prompt is of all of it. Where it is not, a small one says nothing.
    pub reports_whole_prompt: bool,
    /// Whether the server serves the beginning of a prompt that it has read before from a cache.
    pub prefix_cache: bool,
}

/// Models that differ from the one that works on todos (`llm_by_purpose`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherModels {
    /// Plans.
    pub strategic: Option<ModelSettings>,
    /// Summarizes.
    pub summary: Option<ModelSettings>,
}

/// Where layer 2 stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoListPosition {
    /// As the last message, role `user`: nothing before it changes, so a provider's prefix cache keeps serving.
    Last,
    /// Directly after the system prompt, role `system`, for models that want it there.
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

/// Who has the last word on completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    /// `job_complete` ends the job.
    Full,
    /// `job_complete` puts the job into `review` for a person.
    Review,
}

impl Settings {
    /// The model that is asked for a purpose. Its caps and prices hold for its requests, not those of another
    /// (lesson 46).
    pub fn model_for(&self, purpose: Purpose) -> &ModelSettings {
        let other = match purpose {
            Purpose::Strategic => &self.other_models.strategic,
            Purpose::Tactical => &None,
            Purpose::Summary => &self.other_models.summary,
        };
        other.as_ref().unwrap_or(&self.model)
    }

    /// What system prompts begin with, of both kinds of phases.
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

    /// Layer 1 as far as it is the same for all jobs: the phase's prompt and the instructions.
    pub(crate) fn beginning(&self, kind: PhaseKind) -> &str {
        let place = match kind {
            PhaseKind::Strategic => 0,
            PhaseKind::Tactical => 1,
        };
        &self.prompt_prefixes()[place]
    }

    /// How much an answer holds, in words that a model can plan by: a record of a requirement takes about 400 tokens, 60
    /// where `record_passage` makes it, and a token three bytes and more.
    fn size_of_an_answer(&self, kind: PhaseKind) -> String {
        let purpose = match kind {
            PhaseKind::Strategic => Purpose::Strategic,
            PhaseKind::Tactical => Purpose::Tactical,
        };
        let most = self.model_for(purpose).max_output_tokens;
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

    /// The deferred tools, a line each with the beginning of what they do; nothing where there are none.
    fn tools_on_demand(&self, kind: PhaseKind) -> String {
        let line = |tool: &ToolSpec| {
            let ends = [". ", ", ", "; "].into_iter().filter_map(|mark| tool.description.find(mark)).min();
            let does = ends.map_or(tool.description.trim_end_matches('.'), |end| &tool.description[..end]);
            format!("\n- {}: {does}.", tool.name)
        };
        let lines: String = self.deferred(kind).map(line).collect();
        match lines.is_empty() {
            true => lines,
            false => format!("\n\nFurther tools on demand; search_tools loads what they take:\n{lines}"),
        }
    }

    /// The tools bound in every phase of this kind, in the fixed order; see [`crate::Run::bound`] for those that a job
    /// has loaded besides.
    pub fn bound(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(move |tool| tool.phases.contains(kind) && !self.deferred.contains(&tool.name))
    }

    /// The tools that may be loaded in phases of this kind.
    pub fn deferred(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(move |tool| tool.phases.contains(kind) && self.deferred.contains(&tool.name))
    }
}
