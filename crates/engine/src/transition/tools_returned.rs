//! The calls of a turn are answered, in their order, whoever carried them out.

use super::Consequence;
use crate::{
    Autonomy, JobError, JobExit, OnToolFailure, PhaseOutcome, Product, Retry, Run, Stage, ToolReturn,
    conversation::compaction::Room, guardrail::loop_detection::Repetition, ledger::ShownPassage,
    phase::transition::Next, tools,
};
use chrono::{DateTime, Utc};
use serde_json::json;
use std::collections::HashMap;

impl Run {
    pub(super) fn tools_returned(&mut self, returns: Vec<ToolReturn>, now: DateTime<Utc>) {
        let calls = std::mem::take(&mut self.calls);
        let parsed_calls = std::mem::take(&mut self.parsed_calls);
        let mut reads = std::mem::take(&mut self.passage_reads);
        let mut returns: HashMap<String, ToolReturn> =
            returns.into_iter().map(|given| (given.call_id.clone(), given)).collect();
        let mut consequence = Consequence::None;
        let (mut progress, mut failed, mut done) = (false, false, 0);
        // A closing that was refused: a later one of the same answer was meant for the todo behind it.
        let mut refused_closing = None;
        let (mut stuck, mut broken) = (None, None);
        let mut room = match self.state.stage {
            Stage::Tools { message_seq } => self.room_for_results(message_seq),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => {
                Room::default()
            }
        };
        for (at, (call, parsed)) in calls.iter().zip(&parsed_calls).enumerate() {
            let mut given = returns.remove(&call.id);
            self.shown_passage = reads.remove(&call.id).and_then(|read| {
                let text = given.take().filter(|given| !given.is_error)?.content;
                let holds = room.holds(text.len(), || self.tokens_shown(&text));
                holds.then_some(ShownPassage { number: read.number, text })
            });
            if let Some(given) = given.as_ref().filter(|given| given.gave_up) {
                broken.get_or_insert_with(|| (call.name.clone(), given.content.clone()));
            }
            let may_wait = tools::is_gate(&call.name) && matches!(consequence, Consequence::None);
            let closes = may_wait && tools::closes_todo(&call.name);
            let answered = match (parsed.cut_off_at(), refused_closing) {
                (Some(cap), _) => self.failed(call, parsed, &self.cut_off(cap, done)),
                (None, Some(todo)) if closes => self.not_after_a_refusal(call, parsed, todo),
                (None, _) if may_wait && failed => self.not_after_a_failure(call, parsed),
                (None, _) => self.answer_call(at, (call, parsed), given, room, &mut consequence),
            };
            if answered.failed && !tools::is_gate(&call.name) {
                failed = true;
                self.state.work.refused += 1;
            }
            if answered.failed && closes && refused_closing.is_none() {
                refused_closing = self.current_todo().map(|todo| todo.position);
            }
            let is_work = tools::is_work(&call.name) && self.bound_tool(&call.name).is_some();
            (self.state.work.called, self.answer_worked) =
                (self.state.work.called | is_work, self.answer_worked | is_work);
            progress |= answered.progress;
            done += usize::from(!answered.failed);
            if let Repetition::Replan(count) = answered.repetition {
                stuck.get_or_insert(format!("the call of {} gave the same result {count} times", call.name));
            }
            let bytes = answered.content.len();
            room.take(bytes, self.push_tool_result(call, answered.content));
        }
        (self.interrupted, self.answer_worked) = (false, false);
        // Whatever the calls had to wait for is back.
        self.state.retry = Retry::default();
        if !self.loading.is_empty() {
            self.bind_loaded_tools();
        }
        match (self.settings.limits.on_tool_failure, broken) {
            (OnToolFailure::Stop, Some((tool, why))) => self.stop_for(&tool, &why),
            _ => self.after_calls(consequence, progress, stuck, now),
        }
    }

    /// `limits.on_tool_failure: stop`. The calls are answered, and a retry goes on from there.
    fn stop_for(&mut self, tool: &str, why: &str) {
        self.state.stage = Stage::Model;
        let why = why.trim_start_matches("Error: ");
        let error = JobError::new("tool", format!("{tool} failed and was not to be gone on without: {why}"))
            .with("tool", tool)
            .with("last_error", why);
        self.leave(JobExit::Failed(error));
    }

    fn after_calls(&mut self, consequence: Consequence, progress: bool, stuck: Option<String>, now: DateTime<Utc>) {
        self.state.guards.idle_turns = if progress { 0 } else { self.state.guards.idle_turns + 1 };
        // The calls are answered, however the job goes on or ends: a retry must not run them again.
        self.state.stage = Stage::Model;
        match consequence {
            Consequence::Exit(JobExit::Failed(error)) => self.fail_at_the_end(error, now),
            Consequence::Exit(leave) => {
                if matches!(leave, JobExit::Completed { .. } | JobExit::Review { .. }) {
                    self.close_phase(PhaseOutcome::Completed, None);
                }
                // A completed job stands as one in review does: words of the user that arrived while it ended reopen it.
                if let JobExit::Review { result, .. } | JobExit::Completed { result } = &leave {
                    self.state.stage = Stage::Review { result: result.clone() };
                }
                self.leave(leave);
            }
            Consequence::NextPhase(next) => {
                self.turn_the_page(next, now);
                if self.exit.is_none() {
                    self.prepare_or_ask(now);
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
                self.leave(JobExit::Review { result, reason });
            }
            // A retry goes on with the phase that comes next.
            (Some(reason), Autonomy::Full) => {
                self.open_phase(Next { failed: Some(reason.clone()), ..next }, Some(note), now);
                self.leave(JobExit::Failed(JobError::new("no_progress", reason)));
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
            self.record_product(product);
        }
        progress
    }
}
