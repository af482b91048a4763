//! Fail-points: the boundaries of a step, at each of which a test can make the process crash, fail or wait.
//!
//! They exist in builds with the feature `fail-points` only; elsewhere [`reach`] does nothing. They are here, and not in
//! the worker, because the innermost ones lie inside the commit.
//!
//! A point is armed by its name and the part of the job in which it is reached, in the syntax of the crate `fail`:
//!
//! ```text
//! FAILPOINTS="fenced/tactical=2*off->1*return(crash)"          the third time, the process aborts
//! FAILPOINTS="before_model/strategic=1*return(error)"          once, as if the database had gone away
//! FAILPOINTS="after_mirror/completion=1*return(delay:1500)"    once, 1.5 seconds pass
//! ```
//!
//! `PLUMBLINE_FAIL_POINT_TRACE` names a file to which every point reached is appended, a line each. A test that runs
//! one undisturbed job with it knows all places there are, so that a new point is swept from the day it is added.

use crate::Error;
use plumbline_engine::{Opening, Stage, State};

/// A boundary of a step, in the order in which a job passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The job is claimed and nothing of it is read.
    Claimed,
    /// The run is rebuilt from its rows.
    Loaded,
    /// The job's documents are taken in, nothing is committed.
    TakenIn,
    /// The model is about to be asked.
    BeforeModel,
    /// The model has answered, nobody else knows.
    AfterModel,
    /// Tools are about to run.
    BeforeTools,
    /// A document is about to be read, in a process of its own.
    BeforeExtraction,
    /// Tools have run.
    AfterTools,
    /// The engine has taken the outcome in.
    Applied,
    /// A step is about to be written.
    BeforeCommit,
    /// Inside the transaction: the job's row is locked and advanced.
    Fenced,
    /// Inside the transaction: everything is written but COMMIT.
    Written,
    /// COMMIT is done and its answer not used.
    Committed,
    /// The step is durable and the mirror does not show it.
    BeforeMirror,
    /// The mirror shows the step.
    AfterMirror,
    /// The job is about to be given back.
    Releasing,
}

impl Point {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Claimed,
        Self::Loaded,
        Self::TakenIn,
        Self::BeforeModel,
        Self::AfterModel,
        Self::BeforeTools,
        Self::BeforeExtraction,
        Self::AfterTools,
        Self::Applied,
        Self::BeforeCommit,
        Self::Fenced,
        Self::Written,
        Self::Committed,
        Self::BeforeMirror,
        Self::AfterMirror,
        Self::Releasing,
    ];

    /// Its name in `FAILPOINTS`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Loaded => "loaded",
            Self::TakenIn => "taken_in",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::BeforeTools => "before_tools",
            Self::BeforeExtraction => "before_extraction",
            Self::AfterTools => "after_tools",
            Self::Applied => "applied",
            Self::BeforeCommit => "before_commit",
            Self::Fenced => "fenced",
            Self::Written => "written",
            Self::Committed => "committed",
            Self::BeforeMirror => "before_mirror",
            Self::AfterMirror => "after_mirror",
            Self::Releasing => "releasing",
        }
    }
}

/// The part of a job that a state belongs to: what the sweep varies besides the point.
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

/// Reads `FAILPOINTS`; once, before the first point is reached.
#[cfg(feature = "fail-points")]
pub fn arm() {
    // The guard would disarm them all when dropped.
    std::mem::forget(fail::FailScenario::setup());
}

/// A point is reached: nothing happens, unless it is armed.
///
/// # Errors
/// The error that a test asked for; a transient one.
#[cfg(not(feature = "fail-points"))]
#[inline]
pub async fn reach(_point: Point, _part: &str) -> Result<(), Error> {
    Ok(())
}

/// A point is reached: the process aborts, an error comes back, or time passes, where a test asked for it.
///
/// # Errors
/// The error that a test asked for; a transient one.
///
/// # Panics
/// When the test asked for something else.
#[cfg(feature = "fail-points")]
pub async fn reach(point: Point, part: &str) -> Result<(), Error> {
    let place = format!("{}/{part}", point.name());
    trace(&place);
    match armed(&place).as_deref() {
        None => Ok(()),
        Some("crash") => std::process::abort(),
        Some("error") => Err(Error::Database {
            doing: "pass a fail-point",
            source: sqlx::Error::Io(std::io::Error::other(format!("injected at {place}"))),
        }),
        Some(action) => {
            let millis = action.strip_prefix("delay:").and_then(|millis| millis.parse().ok());
            let millis = millis.unwrap_or_else(|| panic!("FAILPOINTS asks for `{action}` at {place}"));
            tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
            Ok(())
        }
    }
}

#[cfg(feature = "fail-points")]
fn armed(place: &str) -> Option<String> {
    fail::fail_point!(place, |action| action);
    None
}

#[cfg(feature = "fail-points")]
fn trace(place: &str) {
    use std::io::Write as _;
    let Some(path) = std::env::var_os("PLUMBLINE_FAIL_POINT_TRACE") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{place}\n").as_bytes())).expect("the trace's file can be written");
}

#[cfg(test)]
mod tests {
    use super::Point;

    #[test]
    fn every_point_has_a_name_of_its_own() {
        let mut names: Vec<&str> = Point::ALL.iter().map(|point| point.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Point::ALL.len());
    }
}
