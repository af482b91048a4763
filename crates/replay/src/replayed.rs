//! The result of a replayed step.

use super::{Difference, RequestDigest};
use plumbline_engine::{Change, JobExit, State};

/// The result of a step.
#[derive(Debug)]
pub(crate) struct ReplayedStep {
    pub(crate) step: i64,
    pub(crate) lease_epoch: i64,
    pub(crate) changes: Vec<Change>,
    pub(crate) state: State,
    pub(crate) left: Option<JobExit>,
    pub(crate) request: Option<RequestDigest>,
}

/// Why a step cannot be completed.
pub(crate) enum Stop {
    /// Its request differs from the recording.
    Differs(Difference),
    /// The engine refuses the recorded outcome.
    Broken(String),
}
