//! Which phase follows.

use crate::{Opening, PhaseKind, Run};
use serde::{Deserialize, Serialize};

/// The phase to open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextPhase {
    /// Strategic or tactical.
    pub kind: PhaseKind,
    /// Why it is opened.
    pub opening: Opening,
    /// Why the last phase was abandoned, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// Why the job failed, if it did: then the phase is for a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl NextPhase {
    pub(crate) fn strategic(opening: Opening) -> Self {
        Self { kind: PhaseKind::Strategic, opening, issue: None, failed: None }
    }

    /// The tactical phase whose todos have been written, if any.
    pub(crate) fn tactical(run: &Run) -> Option<Self> {
        let fewest = run.settings().phases.min_todos;
        let ready = run.state().staged.is_some() && run.todos().staged().len() >= fewest.max(1);
        ready.then_some(Self { kind: PhaseKind::Tactical, opening: Opening::Work, issue: None, failed: None })
    }

    /// The phase after a completed tactical phase: the final review, once as many phases have been completed as the
    /// plan has, and again after each phase that it adds. It lists the unticked steps. Only the completion gate decides
    /// whether the job ends.
    pub(crate) fn after_tactical(run: &Run) -> Self {
        let planned = run.workspace().plan();
        let completed = run.state().phase.completed + 1;
        let is_last = !planned.is_empty() && completed >= planned.len() as i32;
        Self::strategic(if is_last { Opening::Final } else { Opening::Transition })
    }
}
