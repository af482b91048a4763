//! User feedback: added verbatim at the next boundary, never between a call and its result.

use super::{phases::open_phase, prepared::prepare_or_ask, ready_for_model};
use crate::{
    Change, Feedback, MessageKind, Opening, PhaseOutcome, Run, Stage,
    phase::{NextPhase, archive::Archive},
};
use chrono::{DateTime, Utc};

pub(super) fn received(run: &mut Run, feedback: Vec<Feedback>, now: DateTime<Utc>) {
    let waiting = run.feedback_mut();
    let known: Vec<i64> = waiting.iter().map(|f| f.id).collect();
    waiting.extend(feedback.into_iter().filter(|f| !known.contains(&f.id)));
    match run.state().stage {
        Stage::Model if run.feedback_waiting() => ready_for_model(run, now),
        // Feedback on finished work opens a strategic phase about it. The previous phase was closed with the job, and is
        // not closed twice.
        Stage::Review { .. } if run.feedback_waiting() => {
            run.state_mut().guards.forget_rewinds();
            let outcome = PhaseOutcome::Completed.as_str();
            let note = Archive::of(&run.state().phase, run.todos(), outcome, None).render();
            open_phase(run, NextPhase::strategic(Opening::Feedback), Some(note), now);
            prepare_or_ask(run, now);
        }
        // Without feedback there is nothing to do; at the other stages it waits for the next boundary.
        Stage::Intake
        | Stage::Prepare { .. }
        | Stage::Model
        | Stage::Tools { .. }
        | Stage::Summary { .. }
        | Stage::Review { .. } => {}
    }
}

/// Moves waiting feedback into the conversation.
pub(super) fn take(run: &mut Run) {
    let waiting = std::mem::take(run.feedback_mut());
    if waiting.is_empty() {
        return;
    }
    for feedback in &waiting {
        run.say(MessageKind::Feedback, format!("Feedback from the user:\n\n{}", feedback.text));
    }
    run.push(Change::FeedbackTaken(waiting.iter().map(|taken| taken.id).collect()));
}
