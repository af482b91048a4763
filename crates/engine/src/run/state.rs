//! The checkpoint: the state of a run except messages, todos and files. Small, and written completely with every step;
//! its size is bounded for jobs of any length.

use crate::{
    CallProgress, Given, JobError, Judged, Opening, PhaseKind, Previous, RequestRecord, Usage, Work, Worked,
    guardrail::{
        effects::{PhaseEffects, Seen},
        repeat::Repeat,
    },
};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr};
use uuid::Uuid;

/// Whether a value is its default, so that the checkpoint needs no field for it.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Version of the stored form. A worker reads its own and older ones.
pub const STATE_VERSION: u32 = 1;

/// Everything the engine must remember between steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// [`STATE_VERSION`] of the writer.
    pub version: u32,
    /// What is being waited for.
    pub stage: Stage,
    /// The current phase.
    pub phase: PhaseState,
    /// Which messages the model sees.
    pub context: ContextWindow,
    /// The `seq` of the next message.
    pub next_seq: i64,
    /// The job that worked on earlier versions of the documents, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
    /// Name and purpose of the phase whose todos have been written already, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<StagedPhase>,
    /// Deferred tools that the model has searched for, in order of loading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded_tools: Vec<String>,
    /// Counters of the guardrails.
    pub guards: Guards,
    /// The results of the phase so far.
    #[serde(default)]
    pub effects: PhaseEffects,
    /// Files and texts already seen, so that repetitions do not count as new.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seen: Seen,
    /// Requirements of other jobs that this one has judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judged: Judged,
    /// Requirements in results that are not judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub given: Given,
    /// The results of the current todo so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub work: Work,
    /// The last tactical phase that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worked: Option<Worked>,
    /// Seconds from the start to the end of the last request: the job's time as far as recorded.
    #[serde(default)]
    pub elapsed_s: i64,
    /// Calls after the end of a phase or of the job that were not executed, each with the reason: the next opening
    /// lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Consecutive failures of the current model call or tool calls.
    pub retry: Retry,
    /// The step of the first request with untrusted text: from documents, pages, foreign tools, or rows derived from
    /// such text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted_step: Option<i64>,
    /// Whether the next request contains such text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_untrusted: bool,
    /// Whether requirements are from before texts were compared with quotes: the next `job_complete` compares them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compares_anew: bool,
    /// The entry of `llm.fallback` that is used in place of the job's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<usize>,
    /// Sums over all requests.
    pub totals: Totals,
    /// When the job first started; limits count from here, not from its insertion.
    pub started_at: DateTime<Utc>,
}

impl State {
    /// The state of a job that never took a step.
    pub(crate) fn initial(started_at: DateTime<Utc>) -> Self {
        Self { version: STATE_VERSION, next_seq: 1, started_at, ..Self::default() }
    }

    /// The stage in words.
    pub(crate) fn stage_name(&self) -> String {
        let stage: &'static str = StageKind::from(&self.stage).into();
        let waits = if self.retry.not_before.is_some() { ", waiting" } else { "" };
        format!("{stage}{waits}")
    }

    /// The answer (`seq` of its message) whose calls are at hand.
    pub(crate) fn answer_at_hand(&self) -> i64 {
        if let Stage::Tools { message_seq, .. } = self.stage { message_seq } else { self.next_seq }
    }

    /// The earlier job whose findings are still to be carried over.
    pub(crate) fn carries_over(&self) -> Option<Uuid> {
        let previous = self.previous.as_ref().filter(|previous| previous.versions.is_none())?;
        Some(previous.job_id)
    }

    /// Content of the opening that is not in the rows, while the first phase is being opened.
    pub(crate) fn beginning(&self) -> &Beginning {
        const NONE: &Beginning = &Beginning { waiting: None, given: None, notes: Vec::new() };
        if let Stage::Prepare { beginning } = &self.stage { beginning } else { NONE }
    }

    /// The calls of the last answer that were not executed, each with the reason; none if all were.
    pub(crate) fn take_left_out(&mut self) -> Option<String> {
        let left_out = std::mem::take(&mut self.left_out);
        let lines: Vec<String> = left_out.iter().map(|line| format!("- {line}")).collect();
        (!lines.is_empty())
            .then(|| format!("Calls of your last answer that were not carried out:\n{}", lines.join("\n")))
    }

    /// Counts a request of this step.
    pub(crate) fn note_request(&mut self, record: &RequestRecord, usage: &Usage, step: i64) {
        if std::mem::take(&mut self.shows_untrusted) {
            self.untrusted_step.get_or_insert(step);
        }
        let took = TimeDelta::try_milliseconds(record.duration_ms).unwrap_or_default();
        self.elapsed_s = (record.created_at + took - self.started_at).num_seconds().max(0);
        self.totals.requests += 1;
        self.totals.tokens += i64::from(usage.prompt_tokens) + i64::from(usage.completion_tokens);
        self.totals.cached_tokens += i64::from(usage.cached_tokens);
        self.totals.cost_microusd += record.cost_microusd;
    }

    /// Binds these tools as well, each once.
    pub(crate) fn load_tools(&mut self, names: Vec<String>) {
        for name in names {
            if !self.loaded_tools.contains(&name) {
                self.loaded_tools.push(name);
            }
        }
    }

    /// The job's elapsed time in words, as far as recorded: from its start to its last request.
    pub(crate) fn elapsed(&self) -> String {
        let minutes = self.elapsed_s / 60;
        match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
            (0, 0, 0) => "less than a minute".to_string(),
            (0, 0, minutes) => format!("{minutes} min"),
            (0, hours, minutes) => format!("{hours} h {minutes} min"),
            (days, hours, _) => format!("{days} d {hours} h"),
        }
    }
}

/// What the run waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[strum_discriminants(name(StageKind), derive(EnumIter, IntoStaticStr, PartialOrd, Ord))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "Which stage it is.")]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum Stage {
    /// The job's documents.
    #[default]
    Intake,
    /// The text of a document, and its passages: of the first document that has none.
    Prepare {
        /// Content of the opening known so far, for the phase after it.
        #[serde(flatten)]
        beginning: Beginning,
    },
    /// The model's answer to the next turn.
    Model,
    /// The results of the calls in this message.
    Tools {
        /// `seq` of the assistant message with the calls.
        message_seq: i64,
        /// Their progress.
        #[serde(default)]
        calls: CallProgress,
    },
    /// The summary of the conversation up to (not including) this message.
    Summary {
        /// First message that is kept unchanged.
        keep_from: i64,
    },
    /// A person's decision on the finished work (`autonomy: review`; a completed job has this stage too, for feedback
    /// that arrived while it ended).
    Review {
        /// The arguments of `job_complete`.
        result: Value,
    },
}

impl Stage {
    /// The progress of the current calls; none in another stage.
    pub(crate) fn calls(&self) -> Option<&CallProgress> {
        match self {
            Self::Tools { calls, .. } => Some(calls),
            Self::Intake | Self::Prepare { .. } | Self::Model | Self::Summary { .. } | Self::Review { .. } => None,
        }
    }

    /// The same, to change it.
    ///
    /// # Panics
    /// If there are no current calls, which is a defect of the caller.
    pub(crate) fn calls_mut(&mut self) -> &mut CallProgress {
        match self {
            Self::Tools { calls, .. } => calls,
            other
            @ (Self::Intake | Self::Prepare { .. } | Self::Model | Self::Summary { .. } | Self::Review { .. }) => {
                unreachable!("no calls are at hand in {other:?}")
            }
        }
    }

    /// Whether the next call is dispatched.
    pub(crate) fn has_dispatched(&self) -> bool {
        self.calls().is_some_and(|calls| calls.dispatched)
    }

    /// The index of the next call.
    pub(crate) fn next_call(&self) -> usize {
        self.calls().map_or(0, |calls| calls.answered)
    }
}

/// Content of the opening of a job's first phase that is not in its rows.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Beginning {
    /// Requirements that wait to be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// The data supplied with the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// The findings of document preparation, one text each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The current phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseState {
    /// The job's one phase counter, from 1; 0 before the first phase.
    pub number: i32,
    /// Strategic or tactical.
    pub kind: PhaseKind,
    /// Its name.
    pub name: String,
    /// Why it was opened.
    pub opening: Opening,
    /// Number of tactical phases so far, including this one.
    pub tactical: i32,
    /// Its purpose, if its todos were written for one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Number of tactical phases completed: not rewound, not forced.
    #[serde(default)]
    pub completed: i32,
    /// The maximum number of phases that `main_plan.md` ever had.
    #[serde(default)]
    pub planned: i32,
}

/// The part of the history that the model sees: the system message, the summary if any, then everything else from
/// `tail_from` on.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ContextWindow {
    /// `seq` of the system message.
    pub system_seq: i64,
    /// `seq` of the summary of earlier work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_seq: Option<i64>,
    /// Feedback from before the tail: kept verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<i64>,
    /// First `seq` of the conversation shown.
    pub tail_from: i64,
    /// Prompt tokens of the last request by the provider's count, and the `seq` up to which they cover the
    /// conversation: the anchor of the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
}

/// The provider's last count of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Tokens of prompt and answer.
    pub tokens: u32,
    /// Last message that they cover.
    pub seq: i64,
}

/// A phase written in advance by `todo_write`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedPhase {
    /// Its name.
    pub phase: String,
    /// Its purpose.
    pub description: String,
}

/// The history of a server's prompt counts while they are too small for what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SmallCounts {
    /// The largest, in tokens: a possible bound.
    pub most_read: u32,
    /// Our own count of the request in which it was reached.
    pub sent_then: u32,
    /// Our own count of the last request.
    pub last_sent: u32,
    /// Answers below the bound since the requests grew far beyond that.
    pub answers: u32,
}

/// Counters of the guardrails; each is reset by the event it waits for.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Guards {
    /// Consecutive answers without a tool call.
    pub silent_turns: u32,
    /// Consecutive answers cut by the cap.
    pub truncated_turns: u32,
    /// Prompt counts that suggest a truncated input: the server's window is smaller than the configured one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub small_counts: SmallCounts,
    /// Turns since a todo was closed, a file changed or a requirement was recorded.
    pub idle_turns: u32,
    /// Consecutive forced re-plannings, without a todo closed in a tactical phase with results between them.
    pub forced_replans: u32,
    /// Abandoned phases, minus those earned back ([`crate::guardrail::loop_detection`]).
    #[serde(default)]
    pub rewinds: u32,
    /// Whether a phase was abandoned and no tactical phase was completed since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovering: bool,
    /// Consecutive compactions without a turn.
    pub compactions_in_row: u32,
    /// Consecutive compactions with the same current todo and no result between them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compactions_of_todo: u32,
    /// Whether the tactical phase has written content that is new among all versions of its path, recorded something,
    /// or was shown a part of a document for the first time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub phase_has_results: bool,
    /// Consecutive completed tactical phases without any of that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub phases_without_results: u32,
    /// Completed tactical phases of the job without an effect ([`crate::guardrail::effects`]).
    #[serde(default, skip_serializing_if = "is_default")]
    pub phases_without_effect: u32,
    /// How many phases the plan had when a tactical phase last had an effect, or when the first one ended: what it grows by
    /// without an effect explains no further phases.
    #[serde(default, skip_serializing_if = "is_default")]
    pub planned_by_effect: i32,
    /// Fingerprints of the todo lists of these phases.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub lists_without_effect: VecDeque<u32>,
    /// The answer that was refused with a list of what is not decided, because it tried to end a job that has recorded
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_nothing_recorded: Option<i64>,
    /// The answer that was refused with the requirements that differ from their quotes, because it tried to end the
    /// job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_not_supported: Option<i64>,
    /// The answer that was refused because requirements that waited for this job are not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_not_judged: Option<i64>,
    /// Fingerprints of calls that were refused once, latest last; they are accepted when repeated.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub refused_once: VecDeque<u32>,
    /// The latest distinct calls, oldest first. Bounded by [`crate::guardrail::loop_detection::REMEMBERED_CALLS`].
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub repeats: VecDeque<Repeat>,
}

/// Consecutive failures of one effect: a model call, or tool calls whose service is unavailable.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Retry {
    /// How many.
    pub failures: u32,
    /// When the first of them occurred, or the retry time of a provider that named a distant one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// When the first of them occurred, regardless of a provider's retry time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error_at: Option<DateTime<Utc>>,
    /// The first error's sentence; kept in addition to the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// The last error's sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// No retry before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<DateTime<Utc>>,
}

impl Retry {
    /// Records a failure.
    pub(crate) fn note(&mut self, message: &str, now: DateTime<Utc>) {
        self.failures += 1;
        self.since.get_or_insert(now);
        self.first_error.get_or_insert_with(|| message.to_owned());
        self.first_error_at.get_or_insert(now);
        self.last_error = Some(message.to_owned());
    }

    /// The number of the next attempt, from 1.
    pub(crate) fn attempt(&self) -> i32 {
        self.failures as i32 + 1
    }

    /// Adds the failures to an error that gives up on them.
    pub(crate) fn explain(&self, error: JobError, now: DateTime<Utc>) -> JobError {
        error
            .with("attempts", self.failures)
            .with("first_error", self.first_error.clone())
            .with("first_error_at", json!(self.first_error_at))
            .with("last_error", self.last_error.clone())
            .with("last_error_at", json!(now))
    }
}

/// Sums over all requests of the job, failed ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Model requests.
    pub requests: i64,
    /// Prompt and completion tokens.
    pub tokens: i64,
    /// Cached prompt tokens.
    pub cached_tokens: i64,
    /// Millionths of a US dollar.
    pub cost_microusd: i64,
}
