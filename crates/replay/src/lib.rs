//! Replay: a recorded job done again by this version, without a model, to find the first thing that comes out
//! different.
//!
//! ```text
//! rows ──Store::recording──▶ Recording ──▶ for each step: load ▸ next ▸ (answer from the record) ▸ apply ▸ compare
//!                               ▲ ▼
//!                           a file, for CI
//! ```
//!
//! The engine is driven from the first snapshot as the step loop drives it. What came from outside is answered from the
//! record: the model's answers, pages, searches, graphs, what the user gave. Local tools are really run, document
//! parsing included. After each step everything it would have written is compared with what was written: requests,
//! messages, files, todos, phases, citations, requirements, the checkpoint.
//!
//! Each step begins from its rows, as after a restart; so a replay is also a test of recovery at every step.
//!
//! | question | file |
//! |---|---|
//! | what is in a recording | `recording`, [`plumbline_store::RecordedJob`] |
//! | how is a step done again | `step`, `tools`, `carried` |
//! | what counts as different | `compare`, `difference`, `digest` |
//! | what stands for the database | `memory_job` |
//!
//! # Bounds
//! A fork has no first step of its own, and what a validator job sees of other jobs' requirements is answered from its
//! record without the rows behind it, as is what a job carries over from an earlier one. Tool results that depend on the
//! ranked index are answered from the record too.

mod carried;
mod compare;
mod difference;
mod digest;
mod memory_job;
mod recording;
mod step;
mod tools;

pub use difference::Difference;
pub use digest::RequestDigest;
pub use recording::{RECORDING_VERSION, Recording};

use memory_job::MemoryJob;
use plumbline_config::{ConfigRegistry, ModelEnv, Resolved};
use plumbline_documents::{Parser, candidates::Scan};
use plumbline_engine::{JobExit, Settings};
use plumbline_store::{RecordedJob, RecordedStep};
use plumbline_tools::{Inspection, RecordDefaults, ToolRunner};
use serde_json::Value;
use std::{collections::BTreeSet, path::Path, sync::Arc};
use step::{ReplayedStep, Stop};

/// What a replay found.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Steps that came out as recorded.
    pub steps: usize,
    /// Model requests among them.
    pub requests: usize,
    /// The first thing that came out different, if anything did.
    pub difference: Option<Difference>,
}

/// Why a recording cannot be replayed at all; a sentence for a user.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The job did not get as far as to be recorded, or began in the middle.
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

/// What all steps of a replay share.
pub(crate) struct ReplayContext<'a> {
    recording: &'a Recording,
    resolved: Resolved,
    settings: Arc<Settings>,
    runner: ToolRunner,
    inspection: Inspection,
    scan: Scan,
    record_defaults: RecordDefaults,
    /// The configuration that the job had, where another is tried.
    had: Option<Had>,
}

/// What a job's requests were made with.
struct Had {
    resolved: Resolved,
    settings: Arc<Settings>,
}

/// Another configuration for a recorded job.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// The files.
    pub configs: &'a ConfigRegistry,
    /// The environment, which fills what they leave open; what it leaves open too stays what the job had.
    pub env: &'a ModelEnv,
}

/// Does a recorded job again. `program` is this program, for its document child.
///
/// # Errors
/// [`ReplayError`] when the recording cannot be replayed; a difference is no error.
pub async fn replay(recording: &Recording, program: &Path) -> Result<Replayed, ReplayError> {
    run(recording, program, None, |_, _| {}).await
}

/// The same under another configuration: the difference is the first request that would be another one, or whatever else
/// would come out otherwise.
///
/// # Errors
/// As [`replay`], and when the configuration does not validate.
pub async fn replay_under(recording: &Recording, program: &Path, tried: Tried<'_>) -> Result<Replayed, ReplayError> {
    run(recording, program, Some(tried), |_, _| {}).await
}

/// Adds to a recording what its requests looked like, so that a later replay notices when they would look different.
/// Only a recording that this very version replays without a difference has such requests; of others the difference is
/// given back and nothing is added.
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
    tried: Option<Tried<'_>>,
    mut asked: impl FnMut(i64, RequestDigest),
) -> Result<Replayed, ReplayError> {
    // An error would mean that loading the tokenizer panicked; the first count then says so.
    let _ = plumbline_bounds::blocking::unbounded(plumbline_tokens::load).await;
    let bench = ReplayContext::new(recording, program, tried)?;
    let mut rows = MemoryJob::new(&recording.job);
    let mut replayed = Replayed { steps: 0, requests: 0, difference: None };
    let mut left = None;
    for step in &recording.job.steps {
        if is_only_a_leave(step) {
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
    fn new(recording: &'a Recording, program: &Path, tried: Option<Tried<'_>>) -> Result<Self, ReplayError> {
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
        let unreadable = |error: &dyn std::fmt::Display| ReplayError::Unreadable(error.to_string());
        let resolved = Resolved::from_stored(stored)
            .and_then(|resolved| resolved.with_limits_of(&job.config))
            .map_err(|error| unreadable(&error))?;
        let raised = job.raised_limits.as_ref().unwrap_or(&Value::Null);
        let raise =
            |resolved: Resolved| resolved.with_raised_limits(raised, &Value::Null).map_err(|error| unreadable(&error));
        let resolved = raise(resolved)?;
        // Whom the operator wanted to be asked may have changed from claim to claim: the rows say who was.
        let asked: BTreeSet<&String> = job.approvals.iter().map(|row| &row.approval.tool).collect();
        let settings = |resolved: &Resolved| {
            let mut settings = resolved.engine_settings(&[]).map_err(|error| unreadable(&error))?;
            settings.approval.asks_for = asked.iter().map(|tool| (*tool).clone()).collect();
            Ok::<_, ReplayError>(Arc::new(settings))
        };
        let now = tried.map(|tried| tried.of(job, &resolved)).transpose()?.map(raise).transpose()?;
        let (resolved, had) = match now {
            None => (resolved, None),
            Some(now) => (now, Some(Had { settings: settings(&resolved)?, resolved })),
        };
        let settings = settings(&resolved)?;
        let inspection = resolved.inspection().map_err(|error| unreadable(&error))?;
        let scan = resolved.scan().map_err(|error| unreadable(&error))?;
        let record_defaults = resolved.record_defaults().map_err(|error| unreadable(&error))?;
        let runner = ToolRunner::new(Parser::new(program));
        Ok(Self { recording, resolved, settings, runner, inspection, scan, record_defaults, had })
    }

    /// A step done again, or where it differs.
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

impl Tried<'_> {
    /// The configuration that the job would have.
    fn of(&self, job: &RecordedJob, had: &Resolved) -> Result<Resolved, ReplayError> {
        let mut env = self.env.clone();
        env.model = env.model.or_else(|| had.config.llm.model.clone());
        env.base_url = env.base_url.or_else(|| had.config.llm.base_url.clone());
        self.configs.show(&job.job_type, &job.config, &env).map_err(|error| ReplayError::Unreadable(error.to_string()))
    }
}

/// A step in which nothing happened but that the job left its worker: a budget that was still used up, a refusal. A dispatch alone
/// is something.
fn is_only_a_leave(step: &RecordedStep) -> bool {
    let dispatched = step.state.as_ref().and_then(|state| state.pointer("/stage/calls/dispatched"));
    dispatched.is_none()
        && step.requests.is_empty()
        && step.messages.is_empty()
        && step.files.is_empty()
        && step.effects.is_empty()
}

/// Whether the job ends as it did. A job that is under way, cancelled or failed by something else than the engine says
/// nothing about how the engine would end it.
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
        _ => !matches!(now, "completed" | "review"),
    };
    let last = job.steps.last().map_or(0, |step| step.step);
    (!fits).then(|| Difference::new(last, "the job's ending", &job.status, now))
}

/// A value's text for a comparison that people read.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
