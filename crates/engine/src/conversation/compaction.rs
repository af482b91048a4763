//! Keeps the context bounded and cheap. Before every call, if the estimate exceeds the threshold: first old tool
//! results are cleared, in one large batch so that the prefix changes rarely; then the model summarizes layers 4 and 5;
//! if the summary fails or does not shrink, they are truncated at pair boundaries. Layers 1 to 3 and the user's
//! messages are never changed, and the rows keep everything.
//!
//! Results are cleared below the threshold already, if that is worth invalidating the provider's prefix cache: if the
//! gain is a large share of the threshold, and at least what the provider must read again because of it. Requirements
//! that are not judged yet are excluded; they leave once they are judged (`run/given_rows.rs`). Results of closed todos
//! are cleared at once if configured or if there is no prefix cache anyway, and before all others if the window is full.

use super::{
    clearing::Clearable,
    context::{Conversation, Frame, visible_tokens},
};
use crate::{
    FinishReason, MessageKind, MessageRef, ModelSettings, Purpose, Reply, RequestRecord, Retry, Run, Stage,
    phase::{opening, todo_list, transition::system_text},
    transition::replan::replan_at_most,
};
use chrono::{DateTime, Utc};

/// Consecutive compactions without a turn before the mechanical cut.
pub(crate) const MAX_COMPACTIONS_IN_ROW: u32 = 2;

/// Compactions of a todo without a result before the model is told to split it, and before the phase is planned again.
const COMPACTIONS_BEFORE_WORD: u32 = 2;
const COMPACTIONS_BEFORE_REPLAN: u32 = 3;
/// Such re-plannings in a row before the job is stopped: the window does not grow.
const REPLANS_FOR_THE_WINDOW: u32 = 2;

/// Share of the threshold that is kept verbatim at a compaction.
const KEPT_TAIL: f64 = 0.25;

/// Whether there was anything to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shrunk {
    Something,
    Nothing,
}

impl Conversation {
    /// Whether the conversation before `keep_from` fits the window of the model that would summarize it. One that does
    /// not is cut at once: a summary of a part would be mistaken for one of the whole (lesson 54).
    fn can_be_summarized(&self, keep_from: i64, model: &ModelSettings) -> bool {
        let prompt = self.settings.count(&self.settings.prompts.summarization);
        let request = self.count_before(keep_from).saturating_add(prompt);
        request.saturating_add(model.max_output_tokens) <= model.context_window
    }

    /// The first message of the part that is kept verbatim: a boundary between turns, so that no call is separated from
    /// its result. None if there is nothing before it.
    fn keep_from(&self, frame: Frame) -> Option<i64> {
        // A provider may refuse less than the threshold: then a share of the refused size is kept.
        let budget = (f64::from(frame.threshold.min(self.estimate(frame))) * KEPT_TAIL) as u32;
        let tail: Vec<MessageRef<'_>> = self.tail().collect();
        // If no turn is small enough to keep, everything is summarized, and the todo list continues from there; except
        // the messages after the last answer, which the model has not read.
        let mut keep_from = self.next_seq();
        let (mut spent, mut answers) = (0, 0);
        for &message in tail.iter().rev() {
            spent += visible_tokens(message);
            if spent > budget && answers > 0 {
                break;
            }
            answers += usize::from(message.kind() == MessageKind::Reply);
            if starts_a_turn(message) {
                keep_from = message.seq();
            }
        }
        (tail.first()?.seq() < keep_from).then_some(keep_from)
    }

    /// The text of an earlier summary.
    fn earlier_summary(&self) -> Option<String> {
        let message = self.window().summary_seq.and_then(|seq| self.message(seq))?;
        Some(strip_bearings(&message.visible_content()))
    }

    /// The user's feedback before `keep_from`.
    fn feedback_before(&self, keep_from: i64) -> Vec<i64> {
        let is_kept = |message: &MessageRef<'_>| message.kind() == MessageKind::Feedback && message.seq() < keep_from;
        self.context().filter(is_kept).map(MessageRef::seq).collect()
    }
}

/// Shrinks the context if the next request would exceed the threshold, or if shrinking is already worthwhile.
pub(crate) fn bound_context(run: &mut Run, now: DateTime<Utc>) {
    if run.exit.is_some() {
        return;
    }
    let frame = run.frame();
    let estimate = run.conversation.estimate(frame);
    if estimate > frame.threshold {
        shrink(run, now);
        return;
    }
    // Clearing cannot gain more than the conversation has.
    if !frame.is_large(estimate) {
        return;
    }
    let given = &run.state.given;
    let clearable = run.conversation.of_old_answers(|result| !given.is_open(result.seq()));
    if clearable.is_large(frame) && clearable.pays() {
        run.conversation.clear(&mut run.step, clearable.results);
    }
}

/// One rung of the ladder: clear, summarize, or cut.
pub(crate) fn shrink(run: &mut Run, now: DateTime<Utc>) -> Shrunk {
    let frame = run.frame();
    // Results of completed work first, then old ones.
    let rungs: [fn(&Run) -> Clearable; 2] = [
        |run| run.conversation.of_closed_todos(&run.state.given, &run.ledger),
        |run| run.conversation.of_old_answers(|_| true),
    ];
    for rung in rungs {
        let clearable = rung(run);
        if clearable.is_large(frame) {
            run.conversation.clear(&mut run.step, clearable.results);
            if run.conversation.estimate(frame) <= frame.threshold {
                return Shrunk::Something;
            }
        }
    }
    let Some(keep_from) = run.conversation.keep_from(frame) else {
        return Shrunk::Nothing;
    };
    let is_last_try = run.state.guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW;
    if is_last_try || !run.conversation.can_be_summarized(keep_from, run.model_for(Purpose::Summary)) {
        return cut(run, keep_from, None, now);
    }
    run.state.stage = Stage::Summary { keep_from };
    Shrunk::Something
}

/// Applies the model's summary. A refusal, or a text cut by the output cap, is not a summary.
pub(crate) fn summarized(run: &mut Run, reply: Reply, keep_from: i64, now: DateTime<Utc>) {
    if reply.finish != FinishReason::Done {
        refuse_summary(run, reply.record, now);
        return;
    }
    run.note_request(reply.record.clone());
    run.state.retry = Retry::default();
    let replaced = run.conversation.before(keep_from).filter(|message| message.kind() != MessageKind::System);
    let replaced: u32 = replaced.map(visible_tokens).sum();
    let text = reply.content.trim();
    let shrinks = !text.is_empty() && run.settings.count(text) < replaced;
    let summary = shrinks.then(|| text.to_string());
    cut(run, keep_from, summary, now);
}

/// The answer was not a summary.
pub(crate) fn refuse_summary(run: &mut Run, record: RequestRecord, now: DateTime<Utc>) {
    run.note_request(record);
    cut_mechanically(run, now);
}

/// The rung that needs no model.
pub(crate) fn cut_mechanically(run: &mut Run, now: DateTime<Utc>) {
    let keep_from = match run.state.stage {
        Stage::Summary { keep_from } => keep_from,
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            run.conversation.next_seq()
        }
    };
    run.state.retry = Retry::default();
    cut(run, keep_from, None, now);
}

/// Replaces everything before `keep_from` by a summary, or by bare facts.
fn cut(run: &mut Run, keep_from: i64, summary: Option<String>, now: DateTime<Utc>) -> Shrunk {
    let kept = run.conversation.feedback_before(keep_from);
    let body = summary.or_else(|| run.conversation.earlier_summary()).unwrap_or_else(|| {
        "The conversation before this point was cut because the context was full. What was done is in the files \
         and in the todo list."
            .to_string()
    });
    let system = system_text(run, now);
    let system_seq = run.conversation.say(&mut run.step, MessageKind::System, system);
    let body = body.strip_prefix(SUMMARY_HEAD).unwrap_or(&body).trim().to_string();
    let text = format!("{SUMMARY_HEAD}\n\n{body}\n\n{}", opening::bearings(run));
    let summary_seq = run.conversation.say(&mut run.step, MessageKind::Summary, text);
    run.state.shows_untrusted |= opening::shows_documents(run);
    run.conversation.replace(system_seq, summary_seq, kept, keep_from);
    run.state.given.begin_at(keep_from);
    run.state.guards.compactions_in_row += 1;
    run.state.stage = Stage::Model;
    if todo_is_too_large(run, now) {
        return Shrunk::Something;
    }
    let frame = run.frame();
    if run.conversation.estimate(frame) > frame.threshold
        && run.state.guards.compactions_in_row <= MAX_COMPACTIONS_IN_ROW
    {
        bound_context(run, now);
    }
    Shrunk::Something
}

/// Counts a compaction, and tells the model if the current todo does not fit the window: what was read for it is
/// gone before it had a result. Returns whether the phase was abandoned.
fn todo_is_too_large(run: &mut Run, now: DateTime<Utc>) -> bool {
    run.state.guards.compactions_of_todo += 1;
    let times = run.state.guards.compactions_of_todo;
    let Some(todo) = run.todos.current().map(|todo| format!("todo {} ('{}')", todo.position, todo.content)) else {
        return false;
    };
    let window = run.frame().threshold;
    let filled = format!("{todo} has filled the context of {window} tokens {times} times without a result");
    if times >= COMPACTIONS_BEFORE_REPLAN {
        run.state.guards.compactions_of_todo = 0;
        replan_at_most(
            run,
            REPLANS_FOR_THE_WINDOW,
            &format!(
                "{filled}: it does not fit the window. Split it into todos for smaller parts; where even one part does not \
                 fit, limits.context_threshold_tokens or the model's window is too small for this job"
            ),
            now,
        );
        return true;
    }
    if times >= COMPACTIONS_BEFORE_WORD {
        let text = format!(
            "{filled}: it does not fit the window. Split it: read a smaller part (offset and limit), record or write down \
             what is found there before you read on, and close the todo with a note on what is left, or give the phase up \
             so that its todos are cut smaller."
        );
        run.conversation.say(&mut run.step, MessageKind::Nudge, text);
    }
    false
}

impl Run {
    /// What surrounds the conversation in the next turn's request.
    pub(crate) fn frame(&self) -> Frame {
        let model = self.model_for(self.state.phase.kind.purpose());
        let window = model.context_window.saturating_sub(model.max_output_tokens);
        let list = todo_list::render(&self.state.phase, &self.todos, self.workspace.planned());
        Frame {
            tools: self.conversation.tool_tokens(self.state.phase.kind),
            list: self.conversation.list_tokens(&list),
            threshold: self.settings.limits.context_threshold_tokens.min(window),
        }
    }

    /// Estimated tokens of the next turn's request.
    pub(crate) fn estimate(&self) -> u32 {
        self.conversation.estimate(self.frame())
    }

    /// Estimated tokens of the next request, whatever its purpose.
    pub fn next_request_tokens(&self) -> u32 {
        match self.state.stage {
            Stage::Summary { keep_from } => self.conversation.count_before(keep_from),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.estimate()
            }
        }
    }
}

/// How a summary begins.
const SUMMARY_HEAD: &str = "Summary of earlier work";

fn strip_bearings(text: &str) -> String {
    text.split("\n\n### Documents").next().unwrap_or(text).to_string()
}

fn starts_a_turn(message: MessageRef<'_>) -> bool {
    match message.kind() {
        MessageKind::Reply | MessageKind::Opening => true,
        MessageKind::ToolResult
        | MessageKind::Nudge
        | MessageKind::Feedback
        | MessageKind::System
        | MessageKind::Summary => false,
    }
}
