//! Continues after the calls of an answer: with the next request, the end of the phase, or the end of the job.

use crate::{
    Autonomy, JobError, JobExit, NextPhase, PhaseOutcome, Run, Stage,
    run::{AnswerCalls, CallProgress},
};
use chrono::{DateTime, Utc};
use serde_json::json;

impl Run {
    pub(super) fn after_calls(&mut self, now: DateTime<Utc>) {
        let (exit, broken) = (self.calls.exit.take(), self.calls.broken.take());
        // The calls are answered, whether the job continues or ends: a retry must not run them again.
        let Stage::Tools { message_seq, calls } = std::mem::replace(&mut self.state.stage, Stage::Model) else {
            return;
        };
        if !calls.loading.is_empty() {
            // Only now, because it was decided when the answer arrived which of its calls run outside.
            self.state.load_tools(calls.loading.clone());
            self.conversation.count_tools(&self.state.loaded_tools);
        }
        if let Some((tool, why)) = broken {
            self.calls = AnswerCalls::default();
            return self.stop_for(&tool, &why);
        }
        self.state.guards.idle_turns = match (calls.progress, calls.held.is_empty()) {
            (true, _) => 0,
            (false, true) => self.state.guards.idle_turns + 1,
            // Calls executed on behalf of the last phase are not a turn of this one.
            (false, false) => self.state.guards.idle_turns,
        };
        match exit {
            Some(exit) => self.end_job(exit, now),
            None if calls.end.is_some() => self.end_phase(message_seq, calls, now),
            None => self.continue_after_calls(calls, now),
        }
    }

    fn continue_after_calls(&mut self, calls: CallProgress, now: DateTime<Utc>) {
        self.calls = AnswerCalls::default();
        if !calls.held.is_empty() {
            self.push_left_out_calls();
        }
        match calls.stuck.or_else(|| self.state.guards.idle_too_long(self.settings.limits.turns_without_progress)) {
            Some(issue) => self.replan(&issue, now),
            None => self.prepare_or_ask(now),
        }
    }

    fn end_job(&mut self, exit: JobExit, now: DateTime<Utc>) {
        self.calls = AnswerCalls::default();
        let exit = match exit {
            JobExit::Failed(error) => return self.fail_at_the_end(error, now),
            other => other,
        };
        if matches!(exit, JobExit::Completed { .. } | JobExit::Review { .. }) {
            self.close_phase(PhaseOutcome::Completed, None);
        }
        // A completed job keeps the review stage: user feedback that arrived while it ended reopens it.
        if let JobExit::Review { result, .. } | JobExit::Completed { result } = &exit {
            self.state.stage = Stage::Review { result: result.clone() };
        }
        self.leave(exit);
    }

    /// `limits.on_tool_failure: stop`. The calls are answered, and a retry continues from there.
    fn stop_for(&mut self, tool: &str, why: &str) {
        let why = why.trim_start_matches("Error: ");
        let error = JobError::new("tool", format!("{tool} failed and was not to be gone on without: {why}"))
            .with("tool", tool)
            .with("last_error", why);
        self.leave(JobExit::Failed(error));
    }

    pub(super) fn advance_phase(&mut self, next: NextPhase, now: DateTime<Utc>) {
        let outcome = if next.issue.is_some() { PhaseOutcome::Rewound } else { PhaseOutcome::Completed };
        let (guards, phase) = (&mut self.state.guards, &mut self.state.phase);
        if guards.note_ended_phase(outcome, phase.kind) {
            phase.completed += 1;
            if self.state.effects.so_far(&self.ledger) == 0 {
                guards.note_phase_without_effect(self.todos.contents());
            }
        }
        let note = self.close_phase(outcome, next.issue.as_deref());
        let (guards, planned) = (&mut self.state.guards, self.state.phase.planned);
        let without_progress = guards.ends_without_progress().map(|reason| ("no_progress", reason));
        let end = without_progress.or_else(|| guards.is_stuck(planned).map(|reason| ("stuck", reason)));
        match (end, self.settings.autonomy) {
            (None, _) => self.open_phase(next, Some(note), now),
            (Some((_, reason)), Autonomy::Review) => {
                let result = json!({"summary": reason, "deliverables": [], "undelivered": [reason], "confidence": 0.0, "notes": null});
                self.state.stage = Stage::Review { result: result.clone() };
                self.leave(JobExit::Review { result, reason });
            }
            // A retry continues with the next phase.
            (Some((kind, reason)), Autonomy::Full) => {
                self.open_phase(NextPhase { failed: Some(reason.clone()), ..next }, Some(note), now);
                self.leave(JobExit::Failed(JobError::new(kind, reason)));
            }
        }
    }
}
