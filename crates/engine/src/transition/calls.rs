//! The calls of an answer, in order: each is answered when its turn comes, by the engine or with an external result,
//! and sees the effects of earlier ones.

use super::{Consequence, fate::Fate, held_calls::held_result, model_replied::MAX_CALLS};
use crate::{
    CallOutcome, Change, Check, FileWrite, OnToolFailure, PhaseEnd, Product, Retry, Role, Run, Stage, ToolCall,
    ToolReturn,
    guardrail::loop_detection::{RESULTS, Repetition},
    ledger::{Ledger, ShownPassage, named},
    run::{AnswerCall, AnswerCalls, CallProgress},
    tools::{self, parsed_call::ParsedCall},
};
use chrono::{DateTime, Utc};

/// The answer to a call whose result does not fit the window together with earlier results.
const NO_ROOM: &str = "not carried out: the results of the calls before it fill the context, and this one would push them out \
                       unread. Send this call again, with fewer calls beside it or for a smaller part.";

/// A call's answer and its assessment by the guardrails.
struct Answered {
    content: String,
    progress: bool,
    failed: bool,
    repetition: Repetition,
}

impl Run {
    /// Starts the calls of an answer.
    pub(super) fn begin_calls(&mut self, message_seq: i64, parsed_calls: Vec<ParsedCall>, now: DateTime<Utc>) {
        self.state.guards.silent_turns = 0;
        self.calls = AnswerCalls::of(self.conversation.calls_of(message_seq).into_iter().zip(parsed_calls));
        let calls = CallProgress {
            room: self.conversation.room_for_results(message_seq, self.frame()),
            ..CallProgress::default()
        };
        self.state.stage = Stage::Tools { message_seq, calls };
        self.go_on_with_calls(now);
    }

    pub(super) fn tools_returned(&mut self, returns: Vec<ToolReturn>, now: DateTime<Utc>) {
        self.take_returns(returns);
        // The service that the calls waited for is back.
        self.state.retry = Retry::default();
        self.go_on_with_calls(now);
    }

    /// Answers calls with the results from outside.
    pub(super) fn take_returns(&mut self, returns: Vec<ToolReturn>) {
        let check = self.calls.check.take();
        for given in returns {
            self.calls.waiting -= 1;
            let at = self.state.stage.next_call();
            let Some(item) = self.calls.get(at) else { return };
            match &check {
                Some(check) => self.answer_checked(&item, check, given),
                None => self.answer_given(&item, given),
            }
        }
        // The check remains while its call is still awaited.
        self.calls.check = check.filter(|_| self.calls.waiting > 0);
    }

    /// Answers calls in order as far as the engine can, then waits for the outside or continues after the last.
    pub(super) fn go_on_with_calls(&mut self, now: DateTime<Utc>) {
        loop {
            let at = self.state.stage.next_call();
            let Some(item) = self.calls.get(at) else { return self.after_calls(now) };
            match self.fate(at, &item) {
                Fate::Refused(why) => {
                    let answered = self.failed(&item, &why);
                    self.put_answer(&item, answered);
                }
                Fate::Skipped(why) => self.skip(&item, at, &why),
                Fate::Engine { check: None } => self.run_own_tool(&item),
                fate @ (Fate::Engine { check: Some(_) } | Fate::Outside) => return self.wait_for_outside(at, fate),
                Fate::Asked(asked) => return self.ask(at, *asked),
                Fate::Held => return self.after_calls(now),
            }
        }
    }

    /// A call that must not be repeated is recorded as dispatched before it is sent.
    fn wait_for_outside(&mut self, at: usize, fate: Fate) {
        self.choose_waiting(at, fate);
        if self.calls.check.is_none() && self.is_unsafe(at) {
            (self.state.stage.calls_mut().dispatched, self.calls.committed) = (true, false);
            if let Some(item) = self.calls.get(at) {
                let executed = self.approvals.execute(&item.call, &self.settings.approval);
                executed.into_iter().for_each(|change| self.step.push(Change::Approval(change)));
            }
        }
    }

    fn answer_given(&mut self, item: &AnswerCall, given: ToolReturn) {
        let AnswerCall { call, parsed } = item;
        if given.gave_up && self.settings.limits.on_tool_failure == OnToolFailure::Stop {
            self.calls.broken.get_or_insert_with(|| (call.name.clone(), given.content.clone()));
        }
        self.state.shows_untrusted |= given.untrusted;
        if given.taken_again {
            self.state.guards.note_refused_once(parsed.print);
        }
        let looked = given.products.is_empty();
        let room = self.state.stage.calls_mut().room;
        if looked && !room.holds(given.content.len(), || self.settings.tokens_shown(&given.content)) {
            let answered = self.failed(item, NO_ROOM);
            self.put_answer(item, answered);
            return;
        }
        if looked && !given.is_error {
            self.state.note_shown(call, parsed, &given.content, &self.workspace);
        }
        let (progress, said) = self.take_products(given.products);
        let said = said.into_iter().chain(self.approvals.edit_note(call));
        let content = std::iter::once(given.content).chain(said).collect::<Vec<_>>().join("\n");
        let is_whole = self.settings.fits(&content);
        let noted = self.noted(call, parsed, content, progress, looked);
        let seq = self.put_answer(item, Answered { failed: given.is_error, ..noted });
        if is_whole {
            self.state.given.give(seq, given.gives);
        }
    }

    /// Executes one of the engine's own calls after the outside has checked its precondition.
    fn answer_checked(&mut self, item: &AnswerCall, check: &Check, seen: ToolReturn) {
        self.state.shows_untrusted |= seen.untrusted;
        match check {
            Check::Passage { number, .. } => {
                let room = self.state.stage.calls_mut().room;
                let fits =
                    !seen.is_error && room.holds(seen.content.len(), || self.settings.tokens_shown(&seen.content));
                self.calls.shown = fits.then_some(ShownPassage { number: *number, text: seen.content });
                self.run_own_tool(item);
                self.calls.shown = None;
            }
            Check::Deliverables { .. } if seen.is_error => {
                let why = seen.content.strip_prefix("Error: ").unwrap_or(&seen.content);
                let answered = self.failed(item, why);
                self.put_answer(item, answered);
            }
            Check::Deliverables { .. } => {
                self.take_products(seen.products);
                self.state.compares_anew = false;
                self.run_own_tool(item);
                if let Some(exit) = &mut self.calls.exit {
                    super::count(exit, &seen.content);
                }
            }
        }
    }

    fn run_own_tool(&mut self, item: &AnswerCall) {
        let AnswerCall { call, parsed } = item;
        let (before, mut consequence) = (self.step.len(), Consequence::None);
        let answered = match tools::run(self, &call.name, &parsed.fields, &mut consequence) {
            Ok(content) => {
                let progress = self.step.len() > before;
                self.noted(call, parsed, content, progress, !progress)
            }
            Err(why) => self.failed(item, &why),
        };
        self.put_answer(item, answered);
        match consequence {
            Consequence::None => {}
            Consequence::NextPhase(next) => self.end_phase_after_calls(next),
            Consequence::Exit(exit) => self.calls.exit = Some(exit),
        }
    }

    /// The phase ends after this call; later results are for the next phase's context.
    fn end_phase_after_calls(&mut self, next: crate::NextPhase) {
        let room = self.conversation.room_for_held(self.frame());
        let calls = self.state.stage.calls_mut();
        (calls.end, calls.room) = (Some(PhaseEnd { next, results: Vec::new() }), room);
    }

    /// Skips a call, since its phase or job has ended.
    fn skip(&mut self, item: &AnswerCall, at: usize, why: &str) {
        let reason = why.strip_prefix("not carried out: ").unwrap_or(why);
        if self.calls.broken.is_none() && at < MAX_CALLS {
            self.state.left_out.push(format!("{}: {reason}", item.call.name));
        }
        if self.state.stage.calls_mut().held.is_empty() {
            self.conversation.answer(&mut self.step, &item.call, format!("Error: {why}"));
        }
        self.settle(&item.call.id, why, true);
        self.state.stage.calls_mut().answered += 1;
    }

    fn failed(&mut self, AnswerCall { call, parsed }: &AnswerCall, why: &str) -> Answered {
        Answered { failed: true, ..self.noted(call, parsed, format!("Error: {why}"), false, false) }
    }

    /// Adds a call's answer to the conversation and records its effects; returns the message's `seq`.
    fn put_answer(&mut self, item: &AnswerCall, answered: Answered) -> i64 {
        let name = &item.call.name;
        let is_gate = tools::is_gate(name);
        self.state.work.refused += u32::from(answered.failed && !is_gate);
        let is_closing = answered.failed && tools::closes_todo(name);
        let open = self.current_todo().filter(|_| is_closing).map(|todo| todo.position);
        let bytes = answered.content.len();
        self.settle(&item.call.id, &answered.content, answered.failed);
        let (seq, tokens) = self.push_answer(&item.call, answered.content);
        let calls = self.state.stage.calls_mut();
        calls.answered += 1;
        calls.dispatched = false;
        calls.done += usize::from(!answered.failed);
        calls.failed |= answered.failed && !is_gate;
        calls.refused_closing = calls.refused_closing.or(open);
        calls.progress |= answered.progress;
        calls.room.take(bytes, tokens);
        if let Repetition::Replan(count) = answered.repetition {
            calls.stuck.get_or_insert_with(|| format!("the call of {name} gave the same result {count} times"));
        }
        if let Some(end) = &mut calls.end {
            end.results.push(seq);
        }
        self.calls.in_doubt = false;
        seq
    }

    /// The row of a call that people decided on records its outcome.
    fn settle(&mut self, call_id: &str, answer: &str, failed: bool) {
        let is_unknown = self.calls.in_doubt || !self.state.stage.calls_mut().dispatched;
        let outcome = match (is_unknown, failed) {
            (true, _) => CallOutcome::InDoubt,
            (false, true) => CallOutcome::Error,
            (false, false) => CallOutcome::Ok,
        };
        if let Some(change) = self.approvals.settle(call_id, answer, outcome) {
            self.step.push(Change::Approval(change));
        }
    }

    /// A result follows its answer; that of a held call, whose answer was in the last phase, follows the opening.
    fn push_answer(&mut self, call: &ToolCall, content: String) -> (i64, u32) {
        match self.state.stage.calls_mut().held.is_empty() {
            true => self.conversation.answer(&mut self.step, call, content),
            false => {
                let content = held_result(call, &content);
                self.conversation.answer_as(&mut self.step, Role::User, call, content)
            }
        }
    }

    /// Counts the call by its whole result, then returns the text for the conversation.
    fn noted(
        &mut self,
        call: &ToolCall,
        parsed: &ParsedCall,
        content: String,
        progress: bool,
        looked: bool,
    ) -> Answered {
        let bounds = self.settings.limits.repeated_calls;
        let repetition = self.state.guards.note_call((call, parsed), &content, looked, bounds);
        let mut content = self.evict(call, content);
        if let Repetition::Nudge(count) = repetition {
            content.push_str(&format!(
                "\n\n(This is the same result for the same call, {count} times now. It will not change: go on with what is known.)"
            ));
        }
        Answered { content, progress, failed: false, repetition }
    }

    /// Writes a result that is too large for the conversation to a file; the model gets head, tail and the path.
    fn evict(&mut self, call: &ToolCall, content: String) -> String {
        if self.settings.fits(&content) {
            return content;
        }
        let path = format!("{RESULTS}{}.md", call.id);
        let shown = self.settings.excerpt(&content, &path);
        self.record_product(Product::WriteFile(FileWrite::text(path, content)));
        shown
    }

    /// Applies the products of a tool; returns whether there were any, and the ledger's remarks.
    fn take_products(&mut self, products: Vec<Product>) -> (bool, Vec<String>) {
        let progress = !products.is_empty();
        let mut said = Vec::new();
        for product in products {
            match product {
                Product::DecidePassage(decision) => {
                    said.push(format!("{}.", self.ledger.decide(&decision, self.step.number()).said));
                }
                Product::DeliverQuotes(touched) => self.ledger.delivered(&touched, self.step.number()),
                product => {
                    let changed = number_of(&product, self.next_number());
                    self.record_product(product);
                    said.extend(changed.and_then(|number| stays_open(&self.ledger, number)));
                }
            }
        }
        (progress, said)
    }
}

/// The number of the requirement that a product records or corrects.
fn number_of(product: &Product, next: i32) -> Option<i32> {
    match product {
        Product::AddRequirement(requirement) => Some(requirement.number.unwrap_or(next)),
        Product::ChangeRequirement(change) => change.becomes.as_ref()?.number,
        _ => None,
    }
}

/// What a requirement's quotes touch but no requirement covers.
fn stays_open(ledger: &Ledger, number: i32) -> Option<String> {
    let further = ledger.further(number);
    let records = ledger.records() && !further.is_empty();
    records.then(|| {
        format!(
            "r{number} covers two candidate sentences at most; open stay, each for a requirement of its own: {}.",
            named(&further)
        )
    })
}
