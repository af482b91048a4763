//! Plans a phase again, or ends a job whose model does not get on.

use super::{
    leave,
    phases::{close_phase, open_phase},
    prepared::prepare_or_ask,
};
use crate::{
    Guards, JobError, JobExit, MessageKind, NextPhase, Opening, PhaseOutcome, Run, phase::opening::resume_nudge,
};
use chrono::{DateTime, Utc};

/// The job fails because of the model's behaviour. A retry continues the phase, resets the counts, and the model is
/// told.
pub(super) fn fail_in_the_middle(run: &mut Run, error: JobError) {
    let state = run.state_mut();
    state.guards = Guards::default();
    state.effects.rework.restart();
    run.say(MessageKind::Nudge, resume_nudge(&error.message));
    leave(run, JobExit::Failed(error));
}

/// Abandons the phase and opens a strategic phase about the reason; unless it was done so often in a row that it does not
/// help: then the job is stuck.
pub(super) fn replan(run: &mut Run, most: u32, issue: &str, now: DateTime<Utc>) {
    let replans = run.state().guards.forced_replans + 1;
    run.state_mut().guards.forced_replans = replans;
    if replans > most {
        let message = format!("the job is stuck: {issue}, and {} re-plannings did not help", replans - 1);
        fail_in_the_middle(run, JobError::new("stuck", message).with("attempts", replans));
        return;
    }
    let note = close_phase(run, PhaseOutcome::Forced, Some(issue));
    open_phase(run, NextPhase::strategic(Opening::Rewound), Some(note), now);
    prepare_or_ask(run, now);
}
