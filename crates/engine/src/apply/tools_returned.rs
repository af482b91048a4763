//! The calls of a turn are answered, in their order, whoever carried them out.

use super::Consequence;
use crate::{
    Autonomy, JobError, Leave, PhaseOutcome, Product, Retry, Run, Stage, ToolReturn, boundary::Next, compaction::Room,
    guard::Repetition, tools,
};
use chrono::{DateTime, Utc};
use serde_json::json;
use std::collections::HashMap;

impl Run {
    pub(super) fn tools_returned(&mut self, returns: Vec<ToolReturn>, now: DateTime<Utc>) {
        let calls = std::mem::take(&mut self.calls);
        let readings = std::mem::take(&mut self.readings);
        let mut returns: HashMap<String, ToolReturn> =
            returns.into_iter().map(|given| (given.call_id.clone(), given)).collect();
        let mut consequence = Consequence::None;
        let (mut progress, mut failed, mut done) = (false, false, 0);
        let mut stuck = None;
        let mut room = match self.state.stage {
            Stage::Tools { message_seq } => self.room_for_results(message_seq),
            Stage::Intake | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => Room::default(),
        };
        for (at, (call, reading)) in calls.iter().zip(&readings).enumerate() {
            let given = returns.remove(&call.id);
            let waits = failed && tools::is_gate(&call.name) && matches!(consequence, Consequence::None);
            let answered = match (reading.cut_off_at(), waits) {
                (Some(cap), _) => self.failed(call, reading, &self.cut_off(cap, done)),
                (None, true) => self.not_after_a_failure(call, reading),
                (None, false) => self.answer_call(at, (call, reading), given, room, &mut consequence),
            };
            failed |= answered.failed && !tools::is_gate(&call.name);
            progress |= answered.progress;
            done += usize::from(!answered.failed);
            if let Repetition::Replan(count) = answered.repetition {
                stuck.get_or_insert(format!("the call of {} gave the same result {count} times", call.name));
            }
            let bytes = answered.content.len();
            room.take(bytes, self.answer(call, answered.content));
        }
        self.interrupted = false;
        // Whatever the calls had to wait for is back.
        self.state.retry = Retry::default();
        if !self.loading.is_empty() {
            self.bind_loaded_tools();
        }
        self.after_calls(consequence, progress, stuck, now);
    }

    fn after_calls(&mut self, consequence: Consequence, progress: bool, stuck: Option<String>, now: DateTime<Utc>) {
        self.state.guards.idle_turns = if progress { 0 } else { self.state.guards.idle_turns + 1 };
        // The calls are answered, however the job goes on or ends: a retry must not run them again.
        self.state.stage = Stage::Model;
        match consequence {
            Consequence::Leave(leave) => {
                if matches!(leave, Leave::Completed { .. } | Leave::Review { .. }) {
                    self.close_phase(PhaseOutcome::Completed, None);
                }
                // A completed job stands as one in review does: words of the user that arrived while it ended reopen it.
                if let Leave::Review { result, .. } | Leave::Completed { result } = &leave {
                    self.state.stage = Stage::Review { result: result.clone() };
                }
                self.leave(leave);
            }
            Consequence::NextPhase(next) => {
                self.turn_the_page(next, now);
                if self.left.is_none() {
                    self.ready_for_model(now);
                }
            }
            Consequence::None => match stuck.or_else(|| self.idle_too_long()) {
                Some(issue) => self.replan(&issue, now),
                None => self.ready_for_model(now),
            },
        }
    }

    fn turn_the_page(&mut self, next: Next, now: DateTime<Utc>) {
        let outcome = if next.issue.is_some() { PhaseOutcome::Rewound } else { PhaseOutcome::Completed };
        self.note_ended_phase(outcome);
        let note = self.close_phase(outcome, next.issue.as_deref());
        match (self.ends_without_progress(), self.settings.autonomy) {
            (None, _) => self.open_phase(next, Some(note), now),
            (Some(reason), Autonomy::Review) => {
                let result = json!({"summary": reason, "deliverables": [], "undelivered": [reason], "confidence": 0.0, "notes": null});
                self.state.stage = Stage::Review { result: result.clone() };
                self.leave(Leave::Review { result, reason });
            }
            // A retry goes on with the phase that comes next.
            (Some(reason), Autonomy::Full) => {
                self.open_phase(next, Some(note), now);
                self.leave(Leave::Failed(JobError::new("no_progress", reason)));
            }
        }
    }

    fn idle_too_long(&self) -> Option<String> {
        let (turns, bound) = (self.state.guards.idle_turns, self.settings.limits.turns_without_progress);
        (turns >= bound)
            .then(|| format!("{turns} turns went by without a closed todo, a changed file or a requirement"))
    }

    /// Takes in what a tool produced.
    pub(super) fn take_products(&mut self, products: Vec<Product>) -> bool {
        let progress = !products.is_empty();
        for product in products {
            self.produce(product);
        }
        progress
    }
}
