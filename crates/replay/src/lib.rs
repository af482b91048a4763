//! Replay: runs a recorded job with this version, without a model, to find the first difference.
//!
//! ```text
//! rows ──Store::recording──▶ Recording ──▶ for each step: load ▸ next ▸ (answer from the record) ▸ apply ▸ compare
//!                               ▲ ▼
//!                           a file, for CI
//! ```
//!
//! The engine is driven from the first snapshot as in the step loop. External input comes from the recording: the
//! model's answers, pages, searches, graphs, user input. Local tools really run, including document parsing. After each
//! step everything it would have written is compared with the recorded rows: requests, messages, files, todos, phases,
//! citations, requirements, the checkpoint.
//!
//! Each step starts from its rows, as after a restart; so a replay also tests recovery at every step.
//!
//! | question | file |
//! |---|---|
//! | what is in a recording | `recording`, [`plumbline_store::RecordedJob`] |
//! | how is a step done again | `step`, `tools`, `carried` |
//! | what counts as different | `compare`, `difference`, `digest` |
//! | in place of the database | `memory_job` |
//! | which settings has a step | `settings` |
//!
//! # Bounds
//! A fork has no first step of its own. A validator job's view of other jobs' requirements, the data that a job carries
//! over from an earlier one, and tool results that depend on the ranked index are taken from the recording.

mod carried;
mod compare;
mod difference;
mod digest;
mod memory_job;
mod recording;
mod replayed;
mod settings;
mod step;
mod tools;

pub use difference::Difference;
pub use digest::RequestDigest;
pub use recording::{RECORDING_VERSION, Recording};

use memory_job::MemoryJob;
use plumbline_config::{ConfigRegistry, ModelEnv, Resolved, RuleViolation};
use plumbline_documents::{Parser, candidates::Scan};
use plumbline_engine::JobExit;
use plumbline_job_setup::{inspection, record_defaults, scan};
use plumbline_store::{RecordedJob, RecordedStep};
use plumbline_tools::{Inspection, RecordDefaults, ToolRunner};
use replayed::{ReplayedStep, Stop};
use serde_json::Value;
use settings::SettingsBySteps;
use std::path::Path;

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Steps without a difference.
    pub steps: usize,
    /// Model requests among them.
    pub requests: usize,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Why a recording cannot be replayed at all; a sentence for a user.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The job has no recordable steps, or the recording does not start at the first one.
    #[error("{0}")]
    NoBeginning(String),
    /// The recording cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The recording contradicts itself.
    #[error("the recording contradicts itself at step {step}: {reason}")]
    Contradiction {
        /// Where.
        step: i64,
        /// How.
        reason: String,
    },
}

/// Shared data of all steps of a replay.
pub(crate) struct ReplayContext<'a> {
    recording: &'a Recording,
    resolved: Resolved,
    settings: SettingsBySteps,
    runner: ToolRunner,
    inspection: Inspection,
    scan: Scan,
    record_defaults: RecordDefaults,
    /// The job's configuration, if another one is tried.
    had: Option<RequestInputs>,
}

/// The inputs of a job's requests.
struct RequestInputs {
    resolved: Resolved,
    settings: SettingsBySteps,
}

/// Another configuration for a recorded job.
#[derive(Clone, Copy, Debug)]
pub struct OtherConfig<'a> {
    /// The files.
    pub configs: &'a ConfigRegistry,
    /// The environment, which fills missing values; values missing there too are those of the job.
    pub env: &'a ModelEnv,
}

/// Replays a recorded job. `program` is this program, for its parser child.
///
/// # Errors
/// [`ReplayError`] if the recording cannot be replayed; a difference is not an error.
pub async fn replay(recording: &Recording, program: &Path) -> Result<Replayed, ReplayError> {
    run(recording, program, None, |_, _| {}).await
}

/// The same with another configuration: the difference is the first request that would differ, or any other difference.
///
/// # Errors
/// As [`replay`], and if the configuration does not validate.
pub async fn replay_under(
    recording: &Recording,
    program: &Path,
    tried: OtherConfig<'_>,
) -> Result<Replayed, ReplayError> {
    run(recording, program, Some(tried), |_, _| {}).await
}

/// Adds digests of its requests to a recording, so that a later replay notices differences. Only possible if this
/// version replays the recording without a difference; otherwise the difference is returned and nothing is added.
///
/// # Errors
/// As [`replay`].
pub async fn add_digests(recording: &mut Recording, program: &Path) -> Result<Replayed, ReplayError> {
    let mut digests = std::collections::BTreeMap::new();
    let replayed = run(recording, program, None, |step, digest| drop(digests.insert(step, digest))).await?;
    if replayed.difference.is_none() {
        recording.requests = digests;
    }
    Ok(replayed)
}

async fn run(
    recording: &Recording,
    program: &Path,
    tried: Option<OtherConfig<'_>>,
    mut asked: impl FnMut(i64, RequestDigest),
) -> Result<Replayed, ReplayError> {
    // An error would mean that loading the tokenizer panicked; the first count then reports it.
    let _ = plumbline_bounds::blocking::unbounded(plumbline_tokens::load).await;
    let bench = ReplayContext::new(recording, program, tried)?;
    let mut rows = MemoryJob::new(&recording.job);
    let mut replayed = Replayed { steps: 0, requests: 0, difference: None };
    let mut left = None;
    for step in &recording.job.steps {
        if is_only_a_leave(&recording.job, step) {
            replayed.steps += 1;
            continue;
        }
        match bench.redo(&rows, step).await? {
            Err(difference) => {
                replayed.difference = Some(difference);
                return Ok(replayed);
            }
            Ok(redone) => {
                rows.commit(&redone);
                left = redone.left;
                replayed.requests += usize::from(redone.request.is_some());
                if let Some(request) = redone.request {
                    asked(step.step, request);
                }
            }
        }
        replayed.steps += 1;
    }
    replayed.difference = ending(recording, left.as_ref());
    Ok(replayed)
}

impl<'a> ReplayContext<'a> {
    fn new(recording: &'a Recording, program: &Path, tried: Option<OtherConfig<'_>>) -> Result<Self, ReplayError> {
        let job = &recording.job;
        if let Some(step) = job.forked_step {
            return Err(ReplayError::NoBeginning(format!(
                "job {} is a fork from step {step} of another job and has no beginning of its own: replay the job it \
                 comes from",
                job.id
            )));
        }
        let Some(stored) = &job.settings else {
            return Err(ReplayError::NoBeginning(format!(
                "job {} has not taken a step yet, so there is nothing to replay",
                job.id
            )));
        };
        let resolved = settings::of_job(job, stored)?;
        let by_steps = SettingsBySteps::of_job(job, &resolved)?;
        let now = tried.map(|tried| tried.of(job, &resolved)).transpose()?;
        let (resolved, settings, had) = match now {
            None => (resolved, by_steps, None),
            Some(now) => {
                let all_steps = SettingsBySteps::of_all_steps(job, &now)?;
                (now, all_steps, Some(RequestInputs { settings: by_steps, resolved }))
            }
        };
        let unreadable = |error: RuleViolation| ReplayError::Unreadable(error.message);
        let inspection = inspection(&resolved.config).map_err(unreadable)?;
        let scan = scan(&resolved.config).map_err(unreadable)?;
        let record_defaults = record_defaults(&resolved.config).map_err(unreadable)?;
        let runner = ToolRunner::new(Parser::new(program));
        Ok(Self { recording, resolved, settings, runner, inspection, scan, record_defaults, had })
    }

    /// A replayed step, or its difference.
    async fn redo(
        &self,
        rows: &MemoryJob,
        step: &RecordedStep,
    ) -> Result<Result<ReplayedStep, Difference>, ReplayError> {
        match self.redo_step(rows, step).await {
            Ok(redone) => Ok(compare::step(self, rows, step, &redone).map_or(Ok(redone), Err)),
            Err(Stop::Differs(difference)) => Ok(Err(difference)),
            Err(Stop::Broken(reason)) => Err(ReplayError::Contradiction { step: step.step, reason }),
        }
    }
}

impl OtherConfig<'_> {
    /// The configuration that the job would get.
    fn of(&self, job: &RecordedJob, had: &Resolved) -> Result<Resolved, ReplayError> {
        let mut env = self.env.clone();
        env.model = env.model.or_else(|| had.config.llm.model.clone());
        env.base_url = env.base_url.or_else(|| had.config.llm.base_url.clone());
        let now = self.configs.show(&job.job_type, &job.config, &env);
        settings::raised(job, now.map_err(|error| ReplayError::Unreadable(error.to_string()))?)
    }
}

/// A step in which the job only left its worker: a budget that was still used up, a refusal, also of its input, whose
/// only file is `error.md`. A dispatch alone, or a call that was asked for again, does not count as such.
fn is_only_a_leave(job: &RecordedJob, step: &RecordedStep) -> bool {
    let state = |pointer| step.state.as_ref().and_then(|state| state.pointer(pointer));
    let before_input = state("/stage/at").is_some_and(|at| at == "intake");
    state("/stage/calls/dispatched").is_none()
        && job.approvals.iter().all(|row| row.step != step.step)
        && step.requests.is_empty()
        && step.messages.is_empty()
        && step.files.keys().all(|path| before_input && path == "error.md")
        && step.effects.is_empty()
}

/// Compares the job's end. A job that is running, cancelled or failed outside the engine does not show how the engine
/// would end it.
fn ending(recording: &Recording, left: Option<&JobExit>) -> Option<Difference> {
    let job = &recording.job;
    let now = match left {
        Some(JobExit::Completed { .. }) => "completed",
        Some(JobExit::Review { .. } | JobExit::AwaitsDecision { .. }) => "review",
        Some(JobExit::Failed(_)) => "failed",
        Some(JobExit::Paused { .. } | JobExit::Parked { .. }) | None => "going on",
    };
    let fits = match job.status.as_str() {
        "completed" => matches!(now, "completed" | "review"),
        "review" => now == "review",
        "failed" => !matches!(now, "completed" | "review"),
        // It may have been in review before it was cancelled or told to go on.
        _ => now != "completed",
    };
    let last = job.steps.last().map_or(0, |step| step.step);
    (!fits).then(|| Difference::new(last, "the job's ending", &job.status, now))
}

/// A value's text for a readable comparison.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
