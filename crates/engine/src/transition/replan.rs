//! Plans a phase again, or ends a job whose model does not get on.

use super::prepared::prepare_or_ask;
use crate::{
    JobError, JobExit, MessageKind, Opening, PhaseOutcome, Run,
    guardrail::loop_detection::MAX_FORCED_REPLANS,
    phase::{
        NextPhase,
        opening::resume_nudge,
        transition::{close_phase, open_phase},
    },
};
use chrono::{DateTime, Utc};

/// The job fails because of the model's behaviour. A retry continues the phase, resets the counts, and the model is
/// told.
pub(super) fn fail_in_the_middle(run: &mut Run, error: JobError) {
    run.state.guards = crate::Guards::default();
    run.conversation.say(&mut run.step, MessageKind::Nudge, resume_nudge(&error.message));
    run.leave(JobExit::Failed(error));
}

/// Abandons the phase and opens a strategic phase about the reason.
pub(crate) fn replan(run: &mut Run, issue: &str, now: DateTime<Utc>) {
    replan_at_most(run, MAX_FORCED_REPLANS, issue, now);
}

/// The same, unless it was done so often in a row that it does not help: then the job is stuck.
pub(crate) fn replan_at_most(run: &mut Run, most: u32, issue: &str, now: DateTime<Utc>) {
    run.state.guards.forced_replans += 1;
    let replans = run.state.guards.forced_replans;
    if replans > most {
        let message = format!("the job is stuck: {issue}, and {} re-plannings did not help", replans - 1);
        fail_in_the_middle(run, JobError::new("stuck", message).with("attempts", replans));
        return;
    }
    let note = close_phase(run, PhaseOutcome::Forced, Some(issue));
    open_phase(run, NextPhase::strategic(Opening::Rewound), Some(note), now);
    prepare_or_ask(run, now);
}
