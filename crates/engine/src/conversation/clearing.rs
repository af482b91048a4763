//! Clears tool results, which the rows keep: each is replaced by a note. Refusals stay, and so do the results of the
//! last answers.

use super::context::{Conversation, Frame, visible_tokens};
use crate::{
    CLEARED_NOTE, Change, Given, MessageKind, MessageRef, ToolCall, ledger::Ledger, run::Step, tools,
    vocabulary::NEXT_REQUIREMENT,
};
use serde_json::Value;
use std::collections::HashMap;

/// Clearing must gain at least this share of the threshold; less is not worth a changed prefix. A smaller share sends
/// fewer tokens and changes the prefix more often.
const CLEARING_WORTHWHILE: f64 = 0.25;

/// Results with fewer bytes are not worth a note.
pub(super) const SHORT: usize = 300;
/// Refusals are shorter than this; a longer text with the same beginning is a file or a page.
const LONGEST_REFUSAL: usize = 2000;
/// Approximate tokens of the note that replaces a cleared result.
const NOTE: u32 = 30;

/// The effect of clearing.
#[derive(Debug, Default)]
pub(crate) struct Clearable {
    /// The results, ascending.
    pub(crate) results: Vec<i64>,
    /// Tokens saved in every later request.
    gain: u32,
    /// Remaining tokens after the first of them, which no cache of the provider covers at the next request.
    read_again: u32,
}

impl Clearable {
    /// Whether it gains a large share of the threshold.
    pub(crate) fn is_large(&self, frame: Frame) -> bool {
        frame.is_large(self.gain)
    }

    /// Whether it gains at least what the provider must read again because of it.
    pub(crate) fn pays(&self) -> bool {
        self.gain >= self.read_again
    }
}

impl Frame {
    pub(crate) fn is_large(self, gain: u32) -> bool {
        f64::from(gain) >= f64::from(self.threshold) * CLEARING_WORTHWHILE
    }
}

impl Conversation {
    /// The results that may be cleared because of their age: those of the last answers are kept
    /// (`limits.keep_recent_tool_results`).
    pub(crate) fn of_old_answers(&self, may_go: impl Fn(MessageRef<'_>) -> bool) -> Clearable {
        self.clearable(self.settings.limits.keep_recent_tool_results as usize, may_go)
    }

    /// The tool results that may be cleared, with gain and cost. The results of this many last answers are kept, and
    /// those of the last one always: the model has not read what follows its last answer.
    fn clearable(&self, kept_answers: usize, may_go: impl Fn(MessageRef<'_>) -> bool) -> Clearable {
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

    pub(crate) fn clear(&mut self, step: &mut Step, results: Vec<i64>) {
        if !results.is_empty() {
            self.put_notes(results.iter().copied());
            step.push(Change::ResultsCleared(results));
            self.forget_anchor();
        }
    }

    /// Results whose requirements are all judged are removed before the next request.
    pub(crate) fn clear_judged(&mut self, step: &mut Step, mut judged: Vec<i64>) {
        let from = self.window.tail_from;
        judged.retain(|seq| *seq >= from && self.message(*seq).is_some_and(|message| !message.cleared()));
        self.clear(step, judged);
    }

    /// Whether the current answer has closed a todo: the results of its turns are removed before the next request
    /// (`limits.closed_todos: drop`).
    pub(crate) fn has_closed_todo(&self) -> bool {
        self.since_answer().any(|message| self.closes_todo(message))
    }

    /// The results before the last closing of a todo. Kept are the results of the closing answer, since the model has
    /// not read them, requirements that are not judged yet, and texts of passages that are not answered: work on these
    /// is left.
    pub(crate) fn of_closed_todos(&self, given: &Given, ledger: &Ledger) -> Clearable {
        let Some(end) = self.tail().rev().find(|message| self.closes_todo(*message)).map(MessageRef::seq) else {
            return Clearable::default();
        };
        self.clearable(1, |result| {
            let seq = result.seq();
            seq < end && !given.is_open(seq) && !ledger.shows_open(&result.visible_content())
        })
    }

    /// Whether the message is the result of a call that closed a todo.
    fn closes_todo(&self, message: MessageRef<'_>) -> bool {
        let call = message.tool_call_id().filter(|_| message.kind() == MessageKind::ToolResult);
        let is_closing = |id| self.call_with(id).is_some_and(|call| tools::closes_todo(&call.name));
        call.is_some_and(is_closing) && !message.visible_content().starts_with("Error:")
    }

    /// Replaces these results by notes.
    pub(super) fn put_notes(&mut self, seqs: impl Iterator<Item = i64>) {
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
