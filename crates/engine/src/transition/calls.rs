//! The calls of an answer, in order: each is answered when its turn comes, by the engine or with an external result,
//! and sees the effects of earlier ones.

use super::{
    after_calls::after_calls,
    approvals::EXPIRED,
    fate::{Answered, Fate, MAX_CALLS},
    held_calls::held_result,
    own_tools::{self, Consequence},
    turn::{fate, is_unsafe, waiting},
};
use crate::{
    ApprovalChange, ApprovalState, AskedCall, CallOutcome, Change, Check, FileWrite, JobExit, OnToolFailure, PhaseEnd,
    Product, Retry, Role, Run, Settings, Stage, ToolCall, ToolReturn,
    guardrail::loop_detection::{RESULTS, Repetition},
    ledger::{Ledger, ShownPassage, named},
    run::{AnswerCall, CallProgress, request::frame},
    tools::{self, parsed_call::ParsedCall},
    vocabulary::NEXT_REQUIREMENT,
};
use chrono::{DateTime, Utc};

/// The answer to a call whose result does not fit the window together with earlier results.
const NO_ROOM: &str = "not carried out: the results of the calls before it fill the context, and this one would push them out \
                       unread. Send this call again, with fewer calls beside it or for a smaller part.";

/// Starts the calls of an answer.
pub(super) fn begin_calls(run: &mut Run, message_seq: i64, parsed_calls: Vec<ParsedCall>, now: DateTime<Utc>) {
    let calls = run.conversation().calls_of(message_seq);
    run.calls_mut().begin(calls.into_iter().zip(parsed_calls));
    let room = run.conversation().room_for_results(message_seq, frame(run));
    let state = run.state_mut();
    state.guards.silent_turns = 0;
    state.stage = Stage::Tools { message_seq, calls: CallProgress { room, ..CallProgress::default() } };
    go_on_with_calls(run, now);
}

/// Restores the calls that a loaded run waits for.
pub(super) fn load_calls(run: &mut Run, new_claim: bool) {
    let Stage::Tools { message_seq, calls } = &run.state().stage else { return };
    let (dispatched, held) = (calls.dispatched, calls.held.clone());
    let calls = if held.is_empty() { run.conversation().calls_of(*message_seq) } else { held };
    let parsed: Vec<ParsedCall> = calls.iter().map(ParsedCall::of).collect();
    let loaded = run.calls_mut();
    loaded.begin(calls.into_iter().zip(parsed));
    (loaded.committed, loaded.in_doubt) = (true, dispatched && new_claim);
    let at = run.state().stage.next_call();
    let Some(fate) = run.calls().get(at).map(|first| fate(run, at, &first)) else { return };
    // A call that must not be repeated is dispatched first, and the dispatch must be committed.
    if dispatched || !matches!(fate, Fate::Outside) || !is_unsafe(run, at) {
        let waiting = waiting(run, at, fate);
        run.calls_mut().wait_for(waiting);
    }
}

/// Answers calls with the results from outside.
pub(super) fn take_returns(run: &mut Run, returns: Vec<ToolReturn>) {
    if !returns.is_empty() {
        // The service that the calls waited for is back.
        run.state_mut().retry = Retry::default();
    }
    let check = run.calls_mut().check.take();
    for given in returns {
        run.calls_mut().waiting -= 1;
        let Some(item) = run.calls().get(run.state().stage.next_call()) else { return };
        match &check {
            Some(check) => answer_checked(run, &item, check, given),
            None => answer_given(run, &item, given),
        }
    }
    // The check remains while its call is still awaited.
    let calls = run.calls_mut();
    calls.check = check.filter(|_| calls.waiting > 0);
}

/// Answers calls in order as far as the engine can, then waits for the outside or continues after the last.
pub(super) fn go_on_with_calls(run: &mut Run, now: DateTime<Utc>) {
    loop {
        let at = run.state().stage.next_call();
        let turn = run.calls().get(at).map(|item| (fate(run, at, &item), item));
        match turn {
            Some((Fate::Refused(why), item)) => drop(put_answer(run, &item, Answered::failed(&why))),
            Some((Fate::Skipped(why), item)) => skip(run, &item, at, &why),
            Some((Fate::Engine { check: None }, item)) => run_own_tool(run, &item),
            Some((fate @ (Fate::Engine { check: Some(_) } | Fate::Outside), item)) => {
                let waiting = waiting(run, at, fate);
                run.calls_mut().wait_for(waiting);
                return dispatch(run, at, &item);
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
    let mut open = run.todos().open().count();
    let mut asked = vec![first];
    for (place, item) in (at + 1..).zip(run.calls().from(at + 1)) {
        open = open.saturating_sub(usize::from(tools::closes_todo(&item.call.name)));
        if tools::ends_phase(&item.call.name, open) {
            break;
        }
        if let Fate::Asked(call) = fate(run, place, item) {
            asked.push(*call);
        }
    }
    let (calls, expires_s) = (asked.len(), run.settings().approval.expires_s);
    run.push(Change::Approval(ApprovalChange::Asked { calls: asked, expires_s }));
    run.leave(JobExit::AwaitsDecision { calls });
}

/// The commit of a dispatch was refused: the approval has expired or was changed by someone else. The call was not
/// sent.
pub(super) fn dispatch_refused(run: &mut Run, now: DateTime<Utc>) {
    if let Some(item) = run.calls().get(run.state().stage.next_call()) {
        let call_id = item.call.id.clone();
        run.calls_mut().approvals.set_state(&call_id, ApprovalState::Expired);
        run.push(Change::Approval(ApprovalChange::Closed { call_id, reason: EXPIRED.into() }));
    }
    run.state_mut().stage.calls_mut().dispatched = false;
    run.calls_mut().waiting = 0;
    go_on_with_calls(run, now);
}

/// A call that must not be repeated is recorded as dispatched before it is sent.
fn dispatch(run: &mut Run, at: usize, item: &AnswerCall) {
    if run.calls().check.is_some() || !is_unsafe(run, at) {
        return;
    }
    run.state_mut().stage.calls_mut().dispatched = true;
    run.calls_mut().committed = false;
    if let Some(change) = run.calls().approvals.execution(&item.call, &run.settings().approval) {
        run.calls_mut().approvals.set_state(&item.call.id, ApprovalState::Executed);
        run.push(Change::Approval(change));
    }
}

fn answer_given(run: &mut Run, item: &AnswerCall, given: ToolReturn) {
    let AnswerCall { call, parsed } = item;
    if given.gave_up && run.settings().limits.on_tool_failure == OnToolFailure::Stop {
        run.calls_mut().broken.get_or_insert_with(|| (call.name.clone(), given.content.clone()));
    }
    let state = run.state_mut();
    state.shows_untrusted |= given.untrusted;
    if given.taken_again {
        state.guards.note_refused_once(parsed.print);
    }
    let looked = given.products.is_empty();
    let room = state.stage.calls_mut().room;
    if looked && !room.holds(given.content.len(), || run.settings().tokens_shown(&given.content)) {
        put_answer(run, item, Answered::failed(NO_ROOM));
        return;
    }
    if looked && !given.is_error {
        let is_of_document = run.workspace().names_document(&parsed.fields);
        run.state_mut().note_shown(call, parsed, &given.content, is_of_document);
    }
    if call.name == NEXT_REQUIREMENT && !given.is_error && given.gives.is_empty() && run.state().given.all_judged() {
        run.state_mut().judged.note_none_waits();
    }
    let (progress, said) = take_products(run, given.products);
    let said = said.into_iter().chain(run.calls().approvals.edit_note(call));
    let content = std::iter::once(given.content).chain(said).collect::<Vec<_>>().join("\n");
    let is_whole = run.settings().fits(&content);
    let seq = put_answer(run, item, Answered { content, failed: given.is_error, progress, looked });
    if is_whole {
        run.state_mut().given.give(seq, given.gives);
    }
}

/// Executes one of the engine's own calls after the outside has checked its precondition.
fn answer_checked(run: &mut Run, item: &AnswerCall, check: &Check, seen: ToolReturn) {
    run.state_mut().shows_untrusted |= seen.untrusted;
    match check {
        Check::Passage { number, .. } => {
            let room = run.state_mut().stage.calls_mut().room;
            let fits = !seen.is_error && room.holds(seen.content.len(), || run.settings().tokens_shown(&seen.content));
            run.calls_mut().shown = fits.then_some(ShownPassage { number: *number, text: seen.content });
            run_own_tool(run, item);
            run.calls_mut().shown = None;
        }
        Check::Deliverables { .. } if seen.is_error => {
            let why = seen.content.strip_prefix("Error: ").unwrap_or(&seen.content);
            put_answer(run, item, Answered::failed(why));
        }
        Check::Deliverables { .. } => {
            take_products(run, seen.products);
            run.state_mut().compares_anew = false;
            run_own_tool(run, item);
            if let Some(exit) = &mut run.calls_mut().exit {
                super::count(exit, &seen.content);
            }
        }
    }
}

fn run_own_tool(run: &mut Run, item: &AnswerCall) {
    let (answered, consequence) = own_tools::answer(run, item);
    put_answer(run, item, answered);
    match consequence {
        Consequence::None => {}
        Consequence::NextPhase(next) => {
            // Later results are for the next phase's context.
            let room = run.conversation().room_for_held(frame(run));
            let calls = run.state_mut().stage.calls_mut();
            (calls.end, calls.room) = (Some(PhaseEnd { next, results: Vec::new() }), room);
        }
        Consequence::Exit(exit) => run.calls_mut().exit = Some(exit),
    }
}

/// Skips a call, since its phase or job has ended.
fn skip(run: &mut Run, item: &AnswerCall, at: usize, why: &str) {
    let reason = why.strip_prefix("not carried out: ").unwrap_or(why);
    if run.calls().broken.is_none() && at < MAX_CALLS {
        run.state_mut().left_out.push(format!("{}: {reason}", item.call.name));
    }
    if run.state_mut().stage.calls_mut().held.is_empty() {
        let (conversation, step) = run.conversation_mut();
        conversation.answer(step, &item.call, format!("Error: {why}"));
    }
    settle(run, &item.call.id, why, true);
    run.state_mut().stage.calls_mut().answered += 1;
}

/// Counts the call by its whole result, adds the answer to the conversation and records its effects; returns the
/// message's `seq`.
fn put_answer(run: &mut Run, item: &AnswerCall, answered: Answered) -> i64 {
    let AnswerCall { call, parsed } = item;
    let Answered { content, failed, progress, looked } = answered;
    let bounds = run.settings().limits.repeated_calls;
    let repetition = run.state_mut().guards.note_call((call, parsed), &content, looked, bounds);
    let (mut content, file) = evicted(run.settings(), call, content);
    file.into_iter().for_each(|file| run.record_product(file));
    if let Repetition::Nudge(count) = repetition {
        content.push_str(&format!(
            "\n\n(This is the same result for the same call, {count} times now. It will not change: go on with what is known.)"
        ));
    }
    let bytes = content.len();
    settle(run, &call.id, &content, failed);
    let is_held = !run.state_mut().stage.calls_mut().held.is_empty();
    let (conversation, step) = run.conversation_mut();
    // A result follows its answer; that of a held call, whose answer was in the last phase, follows the opening.
    let (seq, tokens) = match is_held {
        false => conversation.answer(step, call, content),
        true => conversation.answer_as(step, Role::User, call, held_result(call, &content)),
    };
    let current = run.todos().current().map(|todo| todo.position);
    let is_fault = failed && !tools::is_gate(&call.name);
    let state = run.state_mut();
    state.work.refused += u32::from(is_fault);
    let calls = state.stage.calls_mut();
    calls.answered += 1;
    calls.dispatched = false;
    calls.done += usize::from(!failed);
    calls.failed |= is_fault;
    calls.refused_closing = calls.refused_closing.or(current.filter(|_| failed && tools::closes_todo(&call.name)));
    calls.progress |= progress;
    calls.room.take(bytes, tokens);
    if let Repetition::Replan(count) = repetition {
        calls.stuck.get_or_insert_with(|| format!("the call of {} gave the same result {count} times", call.name));
    }
    calls.end.iter_mut().for_each(|end| end.results.push(seq));
    run.calls_mut().in_doubt = false;
    seq
}

/// The row of a call that people decided on records its outcome.
fn settle(run: &mut Run, call_id: &str, answer: &str, failed: bool) {
    let is_unknown = run.calls().in_doubt || !run.state().stage.has_dispatched();
    let outcome = match (is_unknown, failed) {
        (true, _) => CallOutcome::InDoubt,
        (false, true) => CallOutcome::Error,
        (false, false) => CallOutcome::Ok,
    };
    if let Some(change) = run.calls_mut().approvals.settle(call_id, answer, outcome) {
        run.push(Change::Approval(change));
    }
}

/// A result that is too large for the conversation is written to a file; the model gets head, tail and the path.
fn evicted(settings: &Settings, call: &ToolCall, content: String) -> (String, Option<Product>) {
    if settings.fits(&content) {
        return (content, None);
    }
    let path = format!("{RESULTS}{}.md", call.id);
    let shown = settings.excerpt(&content, &path);
    (shown, Some(Product::WriteFile(FileWrite::text(path, content))))
}

/// Applies the products of a tool; returns whether there were any, and the ledger's remarks. What stays open beside a
/// requirement is known once all products are applied: another one, or a decision, may account for it.
fn take_products(run: &mut Run, products: Vec<Product>) -> (bool, Vec<String>) {
    let progress = !products.is_empty();
    let (mut said, mut changed) = (Vec::new(), Vec::new());
    for product in products {
        let (ledger, step) = run.ledger_mut();
        match product {
            // Without coverage nothing is to be decided, and nothing is open.
            Product::DecidePassage(_) if !ledger.records() => {}
            Product::DecidePassage(decision) => said.push(format!("{}.", ledger.decide(&decision, step).said)),
            Product::DeliverQuotes(touched) => ledger.delivered(&touched, step),
            product => {
                changed.extend(number_of(&product, ledger.next_number()));
                run.record_product(product);
            }
        }
    }
    let open = changed.into_iter().filter_map(|number| stays_open(run.ledger(), number));
    (progress, open.chain(said).collect())
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
