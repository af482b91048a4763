//! Bounds the context of a run: clears, summarizes or cuts it before a request (see `conversation/compaction.rs`).

use super::{note_request, replan::replan};
use crate::{
    FinishReason, Guards, MessageKind, Purpose, Reply, Retry, Run, Stage,
    conversation::{
        Clearable,
        compaction::{MAX_COMPACTIONS_IN_ROW, summary_text},
    },
    phase::opening,
    run::request::{frame, system_text},
};
use chrono::{DateTime, Utc};

/// Compactions of a todo without a result before the engine tells the model to split it, and before it has the phase
/// planned again.
const COMPACTIONS_BEFORE_WORD: u32 = 2;
const COMPACTIONS_BEFORE_REPLAN: u32 = 3;
/// Such re-plannings in a row before the job is stopped: the window does not grow.
const REPLANS_FOR_THE_WINDOW: u32 = 2;

/// Whether there was anything to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrunk {
    Something,
    Nothing,
}

/// Shrinks the context if the next request would exceed the threshold, or if shrinking is already worthwhile.
pub(super) fn bound_context(run: &mut Run, now: DateTime<Utc>) {
    if run.exit().is_some() {
        return;
    }
    let frame = frame(run);
    let estimate = run.conversation().estimate(frame);
    if estimate > frame.threshold {
        shrink(run, now);
        return;
    }
    // Clearing cannot gain more than the conversation has.
    if !frame.is_large(estimate) {
        return;
    }
    let given = &run.state().given;
    let clearable = run.conversation().of_old_answers(|result| !given.is_open(result.seq()));
    if clearable.is_large(frame) && clearable.pays() {
        let (conversation, step) = run.conversation_mut();
        conversation.clear(step, clearable.results);
    }
}

/// One rung of the ladder: clear, summarize, or cut.
pub(super) fn shrink(run: &mut Run, now: DateTime<Utc>) -> Shrunk {
    let frame = frame(run);
    // Results of completed work first, then old ones.
    let rungs: [fn(&Run) -> Clearable; 2] = [
        |run| run.conversation().of_closed_todos(&run.state().given, run.ledger()),
        |run| run.conversation().of_old_answers(|_| true),
    ];
    for rung in rungs {
        let clearable = rung(run);
        if clearable.is_large(frame) {
            let (conversation, step) = run.conversation_mut();
            conversation.clear(step, clearable.results);
            if conversation.estimate(frame) <= frame.threshold {
                return Shrunk::Something;
            }
        }
    }
    let Some(keep_from) = run.conversation().keep_from(frame) else {
        return Shrunk::Nothing;
    };
    let is_last_try = run.state().guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW;
    if is_last_try || !run.conversation().can_be_summarized(keep_from, run.model_for(Purpose::Summary)) {
        cut(run, keep_from, None, now);
    } else {
        run.state_mut().stage = Stage::Summary { keep_from };
    }
    Shrunk::Something
}

/// Applies the model's summary. A refusal, or a text cut by the output cap, is not a summary; that of a part would be
/// mistaken for one of the whole.
pub(super) fn summarized(run: &mut Run, reply: Reply, keep_from: i64, is_of_all: bool, now: DateTime<Utc>) {
    note_request(run, reply.record);
    run.state_mut().retry = Retry::default();
    let text = reply.content.trim();
    let shrinks = || run.settings().count(text) < run.conversation().replaced_before(keep_from);
    let is_summary = is_of_all && reply.finish == FinishReason::Done && !text.is_empty() && shrinks();
    cut(run, keep_from, is_summary.then(|| text.to_string()), now);
}

/// Replaces everything before `keep_from` by a summary, or by bare facts.
pub(super) fn cut(run: &mut Run, keep_from: i64, summary: Option<String>, now: DateTime<Utc>) {
    let kept = run.conversation().feedback_before(keep_from);
    let summary = summary.or_else(|| run.conversation().earlier_summary());
    let text = summary_text(summary, &opening::bearings(run));
    let system = system_text(run, now);
    let system_seq = run.say(MessageKind::System, system);
    let summary_seq = run.say(MessageKind::Summary, text);
    run.state_mut().shows_untrusted |= opening::shows_documents(run);
    run.conversation_mut().0.replace(system_seq, summary_seq, kept, keep_from);
    let state = run.state_mut();
    state.given.begin_at(keep_from);
    state.guards.compactions_in_row += 1;
    state.stage = Stage::Model;
    let todo = run.todos().current().map(|todo| format!("todo {} ('{}')", todo.position, todo.content));
    let window = frame(run).threshold;
    match outgrown(&mut run.state_mut().guards, todo, window) {
        Some(Outgrown::Replan(issue)) => return replan(run, REPLANS_FOR_THE_WINDOW, &issue, now),
        Some(Outgrown::Word(text)) => drop(run.say(MessageKind::Nudge, text)),
        None => {}
    }
    let frame = frame(run);
    if run.conversation().estimate(frame) > frame.threshold
        && run.state().guards.compactions_in_row <= MAX_COMPACTIONS_IN_ROW
    {
        bound_context(run, now);
    }
}

/// The current todo does not fit the window: what was read for it is gone before it had a result.
enum Outgrown {
    /// The engine tells the model to split it.
    Word(String),
    /// The phase is planned again.
    Replan(String),
}

/// Counts a compaction during a todo.
fn outgrown(guards: &mut Guards, todo: Option<String>, window: u32) -> Option<Outgrown> {
    guards.compactions_of_todo += 1;
    let times = guards.compactions_of_todo;
    let filled = format!("{} has filled the context of {window} tokens {times} times without a result", todo?);
    if times >= COMPACTIONS_BEFORE_REPLAN {
        guards.compactions_of_todo = 0;
        return Some(Outgrown::Replan(format!(
            "{filled}: it does not fit the window. Split it into todos for smaller parts; where even one part does not \
             fit, limits.context_threshold_tokens or the model's window is too small for this job"
        )));
    }
    (times >= COMPACTIONS_BEFORE_WORD).then(|| {
        Outgrown::Word(format!(
            "{filled}: it does not fit the window. Split it: read a smaller part (offset and limit), record or write down \
             what is found there before you read on, and close the todo with a note on what is left, or give the phase up \
             so that its todos are cut smaller."
        ))
    })
}
