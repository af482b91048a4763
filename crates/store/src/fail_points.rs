//! Fail-points: the boundaries of a step, at each of which a test can make the process crash, fail or wait.
//!
//! They exist only in debug builds, so that everyday tests can use them without a separate build; in a release build
//! [`reach`] does nothing. They are here, not in the worker, because the innermost ones are inside the commit.
//!
//! A point is armed by its name and the part of the job in which it is reached, to act once:
//!
//! ```text
//! PLUMBLINE_FAIL_POINTS="fenced/tactical=crash@3"                 the third time, the process sends itself SIGKILL
//! PLUMBLINE_FAIL_POINTS="before_model/strategic=error"            the first time, as if the database had gone away
//! PLUMBLINE_FAIL_POINTS="after_mirror/completion=delay:1500"      1.5 seconds pass
//! PLUMBLINE_FAIL_POINTS="applied/tactical=block:1500"             the same, and the thread does nothing else meanwhile
//! ```
//!
//! `PLUMBLINE_FAIL_POINT_TRACE` names a file to which every point reached is appended, a line each. A test that runs
//! one undisturbed job with it knows all points, so that a new one is covered as soon as it is added.

#[cfg(debug_assertions)]
mod armed;

use crate::Error;
use plumbline_engine::{Opening, Stage, State};
use strum::{IntoStaticStr, VariantArray};

/// A boundary of a step, in the order in which a job reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Point {
    /// The job is claimed; none of its rows are loaded.
    Claimed,
    /// The run is rebuilt from its rows.
    Loaded,
    /// The job's documents are imported; nothing is committed.
    IntakeDone,
    /// The request to the model is about to be sent.
    BeforeModel,
    /// The model has answered; the answer is only in memory.
    AfterModel,
    /// Tools are about to run.
    BeforeTools,
    /// A document is about to be parsed, in a separate process.
    BeforeExtraction,
    /// Tools have run.
    AfterTools,
    /// The engine has applied the outcome.
    Applied,
    /// A step is about to be written.
    BeforeCommit,
    /// Inside the transaction: the job's row is locked and advanced.
    Fenced,
    /// Inside the transaction: everything is written except COMMIT.
    Written,
    /// COMMIT is done and its answer not processed.
    Committed,
    /// The step is durable and the mirror does not show it.
    BeforeMirror,
    /// The mirror shows the step.
    AfterMirror,
    /// The job is about to be released.
    Releasing,
}

impl Point {
    /// All points, in order.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Its name in `PLUMBLINE_FAIL_POINTS`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The parts of a job: those of [`part`], the claim, and the release of a job whose effect was dropped.
#[cfg(debug_assertions)]
const PARTS: [&str; 10] = [
    "claim",
    "intake",
    "compaction",
    "strategic",
    "tactical",
    "transition",
    "completion",
    "rewound",
    "feedback",
    "abandoned",
];

/// The part of a job that a state belongs to: the second dimension of the sweep, besides the point.
pub fn part(state: &State) -> &'static str {
    match (&state.stage, state.phase.opening) {
        (Stage::Intake, _) => "intake",
        (Stage::Summary { .. }, _) => "compaction",
        (_, Opening::Initial) => "strategic",
        (_, Opening::Work) => "tactical",
        (_, Opening::Transition) => "transition",
        (_, Opening::Final) => "completion",
        (_, Opening::Rewound) => "rewound",
        (_, Opening::Feedback) => "feedback",
    }
}

/// A point is reached: no effect in a release build.
///
/// # Errors
/// None; in a debug build, only those that a test armed.
#[cfg(not(debug_assertions))]
#[inline]
pub async fn reach(_point: Point, _part: &str) -> Result<(), Error> {
    Ok(())
}

/// A point is reached: kills the process, returns an error, or waits, if a test armed it.
///
/// # Errors
/// The error that a test armed; a transient one.
///
/// Ends the process with exit code 2 if the environment names an unknown place or action.
#[cfg(debug_assertions)]
pub async fn reach(point: Point, part: &str) -> Result<(), Error> {
    armed::pass(&format!("{}/{part}", point.name())).await
}
