//! Calls after the one that ends a phase. Those bound in the phase are executed in it, before its end takes effect;
//! from the first unbound one on they are held, and the next phase executes them before its first request. In both
//! cases the model reads the results after the opening, and which calls were not executed.

use super::{
    fate::{MAX_CALLS, too_many},
    phases::advance_phase,
    prepared::prepare_or_ask,
};
use crate::{
    Given, GivenRow, HistoryAtBoundary, MessageKind, PhaseEnd, Role, Run, Stage, ToolCall,
    conversation::Conversation,
    run::{AnswerCall, CallProgress, Step, request::frame},
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
    left: &[Arc<AnswerCall>],
    CallProgress { answered, failed, .. }: CallProgress,
    PhaseEnd { next, results }: PhaseEnd,
    now: DateTime<Utc>,
) -> bool {
    let (held, left_out) = hold(run.conversation_mut(), left, answered);
    run.state_mut().left_out.extend(left_out);
    // Their conversation ends with the phase.
    let results = match run.settings().phases.history_at_boundary {
        HistoryAtBoundary::Compact => Vec::new(),
        HistoryAtBoundary::Reset => results_to_repeat(run.conversation(), &run.state().given, &results),
    };
    advance_phase(run, next, now);
    if run.exit().is_some() {
        let left_out = held.iter().map(|call| format!("{}: the job ended with the phase.", call.name));
        run.state_mut().left_out.extend(left_out);
        // If the next phase is already open, a retry reads it there.
        if matches!(run.state().stage, Stage::Model) {
            push_left_out_calls(run);
        }
        return false;
    }
    for (call, content, gives) in results {
        let (conversation, step) = run.conversation_mut();
        let (seq, _) = conversation.answer_as(step, Role::User, &call, held_result(&call, &content));
        run.state_mut().given.give(seq, gives);
    }
    if held.is_empty() {
        prepare_or_ask(run, now);
        return false;
    }
    run.calls_mut().begin(held.iter().map(|call| (call.clone(), ParsedCall::of(call))));
    let room = run.conversation().room_after_opening(frame(run));
    run.state_mut().stage =
        Stage::Tools { message_seq, calls: CallProgress { held, failed, room, ..CallProgress::default() } };
    true
}

/// Answers the calls that are left, so that the next phase can execute them; returns them, and which are beyond the bound
/// of an answer.
fn hold(
    (conversation, step): (&mut Conversation, &mut Step),
    left: &[Arc<AnswerCall>],
    first: usize,
) -> (Vec<ToolCall>, Vec<String>) {
    let (held, beyond) = left.split_at(MAX_CALLS.saturating_sub(first).min(left.len()));
    for item in held {
        conversation.answer(step, &item.call, HELD.into());
    }
    for item in beyond {
        conversation.answer(step, &item.call, format!("Error: {}", too_many()));
    }
    let left_out = |item: &Arc<AnswerCall>| format!("{}: at most {MAX_CALLS} calls in one answer.", item.call.name);
    (held.iter().map(|item| item.call.clone()).collect(), beyond.iter().map(left_out).collect())
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
pub(super) fn push_left_out_calls(run: &mut Run) {
    if let Some(text) = run.state_mut().take_left_out() {
        run.say(MessageKind::Nudge, text);
    }
}
