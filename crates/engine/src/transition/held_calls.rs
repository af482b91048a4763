//! Calls after the one that ends a phase. Those bound in the phase are executed in it, before its end takes effect;
//! from the first unbound one on they are held, and the next phase executes them before its first request. In both
//! cases the model reads the results after the opening, and which calls were not executed.

use super::{
    fate::{MAX_CALLS, too_many},
    prepared::prepare_or_ask,
};
use crate::{
    Given, GivenRow, HistoryAtBoundary, MessageKind, PhaseEnd, Role, Run, Stage, State, ToolCall,
    conversation::Conversation,
    phase::transition::advance_phase,
    run::{AnswerCall, AnswerCalls, CallProgress, Step},
    tools::parsed_call::ParsedCall,
};
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// The placeholder after the answer for the result of a held call.
const HELD: &str = "held: an earlier call of this answer ended the phase. The next phase carries this call out before its first \
                    request, as far as it binds it; the result is behind its opening.";

/// The phase ends, and the remaining calls of the answer are for the next one. Returns whether there are any.
pub(super) fn end_phase(
    run: &mut Run,
    message_seq: i64,
    CallProgress { answered, failed, .. }: CallProgress,
    PhaseEnd { next, results }: PhaseEnd,
    now: DateTime<Utc>,
) -> bool {
    let calls = std::mem::take(&mut run.calls);
    let held = hold(calls.from(answered), answered, &mut run.conversation, &mut run.step, &mut run.state.left_out);
    // Their conversation ends with the phase.
    let results = match run.settings.phases.history_at_boundary {
        HistoryAtBoundary::Compact => Vec::new(),
        HistoryAtBoundary::Reset => results_to_repeat(&run.conversation, &run.state.given, &results),
    };
    advance_phase(run, next, now);
    if run.exit.is_some() {
        leave_out(run, &held);
        return false;
    }
    for (call, content, gives) in results {
        let (seq, _) = run.conversation.answer_as(&mut run.step, Role::User, &call, held_result(&call, &content));
        run.state.given.give(seq, gives);
    }
    if held.is_empty() {
        prepare_or_ask(run, now);
        return false;
    }
    run.calls = AnswerCalls::of(held.iter().map(|call| (call.clone(), ParsedCall::of(call))));
    let room = run.conversation.room_after_opening(run.frame());
    run.state.stage =
        Stage::Tools { message_seq, calls: CallProgress { held, failed, room, ..CallProgress::default() } };
    true
}

/// Removes the calls from this one on from the answer, whose messages record it. Calls beyond the bound of an
/// answer are not held.
fn hold(
    calls: &[Arc<AnswerCall>],
    first: usize,
    conversation: &mut Conversation,
    step: &mut Step,
    left_out: &mut Vec<String>,
) -> Vec<ToolCall> {
    let mut held = Vec::new();
    for (at, AnswerCall { call, .. }) in (first..).zip(calls.iter().map(AsRef::as_ref)) {
        if at < MAX_CALLS {
            conversation.answer(step, call, HELD.into());
            held.push(call.clone());
        } else {
            conversation.answer(step, call, format!("Error: {}", too_many()));
            left_out.push(format!("{}: at most {MAX_CALLS} calls in one answer.", call.name));
        }
    }
    held
}

/// The job ended with the phase: calls held for the next phase are not executed.
fn leave_out(run: &mut Run, held: &[ToolCall]) {
    run.state.left_out.extend(held.iter().map(|call| format!("{}: the job ended with the phase.", call.name)));
    // If the next phase is already open, a retry reads it there.
    if matches!(run.state.stage, Stage::Model) {
        push_left_out_calls(&mut run.state, &mut run.conversation, &mut run.step);
    }
}

/// The results of calls after the end of a phase, with their calls and the rows that they give.
fn results_to_repeat(
    conversation: &Conversation,
    given: &Given,
    results: &[i64],
) -> Vec<(ToolCall, String, Vec<GivenRow>)> {
    let of = |seq: &i64| {
        let message = conversation.message(*seq)?;
        let call = message.tool_call_id().and_then(|id| conversation.call_with(id))?;
        Some((call, message.visible_content().into_owned(), given.rows_of(*seq)))
    };
    results.iter().filter_map(of).collect()
}

/// The result of a call of the last phase, after the opening.
pub(super) fn held_result(call: &ToolCall, content: &str) -> String {
    format!("{HELD_RESULT}{}:\n\n{content}", call.name)
}

/// The beginning of the result of a call that followed the end of the last phase; its name follows.
pub const HELD_RESULT: &str = "Result of a call of your last answer, which stood behind the end of the phase, ";

/// Lists, after the opening, the calls that were not executed of the answer that ended the last phase.
pub(super) fn push_left_out_calls(state: &mut State, conversation: &mut Conversation, step: &mut Step) {
    if let Some(text) = state.take_left_out() {
        conversation.say(step, MessageKind::Nudge, text);
    }
}
