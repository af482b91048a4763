//! Detects a server that truncates its input.
//!
//! Ollama's default window is 4,096 tokens, independent of the model. A longer prompt loses its beginning there, the
//! answer looks normal, and only the reported token count of the prompt shows it (ollama#17427).
//!
//! But a small count is only an indication. Gateways report the prompt without its cached part, without its tools or
//! without its calls, although the server reads everything. So a count with cached tokens is not a sign, because the
//! beginning was read; a server that reports its window is judged by that; otherwise growth counts, not level: a
//! truncated count stays below a bound while the requests grow, and a merely wrong count grows with them.

use crate::{Reply, RequestRecord, run::state::SmallCounts};

/// No server keeps fewer tokens of a truncated input: half of 2,048, the smallest default window that Ollama ever had,
/// of which it keeps about half (ollama#17427). A smaller report is a counting error of the server, or a round number
/// of a test double.
const FEWEST_KEPT: u32 = 1024;

/// The counts of two tokenizers over a conversation never differ by this factor.
const FACTOR: u32 = 2;

/// Consecutive answers to a grown request before the job is paused.
const ANSWERS: u32 = 3;

/// Minimum growth factor of the requests while the count stays below its bound.
const GROWTH: f64 = 1.5;

/// A count that rises by this factor has not reached a bound yet.
const RISE: f64 = 1.1;

/// An answer's request by our own count, and the model that was asked.
pub(super) struct Asked {
    /// Our own count of the request.
    pub(super) own: u32,
    /// The model's window.
    pub(super) window: u32,
    /// Whether its server counts the whole prompt.
    pub(super) is_whole: bool,
}

impl Asked {
    /// Whether the server's count is below half of our own.
    fn is_small(&self, record: &RequestRecord) -> bool {
        self.is_whole && !record.estimated && self.own / FACTOR > record.prompt_tokens
    }

    /// Why the job is to be paused: the answer is to a conversation without its beginning. `texts`: our own count
    /// without tools and calls, because some servers count only texts.
    pub(super) fn reads_a_part(
        &self,
        counts: &mut SmallCounts,
        record: &RequestRecord,
        texts: impl FnOnce() -> u32,
    ) -> Option<String> {
        if record.cached_tokens > 0 || !self.is_small(record) {
            *counts = SmallCounts::default();
            return None;
        }
        let texts = texts();
        let is_cut = match record.server_window {
            Some(window) => texts > window,
            None => texts / FACTOR > record.prompt_tokens && counts.is_stalled(record.prompt_tokens, texts),
        };
        is_cut.then(|| {
            *counts = SmallCounts::default();
            self.too_small_a_window(record)
        })
    }

    /// A count below half of our own does not cover the whole prompt: ours is recorded. If the server is known not to
    /// count all of it, its count is what it charges for, and is recorded unchanged.
    pub(super) fn with_own_count(&self, mut reply: Reply) -> Reply {
        if self.is_small(&reply.record) {
            reply.record.prompt_tokens = self.own;
            reply.record.estimated = true;
        }
        reply
    }

    fn too_small_a_window(&self, record: &RequestRecord) -> String {
        let (read, sent, window) = (record.prompt_tokens, self.own, self.window);
        let told = match record.server_window {
            Some(told) => format!("it says that it has {told} tokens"),
            None => format!("more and more was sent, and its count stood at {ANSWERS} answers"),
        };
        format!(
            "the server's window is too small: it read {read} of about {sent} tokens, so the conversation lost its front; \
             {told}; give it a window of {window} tokens (Ollama: set OLLAMA_CONTEXT_LENGTH={window} for the server and \
             start it anew) or lower `llm.context_window`, then resume the job; if the server counts otherwise than it \
             reads, set `llm.profile.reports_whole_prompt` to false"
        )
    }
}

impl SmallCounts {
    /// Whether the count has stayed below a bound while the requests grew.
    fn is_stalled(&mut self, read: u32, sent: u32) -> bool {
        let added = sent.saturating_sub(self.last_sent);
        let grows_with = f64::from(read) > f64::from(self.most_read) * RISE || sent < self.sent_then;
        let has_fallen = read < self.most_read / 2;
        // A server that counts only what is new to its cache.
        let is_what_was_added = read <= added.saturating_mul(2).saturating_add(FEWEST_KEPT);
        self.last_sent = sent;
        if read < FEWEST_KEPT || grows_with || has_fallen {
            (self.most_read, self.sent_then, self.answers) = (read, sent, 0);
        } else if f64::from(sent) >= f64::from(self.sent_then) * GROWTH && !is_what_was_added {
            self.answers += 1;
        }
        self.answers >= ANSWERS
    }
}
