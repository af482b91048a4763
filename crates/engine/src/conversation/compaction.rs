//! Keeps the context bounded and cheap. Before every call, if the estimate exceeds the threshold: first old tool
//! results are cleared, in one large batch so that the prefix changes rarely; then the model summarizes layers 4 and 5;
//! if the summary fails or does not shrink, they are truncated at pair boundaries. Layers 1 to 3 and the user's
//! messages are never changed, and the rows keep everything.
//!
//! Results are cleared below the threshold already, if that is worth invalidating the provider's prefix cache: if the
//! gain is a large share of the threshold, and at least what the provider must read again because of it. Requirements
//! that are not judged yet are excluded; they leave once they are judged (`run/given_rows.rs`). Results of closed todos
//! are cleared at once if configured or if there is no prefix cache anyway, and before all others if the window is full.

use super::context::{Conversation, Frame, visible_tokens};
use crate::{MessageKind, MessageRef, ModelSettings};

/// Consecutive compactions without a turn before the mechanical cut.
pub(crate) const MAX_COMPACTIONS_IN_ROW: u32 = 2;

/// Share of the threshold that is kept verbatim at a compaction.
const KEPT_TAIL: f64 = 0.25;

impl Conversation {
    /// Whether the conversation before `keep_from` fits the window of the model that would summarize it. One that does
    /// not is cut at once: a summary of a part would be mistaken for one of the whole.
    pub(crate) fn can_be_summarized(&self, keep_from: i64, model: &ModelSettings) -> bool {
        let prompt = self.settings.count(&self.settings.prompts.summarization);
        let request = self.count_before(keep_from).saturating_add(prompt);
        request.saturating_add(model.max_output_tokens) <= model.context_window
    }

    /// The first message of the part that is kept verbatim: a boundary between turns, so that no call is separated from
    /// its result. None if there is nothing before it.
    pub(crate) fn keep_from(&self, frame: Frame) -> Option<i64> {
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
    pub(crate) fn earlier_summary(&self) -> Option<String> {
        let message = self.window().summary_seq.and_then(|seq| self.message(seq))?;
        Some(strip_bearings(&message.visible_content()))
    }

    /// The user's feedback before `keep_from`.
    pub(crate) fn feedback_before(&self, keep_from: i64) -> Vec<i64> {
        let is_kept = |message: &MessageRef<'_>| message.kind() == MessageKind::Feedback && message.seq() < keep_from;
        self.context().filter(is_kept).map(MessageRef::seq).collect()
    }

    /// Tokens of the messages that a summary of what comes before `keep_from` replaces.
    pub(crate) fn replaced_before(&self, keep_from: i64) -> u32 {
        let replaced = self.before(keep_from).filter(|message| message.kind() != MessageKind::System);
        replaced.map(visible_tokens).sum()
    }
}

/// How a summary begins.
const SUMMARY_HEAD: &str = "Summary of earlier work";

/// The text of a summary, with the facts that hold regardless of it.
pub(crate) fn summary_text(summary: Option<String>, bearings: &str) -> String {
    let body = summary.unwrap_or_else(|| {
        "The conversation before this point was cut because the context was full. What was done is in the files \
         and in the todo list."
            .to_string()
    });
    let body = body.strip_prefix(SUMMARY_HEAD).unwrap_or(&body).trim();
    format!("{SUMMARY_HEAD}\n\n{body}\n\n{bearings}")
}

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
