//! `limits`: the bounds of the guardrails and the budgets.
//!
//! Every number has an upper bound far above any use, so that sums and durations made of it cannot overflow.

use plumbline_engine::{ClosedTodos, OnToolFailure, RepeatedCalls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits and budgets. A used-up budget pauses the job without losing work.
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
    #[schemars(with = "String", extend("enum" = ["keep", "drop"]))]
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
    /// Turns without a closed todo, a changed file or a requirement before the phase is planned again.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub turns_without_progress: u32,
    /// Seconds after which a call that waits for a person's decision (`approval`) expires; the same for an approved
    /// call that was not made.
    #[schemars(range(min = 1, max = 31_536_000))]
    pub approval_expires_s: u64,
    /// What happens when a tool fails after its last retry, or times out: `continue` (the model reads the error) or
    /// `stop` (the job fails).
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["continue", "stop"]))]
    pub on_tool_failure: OnToolFailure,
}
