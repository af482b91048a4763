//! The fates of a call, and its answer.

use crate::{AskedCall, Check};
use std::fmt::Display;

/// Maximum calls of one answer that are executed; the others are answered with an error.
pub(crate) const MAX_CALLS: usize = 64;

/// The fate of a call.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It fails with this sentence.
    Refused(String),
    /// It is not executed, which is not a failure: an earlier call has ended its phase or job.
    Skipped(String),
    /// The engine executes it, after a check by the outside if there is one.
    Engine {
        /// The check.
        check: Option<Check>,
    },
    /// The outside executes it.
    Outside,
    /// Its approval is requested: people decide on it.
    Asked(Box<AskedCall>),
    /// It waits, with all calls after it, for the next phase.
    Held,
}

/// The answer to a call.
pub(super) struct Answered {
    pub(super) content: String,
    pub(super) failed: bool,
    /// Whether the call has changed something.
    pub(super) progress: bool,
    /// Whether it has only read.
    pub(super) looked: bool,
}

impl Answered {
    pub(super) fn failed(why: &str) -> Self {
        Self { content: format!("Error: {why}"), failed: true, progress: false, looked: false }
    }
}

/// The answer to a call that reaches beyond a job which has read untrusted text.
pub(super) const DENIED: &str = "refused: this job has read text from outside (documents, pages, other tools), and since then no call may reach \
                      beyond it. Do without this call, or name what needs it in 'undelivered'.";
/// The answer to a call that must not be repeated and was in flight when a worker stopped.
pub(super) const UNKNOWN: &str = "interrupted, outcome unknown: the worker stopped while this call was in flight. Check what it did \
                       before you call it again.";

/// The answer to a call beyond that bound.
pub(super) fn too_many() -> String {
    format!("not carried out: at most {MAX_CALLS} calls in one answer; make the others in the next.")
}

/// The text about an answer that was cut off at this limit, after this many executed calls. `most`: the limit of the
/// next answer.
pub(super) fn cut_off(cap: impl Display, done: usize, most: u32) -> String {
    let was = match done {
        0 => "nothing in it was carried out".to_string(),
        1 => "the call before this one was carried out, this one was not: send it again, and what was to follow"
            .to_string(),
        _ => format!(
            "the {done} calls before this one were carried out, this one was not: send it again, and what was to follow"
        ),
    };
    format!(
        "Your answer was cut off at the limit of {cap} tokens; {was}. An answer may now hold {most} tokens. Split the work: write long files \
         in several parts, each well below that."
    )
}
