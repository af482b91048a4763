//! User feedback: added verbatim at the next boundary, never between a call and its result.

use crate::{
    Change, Feedback, MessageKind, Opening, PhaseOutcome, Run, Stage,
    phase::{NextPhase, archive::Archive},
};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn feedback_received(&mut self, feedback: Vec<Feedback>, now: DateTime<Utc>) {
        let known: Vec<i64> = self.feedback.iter().map(|f| f.id).collect();
        self.feedback.extend(feedback.into_iter().filter(|f| !known.contains(&f.id)));
        match self.state.stage {
            Stage::Model if !self.feedback.is_empty() => self.ready_for_model(now),
            Stage::Review { .. } if !self.feedback.is_empty() => self.reopen(now),
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
    fn reopen(&mut self, now: DateTime<Utc>) {
        (self.state.guards.rewinds, self.state.guards.recovering) = (0, false);
        let outcome = PhaseOutcome::Completed.as_str();
        let note = Archive::of(&self.state.phase, &self.todos, outcome, None).render();
        self.open_phase(NextPhase::strategic(Opening::Feedback), Some(note), now);
        self.prepare_or_ask(now);
    }

    /// Moves waiting feedback into the conversation.
    pub(super) fn take_feedback(&mut self, _now: DateTime<Utc>) {
        if self.feedback.is_empty() {
            return;
        }
        let taken = std::mem::take(&mut self.feedback);
        for feedback in &taken {
            let text = format!("Feedback from the user:\n\n{}", feedback.text);
            self.conversation.say(&mut self.step, MessageKind::Feedback, text);
        }
        self.step.push(Change::FeedbackTaken(taken.iter().map(|f| f.id).collect()));
    }
}
