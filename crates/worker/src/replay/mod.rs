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
//! | how is a step done again | `step`, `tools` |
//! | what was not recorded and must be guessed | `guess` |
//! | what counts as different | `compare`, `difference`, `digest` |
//! | what stands for the database | `rows` |
//!
//! # Bounds
//! A fork has no first step of its own, and what a validator job sees of other jobs' requirements is answered from its
//! record without the rows behind it. Tool results that depend on the ranked index are answered from the record too.

mod compare;
mod difference;
mod digest;
mod guess;
mod recording;
mod rows;
mod step;
mod tools;

pub use difference::Difference;
pub use digest::RequestDigest;
pub use recording::{RECORDING_VERSION, Recording};

use crate::config::Resolved;
use guess::Guess;
use plumbline_effects::{documents::Parser, tokens, tools::Toolbox};
use plumbline_engine::{Leave, Settings};
use plumbline_store::RecordedStep;
use rows::Rows;
use serde_json::Value;
use std::{path::Path, sync::Arc};
use step::{Redone, Stop};

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
pub(crate) struct Bench<'a> {
    recording: &'a Recording,
    resolved: Resolved,
    settings: Arc<Settings>,
    toolbox: Toolbox,
}

/// Does a recorded job again. `program` is this program, for its document child.
///
/// # Errors
/// [`ReplayError`] when the recording cannot be replayed; a difference is no error.
pub async fn replay(recording: &Recording, program: &Path) -> Result<Replayed, ReplayError> {
    run(recording, program, |_, _| {}).await
}

/// Adds to a recording what its requests looked like, so that a later replay notices when they would look different.
/// Only a recording that this very version replays without a difference has such requests; of others the difference is
/// given back and nothing is added.
///
/// # Errors
/// As [`replay`].
pub async fn add_digests(recording: &mut Recording, program: &Path) -> Result<Replayed, ReplayError> {
    let mut digests = std::collections::BTreeMap::new();
    let replayed = run(recording, program, |step, digest| drop(digests.insert(step, digest))).await?;
    if replayed.difference.is_none() {
        recording.requests = digests;
    }
    Ok(replayed)
}

async fn run(
    recording: &Recording,
    program: &Path,
    mut asked: impl FnMut(i64, RequestDigest),
) -> Result<Replayed, ReplayError> {
    // An error would mean that loading the tokenizer panicked; the first count then says so.
    let _ = tokio::task::spawn_blocking(tokens::warm).await;
    let bench = Bench::new(recording, program)?;
    let mut rows = Rows::new(&recording.job);
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

impl<'a> Bench<'a> {
    fn new(recording: &'a Recording, program: &Path) -> Result<Self, ReplayError> {
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
        let settings = Arc::new(crate::job::engine_settings(&resolved).map_err(|error| unreadable(&error))?);
        let toolbox = Toolbox::new(Parser::new(program));
        Ok(Self { recording, resolved, settings, toolbox })
    }

    /// A step done again: under the likeliest guess at what was not recorded, and under the others only if that gives a
    /// difference. The likeliest one's difference is the one reported.
    async fn redo(&self, rows: &Rows, step: &RecordedStep) -> Result<Result<Redone, Difference>, ReplayError> {
        let mut first = None;
        for guess in Guess::all(step) {
            let difference = match self.try_step(rows, step, *guess).await {
                Ok(redone) => match compare::step(self, rows, step, &redone) {
                    None => return Ok(Ok(redone)),
                    Some(difference) => difference,
                },
                Err(Stop::Differs(difference)) => difference,
                Err(Stop::Broken(reason)) => return Err(ReplayError::Contradiction { step: step.step, reason }),
            };
            first.get_or_insert(difference);
        }
        let nothing = || Difference::new(step.step, "the step", "", "");
        Ok(Err(first.unwrap_or_else(nothing)))
    }
}

/// A step in which nothing happened but that the job left its worker: a budget that was still used up, a refusal.
fn is_only_a_leave(step: &RecordedStep) -> bool {
    step.requests.is_empty() && step.messages.is_empty() && step.files.is_empty() && step.effects.is_empty()
}

/// Whether the job ends as it did. A job that is under way, cancelled or failed by something else than the engine says
/// nothing about how the engine would end it.
fn ending(recording: &Recording, left: Option<&Leave>) -> Option<Difference> {
    let job = &recording.job;
    let now = match left {
        Some(Leave::Completed { .. }) => "completed",
        Some(Leave::Review { .. }) => "review",
        Some(Leave::Failed(_)) => "failed",
        Some(Leave::Paused { .. } | Leave::Parked { .. }) | None => "going on",
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
