//! Keeps the context bounded and cheap. Before every call, if the estimate exceeds the threshold: first old tool
//! results are cleared, in one large batch so that the prefix changes rarely; then the model summarizes layers 4 and 5;
//! if the summary fails or does not shrink, they are truncated at pair boundaries. Layers 1 to 3 and the user's
//! messages are never changed, and the rows keep everything.
//!
//! Results are cleared below the threshold already, if that is worth invalidating the provider's prefix cache: if the
//! gain is a large share of the threshold, and at least what the provider must read again because of it. Requirements
//! that are not judged yet are excluded; they leave once they are judged (`run/given_rows.rs`). Results of closed todos
//! are handled in `closed_todos.rs`.

use crate::{
    CLEARED_NOTE, Change, ContextWindow, FinishReason, MessageKind, MessageRef, Purpose, Reply, RequestRecord, Retry,
    Role, Run, Stage, ToolCall,
    phase::{opening, todo_list},
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// Consecutive compactions without a turn before the mechanical cut.
pub(crate) const MAX_COMPACTIONS_IN_ROW: u32 = 2;

/// Clearing must gain at least this share of the threshold; less is not worth a changed prefix. A smaller share sends
/// fewer tokens and changes the prefix more often.
const CLEARING_WORTHWHILE: f64 = 0.25;

/// Results with fewer bytes are not worth a note.
const SHORT: usize = 300;
/// Refusals are shorter than this; a longer text with the same beginning is a file or a page.
const LONGEST_REFUSAL: usize = 2000;
/// Approximate tokens of the note that replaces a cleared result.
const NOTE: u32 = 30;

/// The tool whose results contain requirements to be judged.
const NEXT_REQUIREMENT: &str = "next_requirement";

/// Tokens around a message's text: role and separators.
const ENVELOPE: u32 = 4;

/// This fraction of the threshold is reserved for the summary of earlier work.
const SUMMARY_SHARE: u32 = 4;

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

/// Room for the results of one answer, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Remaining tokens.
    pub left: u32,
    /// Whether a long result was added.
    pub taken: bool,
}

impl Room {
    /// Whether a result of this many bytes and tokens may be added. Short results always may, and so may the first long
    /// one: a model that requests a single result gets it, or its ends.
    pub(crate) fn holds(self, bytes: usize, tokens: impl FnOnce() -> u32) -> bool {
        !self.taken || bytes < SHORT || bytes <= self.left as usize || tokens() <= self.left
    }

    /// Records an added result.
    pub(crate) fn take(&mut self, bytes: usize, tokens: u32) {
        self.left = self.left.saturating_sub(tokens + ENVELOPE);
        self.taken |= bytes >= SHORT;
    }
}

/// The effect of clearing.
#[derive(Debug, Default)]
pub(super) struct Clearable {
    /// The results, ascending.
    pub(super) results: Vec<i64>,
    /// Tokens saved in every later request.
    gain: u32,
    /// Remaining tokens after the first of them, which no cache of the provider covers at the next request.
    read_again: u32,
}

impl Run {
    /// Estimated tokens of the next request: the provider's last count plus additions since; without one, our own
    /// counts, tool definitions included (lesson 53). A count below half of our own cannot cover the whole prompt.
    pub(crate) fn estimate(&self) -> u32 {
        let own = self.count_of_turn();
        let Some(anchor) = self.state.context.anchor else { return own };
        // Like every message, the list has an envelope.
        let todo_list = todo_list::tokens(self) + ENVELOPE;
        let added: u32 = self.tail().rev().take_while(|message| message.seq() > anchor.seq).map(visible_tokens).sum();
        let estimate = anchor.tokens.saturating_add(added).saturating_add(todo_list);
        if estimate < own / 2 { own } else { estimate }
    }

    /// Estimated tokens of the next request, whatever its purpose.
    pub fn next_request_tokens(&self) -> u32 {
        match self.state.stage {
            Stage::Summary { .. } => self.own_count(),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.estimate()
            }
        }
    }

    /// Our own count of the next turn's request.
    fn count_of_turn(&self) -> u32 {
        let tools = self.tool_tokens.get(&self.state.phase.kind).copied().unwrap_or(0);
        self.context().map(visible_tokens).sum::<u32>() + tools + todo_list::tokens(self) + ENVELOPE
    }

    /// Our own count of the next request, regardless of the provider's count.
    pub(crate) fn own_count(&self) -> u32 {
        match self.state.stage {
            Stage::Summary { keep_from } => self.context_before(keep_from).map(visible_tokens).sum(),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.count_of_turn()
            }
        }
    }

    /// The bound of a request: the configured threshold, or the window minus the answer, if smaller.
    fn threshold(&self) -> u32 {
        let model = self.model_for(self.turn_purpose());
        let window = model.context_window.saturating_sub(model.max_output_tokens);
        self.settings.limits.context_threshold_tokens.min(window)
    }

    /// Shrinks the context if the next request would exceed the threshold, or if shrinking is already worthwhile.
    pub(crate) fn bound_context(&mut self, now: DateTime<Utc>) {
        if self.exit.is_some() {
            return;
        }
        let estimate = self.estimate();
        if estimate > self.threshold() {
            self.shrink(now);
            return;
        }
        // Clearing cannot gain more than the conversation has.
        if !self.is_large(estimate) {
            return;
        }
        let clearable = self.of_old_answers(|result| !self.state.given.is_open(result.seq()));
        if self.is_large(clearable.gain) && clearable.gain >= clearable.read_again {
            self.clear(clearable.results);
        }
    }

    /// One rung of the ladder: clear, summarize, or cut.
    pub(crate) fn shrink(&mut self, now: DateTime<Utc>) -> Shrunk {
        // Results of completed work first, then old ones.
        let rungs: [fn(&Self) -> Clearable; 2] = [Self::of_closed_todos, |run| run.of_old_answers(|_| true)];
        for rung in rungs {
            let clearable = rung(self);
            if self.is_large(clearable.gain) {
                self.clear(clearable.results);
                if self.estimate() <= self.threshold() {
                    return Shrunk::Something;
                }
            }
        }
        let Some(keep_from) = self.keep_from() else {
            return Shrunk::Nothing;
        };
        if self.state.guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW || !self.can_be_summarized(keep_from) {
            return self.cut(keep_from, None, now);
        }
        self.state.stage = Stage::Summary { keep_from };
        Shrunk::Something
    }

    /// Whether the conversation before `keep_from` fits the window of the model that would summarize it. One that does
    /// not is cut at once: a summary of a part would be mistaken for one of the whole (lesson 54).
    fn can_be_summarized(&self, keep_from: i64) -> bool {
        let model = self.model_for(Purpose::Summary);
        let conversation: u32 = self.context_before(keep_from).map(visible_tokens).sum();
        let prompt = self.settings.count(&self.settings.prompts.summarization);
        conversation.saturating_add(prompt).saturating_add(model.max_output_tokens) <= model.context_window
    }

    fn is_large(&self, gain: u32) -> bool {
        f64::from(gain) >= f64::from(self.threshold()) * CLEARING_WORTHWHILE
    }

    /// The results that may be cleared because of their age: those of the last answers are kept
    /// (`limits.keep_recent_tool_results`).
    fn of_old_answers(&self, may_go: impl Fn(MessageRef<'_>) -> bool) -> Clearable {
        self.clearable(self.settings.limits.keep_recent_tool_results, may_go)
    }

    /// The tool results that may be cleared, with gain and cost. The results of this many last answers are kept, and
    /// those of the last one always: the model has not read what follows its last answer.
    pub(super) fn clearable(&self, kept_answers: usize, may_go: impl Fn(MessageRef<'_>) -> bool) -> Clearable {
        let mut clearable = Clearable::default();
        let kept_answers = kept_answers.max(1);
        let (mut answers, mut from_here) = (0, 0_u32);
        self.tail().rev().for_each(|message| {
            from_here += visible_tokens(message);
            answers += usize::from(message.kind() == MessageKind::Reply);
            let gain = message.tokens().saturating_sub(NOTE);
            if answers >= kept_answers && gain > 0 && is_clearable(message) && may_go(message) {
                clearable.results.push(message.seq());
                clearable.gain += gain;
                clearable.read_again = from_here.saturating_sub(clearable.gain);
            }
        });
        clearable.results.reverse();
        clearable
    }

    pub(crate) fn clear(&mut self, results: Vec<i64>) {
        self.put_notes(results.iter().copied());
        self.step.push(Change::ResultsCleared(results));
        self.state.context.anchor = None;
    }

    /// Replaces these results by notes.
    pub(crate) fn put_notes(&mut self, seqs: impl Iterator<Item = i64>) {
        let notes: HashMap<i64, (String, u32)> = seqs
            .filter_map(|seq| {
                let note = self.note_for(self.message(seq)?);
                let tokens = self.settings.count(&note);
                Some((seq, (note, tokens)))
            })
            .collect();
        if !notes.is_empty() {
            self.history.clear(notes);
        }
    }

    /// The note depends on a cleared result's tool: reads can be repeated, actions are done.
    fn note_for(&self, result: MessageRef<'_>) -> String {
        let call = result.tool_call_id().and_then(|id| self.call_with(id));
        let again =
            call.as_ref().filter(|call| self.settings.tools.iter().any(|it| it.reads_only && it.name == call.name));
        match (again, &call) {
            (Some(call), _) => format!("{CLEARED_NOTE}{}]", how_to_read_again(call)),
            // The same words whether all of it is judged or not: a note must not change while it is in the
            // conversation.
            (None, Some(call)) if call.name == NEXT_REQUIREMENT => {
                format!("{CLEARED_NOTE}what of it is not judged, {NEXT_REQUIREMENT} gives with again: true]")
            }
            (None, _) => format!("{CLEARED_NOTE}done at step {}]", result.step()),
        }
    }

    /// The call with this id, which contains the `seq` of its answer: `call_<seq>_<n>`.
    pub(crate) fn call_with(&self, id: &str) -> Option<ToolCall> {
        let seq = id.strip_prefix("call_")?.split('_').next()?.parse().ok()?;
        self.message(seq)?.tool_calls().find(|call| call.id == id).map(ToolCall::from)
    }

    /// The room for all results of one answer: the model reads all of them in the next request, even if older messages
    /// are cleared or summarized before it.
    pub(crate) fn room_for_results(&self, answer: i64) -> Room {
        self.room_for(self.message(answer).map_or(0, visible_tokens))
    }

    /// The same for the results of calls after the end of the phase: the next phase reads them after its opening, whose
    /// length is assumed to be that of the current one.
    pub(crate) fn room_for_held(&self) -> Room {
        self.room_for(self.message(self.state.context.tail_from).map_or(0, visible_tokens))
    }

    /// The same once that opening exists, with all messages after it.
    pub(crate) fn room_after_opening(&self) -> Room {
        self.room_for(self.tail().map(visible_tokens).sum())
    }

    fn room_for(&self, tokens: u32) -> Room {
        let system = self.message(self.state.context.system_seq).map_or(0, visible_tokens);
        let tools = self.tool_tokens.get(&self.state.phase.kind).copied().unwrap_or(0);
        let fixed = system + tools + todo_list::tokens(self) + tokens;
        let threshold = self.threshold();
        Room { left: threshold.saturating_sub(threshold / SUMMARY_SHARE).saturating_sub(fixed), taken: false }
    }

    /// The first message of the part that is kept verbatim: a boundary between turns, so that no call is separated from
    /// its result. None if there is nothing before it.
    fn keep_from(&self) -> Option<i64> {
        // A provider may refuse less than the threshold: then a share of the refused size is kept.
        let budget = (f64::from(self.threshold().min(self.estimate())) * KEPT_TAIL) as u32;
        let tail: Vec<MessageRef<'_>> = self.tail().collect();
        // If no turn is small enough to keep, everything is summarized, and the todo list continues from there; except
        // the messages after the last answer, which the model has not read.
        let mut keep_from = self.state.next_seq;
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

    /// Applies the model's summary. A refusal, or a text cut by the output cap, is not a summary.
    pub(crate) fn summarized(&mut self, reply: Reply, keep_from: i64, now: DateTime<Utc>) {
        if reply.finish != FinishReason::Done {
            self.refuse_summary(reply.record, now);
            return;
        }
        self.note_request(reply.record.clone());
        self.state.retry = Retry::default();
        let replaced: u32 = self
            .context_before(keep_from)
            .filter(|message| message.kind() != MessageKind::System)
            .map(visible_tokens)
            .sum();
        let text = reply.content.trim();
        let shrinks = !text.is_empty() && self.settings.count(text) < replaced;
        let summary = shrinks.then(|| text.to_string());
        self.cut(keep_from, summary, now);
    }

    /// The answer was not a summary.
    pub(crate) fn refuse_summary(&mut self, record: RequestRecord, now: DateTime<Utc>) {
        self.note_request(record);
        self.cut_mechanically(now);
    }

    /// The rung that needs no model.
    pub(crate) fn cut_mechanically(&mut self, now: DateTime<Utc>) {
        let keep_from = match self.state.stage {
            Stage::Summary { keep_from } => keep_from,
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.state.next_seq
            }
        };
        self.state.retry = Retry::default();
        self.cut(keep_from, None, now);
    }

    /// Replaces everything before `keep_from` by a summary, or by bare facts.
    fn cut(&mut self, keep_from: i64, summary: Option<String>, now: DateTime<Utc>) -> Shrunk {
        let kept: Vec<i64> = self
            .context()
            .filter(|message| message.kind() == MessageKind::Feedback && message.seq() < keep_from)
            .map(MessageRef::seq)
            .collect();
        let previous =
            self.state.context.summary_seq.and_then(|seq| self.message(seq)).map(MessageRef::visible_content);
        let body = summary.or_else(|| previous.as_deref().map(strip_bearings)).unwrap_or_else(|| {
            "The conversation before this point was cut because the context was full. What was done is in the files \
             and in the todo list."
                .to_string()
        });
        let system = self.system_text(now);
        let system_seq = self.push_message(Role::System, MessageKind::System, system);
        let body = body.strip_prefix(SUMMARY_HEAD).unwrap_or(&body).trim().to_string();
        let text = format!("{SUMMARY_HEAD}\n\n{body}\n\n{}", opening::bearings(self));
        let summary_seq = self.push_message(Role::User, MessageKind::Summary, text);
        self.state.shows_untrusted |= opening::shows_documents(self);
        self.state.context =
            ContextWindow { system_seq, summary_seq: Some(summary_seq), kept, tail_from: keep_from, anchor: None };
        self.drop_unseen_messages();
        self.state.guards.compactions_in_row += 1;
        self.state.stage = Stage::Model;
        if self.todo_is_too_large(now) {
            return Shrunk::Something;
        }
        if self.estimate() > self.threshold() && self.state.guards.compactions_in_row <= MAX_COMPACTIONS_IN_ROW {
            self.bound_context(now);
        }
        Shrunk::Something
    }
}

impl Run {
    /// Counts a compaction, and tells the model if the current todo does not fit the window: what was read for it is
    /// gone before it had a result. Returns whether the phase was abandoned.
    fn todo_is_too_large(&mut self, now: DateTime<Utc>) -> bool {
        self.state.guards.compactions_of_todo += 1;
        let times = self.state.guards.compactions_of_todo;
        let Some(todo) = self.current_todo().map(|todo| format!("todo {} ('{}')", todo.position, todo.content)) else {
            return false;
        };
        let window = self.threshold();
        let filled = format!("{todo} has filled the context of {window} tokens {times} times without a result");
        if times >= COMPACTIONS_BEFORE_REPLAN {
            self.state.guards.compactions_of_todo = 0;
            self.replan_at_most(
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
            self.push_message(Role::User, MessageKind::Nudge, text);
        }
        false
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

fn visible_tokens(message: MessageRef<'_>) -> u32 {
    message.tokens() + ENVELOPE
}

/// A result that may be cleared. A refusal may not, because the refused content would be forgotten.
fn is_clearable(message: MessageRef<'_>) -> bool {
    let text = message.visible_parts()[1];
    let is_refusal = text.starts_with("Error:") && text.len() < LONGEST_REFUSAL;
    message.kind() == MessageKind::ToolResult && !message.cleared() && text.len() >= SHORT && !is_refusal
}

/// "read it again if it is needed: chunks/chunk_001.md, from line 200, 100 lines".
fn how_to_read_again(call: &ToolCall) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let number = |key: &str| arguments[key].as_u64();
    let Some(path) = arguments["path"].as_str() else {
        return format!("call {} again if it is needed", call.name);
    };
    let lines = match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (from, None) => format!(", lines from {}", from.unwrap_or(1)),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            format!(", lines {from} to {}", from.saturating_add(limit).saturating_sub(1))
        }
    };
    match call.name.as_str() {
        "read_file" => format!("read it again if it is needed: {path}{lines}"),
        name => format!("call {name} again if it is needed: {path}"),
    }
}
