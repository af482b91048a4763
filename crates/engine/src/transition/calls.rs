//! The calls of an answer, in order: each is answered when its turn comes, by the engine or with an external result,
//! and sees the effects of earlier ones.

use super::{
    Consequence,
    after_calls::after_calls,
    approvals::EXPIRED,
    fate::{Fate, MAX_CALLS},
    held_calls::held_result,
    turn::{choose_waiting, fate, is_unsafe},
};
use crate::{
    ApprovalChange, ApprovalState, AskedCall, CallOutcome, Change, Check, FileWrite, JobExit, OnToolFailure, PhaseEnd,
    Product, Retry, Role, Run, Stage, ToolCall, ToolReturn,
    conversation::Conversation,
    guardrail::loop_detection::{RESULTS, Repetition},
    ledger::{Ledger, ShownPassage, named},
    run::{AnswerCall, AnswerCalls, CallProgress, Step},
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

/// Starts the calls of an answer.
pub(super) fn begin_calls(run: &mut Run, message_seq: i64, parsed_calls: Vec<ParsedCall>, now: DateTime<Utc>) {
    run.state.guards.silent_turns = 0;
    run.calls = AnswerCalls::of(run.conversation.calls_of(message_seq).into_iter().zip(parsed_calls));
    let calls =
        CallProgress { room: run.conversation.room_for_results(message_seq, run.frame()), ..CallProgress::default() };
    run.state.stage = Stage::Tools { message_seq, calls };
    go_on_with_calls(run, now);
}

pub(super) fn tools_returned(run: &mut Run, returns: Vec<ToolReturn>, now: DateTime<Utc>) {
    take_returns(run, returns);
    // The service that the calls waited for is back.
    run.state.retry = Retry::default();
    go_on_with_calls(run, now);
}

/// Answers calls with the results from outside.
pub(super) fn take_returns(run: &mut Run, returns: Vec<ToolReturn>) {
    let check = run.calls.check.take();
    for given in returns {
        run.calls.waiting -= 1;
        let at = run.state.stage.next_call();
        let Some(item) = run.calls.get(at) else { return };
        match &check {
            Some(check) => answer_checked(run, &item, check, given),
            None => answer_given(run, &item, given),
        }
    }
    // The check remains while its call is still awaited.
    run.calls.check = check.filter(|_| run.calls.waiting > 0);
}

/// Answers calls in order as far as the engine can, then waits for the outside or continues after the last.
fn go_on_with_calls(run: &mut Run, now: DateTime<Utc>) {
    loop {
        let at = run.state.stage.next_call();
        let turn = run.calls.get(at).map(|item| (fate(run, at, &item), item));
        match turn {
            Some((Fate::Refused(why), item)) => {
                let answered = failed(run, &item, &why);
                put_answer(run, &item, answered);
            }
            Some((Fate::Skipped(why), item)) => skip(run, &item, at, &why),
            Some((Fate::Engine { check: None }, item)) => run_own_tool(run, &item),
            Some((fate @ (Fate::Engine { check: Some(_) } | Fate::Outside), _)) => {
                return wait_for_outside(run, at, fate);
            }
            Some((Fate::Asked(asked), _)) => return ask(run, at, *asked),
            None | Some((Fate::Held, _)) => {
                if !after_calls(run, now) {
                    return;
                }
            }
        }
    }
}

/// Requests approval for this call and for later calls of the answer that need it, up to the one that ends the
/// phase. The job waits for the decisions.
fn ask(run: &mut Run, at: usize, first: AskedCall) {
    let mut open = run.todos.open().count();
    let mut asked = vec![first];
    for (place, item) in (at + 1..).zip(run.calls.from(at + 1)) {
        open = open.saturating_sub(usize::from(tools::closes_todo(&item.call.name)));
        if tools::ends_phase(&item.call.name, open) {
            break;
        }
        if let Fate::Asked(call) = fate(run, place, item) {
            asked.push(*call);
        }
    }
    let (calls, expires_s) = (asked.len(), run.settings.approval.expires_s);
    run.step.push(Change::Approval(ApprovalChange::Asked { calls: asked, expires_s }));
    run.leave(JobExit::AwaitsDecision { calls });
}

/// The commit of a dispatch was refused: the approval has expired or was changed by someone else. The call was not
/// sent.
pub(super) fn dispatch_refused(run: &mut Run, now: DateTime<Utc>) {
    let at = run.state.stage.next_call();
    if let Some(item) = run.calls.get(at) {
        let call_id = item.call.id.clone();
        run.approvals.set_state(&call_id, ApprovalState::Expired);
        run.step.push(Change::Approval(ApprovalChange::Closed { call_id, reason: EXPIRED.into() }));
    }
    (run.state.stage.calls_mut().dispatched, run.calls.waiting) = (false, 0);
    go_on_with_calls(run, now);
}

/// A call that must not be repeated is recorded as dispatched before it is sent.
fn wait_for_outside(run: &mut Run, at: usize, fate: Fate) {
    choose_waiting(run, at, fate);
    if run.calls.check.is_none() && is_unsafe(run, at) {
        (run.state.stage.calls_mut().dispatched, run.calls.committed) = (true, false);
        if let Some(item) = run.calls.get(at) {
            let executed = run.approvals.execute(&item.call, &run.settings.approval);
            executed.into_iter().for_each(|change| run.step.push(Change::Approval(change)));
        }
    }
}

fn answer_given(run: &mut Run, item: &AnswerCall, given: ToolReturn) {
    let AnswerCall { call, parsed } = item;
    if given.gave_up && run.settings.limits.on_tool_failure == OnToolFailure::Stop {
        run.calls.broken.get_or_insert_with(|| (call.name.clone(), given.content.clone()));
    }
    run.state.shows_untrusted |= given.untrusted;
    if given.taken_again {
        run.state.guards.note_refused_once(parsed.print);
    }
    let looked = given.products.is_empty();
    let room = run.state.stage.calls_mut().room;
    if looked && !room.holds(given.content.len(), || run.settings.tokens_shown(&given.content)) {
        let answered = failed(run, item, NO_ROOM);
        put_answer(run, item, answered);
        return;
    }
    if looked && !given.is_error {
        run.state.note_shown(call, parsed, &given.content, &run.workspace);
    }
    let (progress, said) = take_products(run, given.products);
    let said = said.into_iter().chain(run.approvals.edit_note(call));
    let content = std::iter::once(given.content).chain(said).collect::<Vec<_>>().join("\n");
    let is_whole = run.settings.fits(&content);
    let noted = noted(run, call, parsed, content, progress, looked);
    let seq = put_answer(run, item, Answered { failed: given.is_error, ..noted });
    if is_whole {
        run.state.given.give(seq, given.gives);
    }
}

/// Executes one of the engine's own calls after the outside has checked its precondition.
fn answer_checked(run: &mut Run, item: &AnswerCall, check: &Check, seen: ToolReturn) {
    run.state.shows_untrusted |= seen.untrusted;
    match check {
        Check::Passage { number, .. } => {
            let room = run.state.stage.calls_mut().room;
            let fits = !seen.is_error && room.holds(seen.content.len(), || run.settings.tokens_shown(&seen.content));
            run.calls.shown = fits.then_some(ShownPassage { number: *number, text: seen.content });
            run_own_tool(run, item);
            run.calls.shown = None;
        }
        Check::Deliverables { .. } if seen.is_error => {
            let why = seen.content.strip_prefix("Error: ").unwrap_or(&seen.content);
            let answered = failed(run, item, why);
            put_answer(run, item, answered);
        }
        Check::Deliverables { .. } => {
            take_products(run, seen.products);
            run.state.compares_anew = false;
            run_own_tool(run, item);
            if let Some(exit) = &mut run.calls.exit {
                super::count(exit, &seen.content);
            }
        }
    }
}

fn run_own_tool(run: &mut Run, item: &AnswerCall) {
    let AnswerCall { call, parsed } = item;
    let (before, mut consequence) = (run.step.len(), Consequence::None);
    let answered = match tools::run(run, &call.name, &parsed.fields, &mut consequence) {
        Ok(content) => {
            let progress = run.step.len() > before;
            noted(run, call, parsed, content, progress, !progress)
        }
        Err(why) => failed(run, item, &why),
    };
    put_answer(run, item, answered);
    match consequence {
        Consequence::None => {}
        Consequence::NextPhase(next) => end_phase_after_calls(run, next),
        Consequence::Exit(exit) => run.calls.exit = Some(exit),
    }
}

/// The phase ends after this call; later results are for the next phase's context.
fn end_phase_after_calls(run: &mut Run, next: crate::NextPhase) {
    let room = run.conversation.room_for_held(run.frame());
    let calls = run.state.stage.calls_mut();
    (calls.end, calls.room) = (Some(PhaseEnd { next, results: Vec::new() }), room);
}

/// Skips a call, since its phase or job has ended.
fn skip(run: &mut Run, item: &AnswerCall, at: usize, why: &str) {
    let reason = why.strip_prefix("not carried out: ").unwrap_or(why);
    if run.calls.broken.is_none() && at < MAX_CALLS {
        run.state.left_out.push(format!("{}: {reason}", item.call.name));
    }
    if run.state.stage.calls_mut().held.is_empty() {
        run.conversation.answer(&mut run.step, &item.call, format!("Error: {why}"));
    }
    settle(run, &item.call.id, why, true);
    run.state.stage.calls_mut().answered += 1;
}

fn failed(run: &mut Run, AnswerCall { call, parsed }: &AnswerCall, why: &str) -> Answered {
    Answered { failed: true, ..noted(run, call, parsed, format!("Error: {why}"), false, false) }
}

/// Adds a call's answer to the conversation and records its effects; returns the message's `seq`.
fn put_answer(run: &mut Run, item: &AnswerCall, answered: Answered) -> i64 {
    let name = &item.call.name;
    let is_gate = tools::is_gate(name);
    run.state.work.refused += u32::from(answered.failed && !is_gate);
    let is_closing = answered.failed && tools::closes_todo(name);
    let open = run.todos.current().filter(|_| is_closing).map(|todo| todo.position);
    let bytes = answered.content.len();
    settle(run, &item.call.id, &answered.content, answered.failed);
    let is_held = !run.state.stage.calls_mut().held.is_empty();
    let (seq, tokens) = push_answer(&mut run.conversation, &mut run.step, &item.call, answered.content, is_held);
    let calls = run.state.stage.calls_mut();
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
    run.calls.in_doubt = false;
    seq
}

/// The row of a call that people decided on records its outcome.
fn settle(run: &mut Run, call_id: &str, answer: &str, failed: bool) {
    let is_unknown = run.calls.in_doubt || !run.state.stage.calls_mut().dispatched;
    let outcome = match (is_unknown, failed) {
        (true, _) => CallOutcome::InDoubt,
        (false, true) => CallOutcome::Error,
        (false, false) => CallOutcome::Ok,
    };
    if let Some(change) = run.approvals.settle(call_id, answer, outcome) {
        run.step.push(Change::Approval(change));
    }
}

/// A result follows its answer; that of a held call, whose answer was in the last phase, follows the opening.
fn push_answer(
    conversation: &mut Conversation,
    step: &mut Step,
    call: &ToolCall,
    content: String,
    is_held: bool,
) -> (i64, u32) {
    match is_held {
        false => conversation.answer(step, call, content),
        true => conversation.answer_as(step, Role::User, call, held_result(call, &content)),
    }
}

/// Counts the call by its whole result, then returns the text for the conversation.
fn noted(
    run: &mut Run,
    call: &ToolCall,
    parsed: &ParsedCall,
    content: String,
    progress: bool,
    looked: bool,
) -> Answered {
    let bounds = run.settings.limits.repeated_calls;
    let repetition = run.state.guards.note_call((call, parsed), &content, looked, bounds);
    let mut content = evict(run, call, content);
    if let Repetition::Nudge(count) = repetition {
        content.push_str(&format!(
            "\n\n(This is the same result for the same call, {count} times now. It will not change: go on with what is known.)"
        ));
    }
    Answered { content, progress, failed: false, repetition }
}

/// Writes a result that is too large for the conversation to a file; the model gets head, tail and the path.
fn evict(run: &mut Run, call: &ToolCall, content: String) -> String {
    if run.settings.fits(&content) {
        return content;
    }
    let path = format!("{RESULTS}{}.md", call.id);
    let shown = run.settings.excerpt(&content, &path);
    run.record_product(Product::WriteFile(FileWrite::text(path, content)));
    shown
}

/// Applies the products of a tool; returns whether there were any, and the ledger's remarks.
fn take_products(run: &mut Run, products: Vec<Product>) -> (bool, Vec<String>) {
    let progress = !products.is_empty();
    let mut said = Vec::new();
    for product in products {
        match product {
            Product::DecidePassage(decision) => {
                said.push(format!("{}.", run.ledger.decide(&decision, run.step.number()).said));
            }
            Product::DeliverQuotes(touched) => run.ledger.delivered(&touched, run.step.number()),
            product => {
                let changed = number_of(&product, run.ledger.next_number());
                run.record_product(product);
                said.extend(changed.and_then(|number| stays_open(&run.ledger, number)));
            }
        }
    }
    (progress, said)
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
