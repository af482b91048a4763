//! User feedback: added verbatim at the next boundary, never between a call and its result.

use super::prepared::prepare_or_ask;
use crate::{
    Change, Feedback, MessageKind, Opening, PhaseOutcome, Run, Stage,
    conversation::Conversation,
    phase::{NextPhase, archive::Archive, transition::open_phase},
    run::Step,
};
use chrono::{DateTime, Utc};

pub(super) fn received(run: &mut Run, feedback: Vec<Feedback>, now: DateTime<Utc>) {
    let known: Vec<i64> = run.feedback.iter().map(|f| f.id).collect();
    run.feedback.extend(feedback.into_iter().filter(|f| !known.contains(&f.id)));
    match run.state.stage {
        Stage::Model if !run.feedback.is_empty() => run.ready_for_model(now),
        Stage::Review { .. } if !run.feedback.is_empty() => reopen(run, now),
        // Without feedback there is nothing to do; at the other stages it waits for the next boundary.
        Stage::Intake
        | Stage::Prepare { .. }
        | Stage::Model
        | Stage::Tools { .. }
        | Stage::Summary { .. }
        | Stage::Review { .. } => {}
    }
}

/// Feedback on finished work opens a strategic phase about it. The previous phase was closed with the job, and is
/// not closed twice (lesson 22).
fn reopen(run: &mut Run, now: DateTime<Utc>) {
    (run.state.guards.rewinds, run.state.guards.recovering) = (0, false);
    let outcome = PhaseOutcome::Completed.as_str();
    let note = Archive::of(&run.state.phase, &run.todos, outcome, None).render();
    open_phase(run, NextPhase::strategic(Opening::Feedback), Some(note), now);
    prepare_or_ask(run, now);
}

/// Moves waiting feedback into the conversation.
pub(super) fn take(feedback: &mut Vec<Feedback>, conversation: &mut Conversation, step: &mut Step) {
    if feedback.is_empty() {
        return;
    }
    for feedback in feedback.iter() {
        let text = format!("Feedback from the user:\n\n{}", feedback.text);
        conversation.say(step, MessageKind::Feedback, text);
    }
    step.push(Change::FeedbackTaken(feedback.drain(..).map(|taken| taken.id).collect()));
}
