//! Calls after the one that ends a phase. Those bound in the phase are executed in it, before its end takes effect;
//! from the first unbound one on they are held, and the next phase executes them before its first request. In both
//! cases the model reads the results after the opening, and which calls were not executed.

use super::model_replied::{MAX_CALLS, too_many};
use crate::{
    Given, GivenRow, HistoryAtBoundary, MessageKind, PhaseEnd, Role, Run, Stage, ToolCall,
    conversation::Conversation,
    run::{AnswerCalls, CallProgress},
    tools::parsed_call::ParsedCall,
};
use chrono::{DateTime, Utc};

/// The placeholder after the answer for the result of a held call.
const HELD: &str = "held: an earlier call of this answer ended the phase. The next phase carries this call out before its first \
                    request, as far as it binds it; the result is behind its opening.";

impl Run {
    /// The phase ends, and the remaining calls of the answer are for the next one.
    pub(super) fn end_phase(&mut self, message_seq: i64, calls: CallProgress, now: DateTime<Utc>) {
        let CallProgress { answered, end: Some(PhaseEnd { next, results }), failed, .. } = calls else { return };
        let held = self.hold(answered);
        // Their conversation ends with the phase.
        let results = match self.settings.phases.history_at_boundary {
            HistoryAtBoundary::Compact => Vec::new(),
            HistoryAtBoundary::Reset => results_to_repeat(&self.conversation, &self.state.given, &results),
        };
        self.advance_phase(next, now);
        if self.exit.is_some() {
            return self.leave_out(&held);
        }
        for (call, content, gives) in results {
            let (seq, _) = self.conversation.answer_as(&mut self.step, Role::User, &call, held_result(&call, &content));
            self.state.given.give(seq, gives);
        }
        if held.is_empty() {
            return self.prepare_or_ask(now);
        }
        self.calls = AnswerCalls::of(held.iter().map(|call| (call.clone(), ParsedCall::of(call))));
        let room = self.conversation.room_after_opening(self.frame());
        self.state.stage =
            Stage::Tools { message_seq, calls: CallProgress { held, failed, room, ..CallProgress::default() } };
        self.go_on_with_calls(now);
    }

    /// Removes the calls from this one on from the answer, whose messages record it. Calls beyond the bound of an
    /// answer are not held.
    fn hold(&mut self, answered: usize) -> Vec<ToolCall> {
        let calls = std::mem::take(&mut self.calls);
        let mut held = Vec::new();
        for (at, item) in (answered..).zip(calls.from(answered)) {
            if at < MAX_CALLS {
                self.conversation.answer(&mut self.step, &item.call, HELD.into());
                held.push(item.call.clone());
            } else {
                self.conversation.answer(&mut self.step, &item.call, format!("Error: {}", too_many()));
                self.state.left_out.push(format!("{}: at most {MAX_CALLS} calls in one answer.", item.call.name));
            }
        }
        held
    }

    /// The job ended with the phase: calls held for the next phase are not executed.
    fn leave_out(&mut self, held: &[ToolCall]) {
        self.state.left_out.extend(held.iter().map(|call| format!("{}: the job ended with the phase.", call.name)));
        // If the next phase is already open, a retry reads it there.
        if matches!(self.state.stage, Stage::Model) {
            self.push_left_out_calls();
        }
    }

    /// Lists, after the opening, the calls that were not executed of the answer that ended the last phase.
    pub(super) fn push_left_out_calls(&mut self) {
        if let Some(text) = self.state.take_left_out() {
            self.conversation.say(&mut self.step, MessageKind::Nudge, text);
        }
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
