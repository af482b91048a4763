//! The room for the results of one answer.

use super::{
    clearing::SHORT,
    context::{Conversation, ENVELOPE, Frame, visible_tokens},
};
use serde::{Deserialize, Serialize};

/// This fraction of the threshold is reserved for the summary of earlier work.
const SUMMARY_SHARE: u32 = 4;

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

impl Conversation {
    /// The room for all results of one answer: the model reads all of them in the next request, even if older messages
    /// are cleared or summarized before it.
    pub(crate) fn room_for_results(&self, answer: i64, frame: Frame) -> Room {
        self.room_after(self.tokens_of(answer), frame)
    }

    /// The same for the results of calls after the end of the phase: the next phase reads them after its opening, whose
    /// length is assumed to be that of the current one.
    pub(crate) fn room_for_held(&self, frame: Frame) -> Room {
        self.room_after(self.tokens_of(self.window().tail_from), frame)
    }

    /// The same once that opening exists, with all messages after it.
    pub(crate) fn room_after_opening(&self, frame: Frame) -> Room {
        self.room_after(self.tail().map(visible_tokens).sum(), frame)
    }

    fn room_after(&self, tokens: u32, frame: Frame) -> Room {
        let fixed = self.tokens_of(self.window().system_seq) + frame.tools + frame.list + tokens;
        let most = frame.threshold - frame.threshold / SUMMARY_SHARE;
        Room { left: most.saturating_sub(fixed), taken: false }
    }
}
