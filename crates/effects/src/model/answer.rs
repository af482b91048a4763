//! From a decoded answer to the engine's [`Reply`]: counts, and whether the cap cut it.

use super::decode::Decoded;
use super::usage;
use crate::tokens;
use plumbline_engine::{Finish, Reply, RequestRecord, Usage};

/// What was sent.
pub(super) struct Sent<'a> {
    pub(super) bytes: usize,
    pub(super) render: &'a dyn Fn() -> Vec<u8>,
}

/// Completes the record with the counts and judges truncation.
///
/// An answer counts as cut when the provider says so or when it used up its cap: some servers report `tool_calls` for a
/// call that the cap cut in two (FAULTS F38).
pub(super) fn reply(decoded: Decoded, mut record: RequestRecord, max_output_tokens: u32, sent: &Sent<'_>) -> Reply {
    let reported = decoded.raw_usage.as_ref().and_then(usage::read).filter(|usage| is_plausible(usage, sent.bytes));
    let counts = reported.unwrap_or_else(|| estimate(&decoded, &(sent.render)()));
    record.prompt_tokens = counts.prompt_tokens;
    record.cached_tokens = counts.cached_tokens;
    record.completion_tokens = counts.completion_tokens;
    record.estimated = reported.is_none();
    record.raw_usage = decoded.raw_usage;
    // Only the provider's own count can show that the cap was reached; ours is of another tokenizer.
    let cap_reached = reported.is_some_and(|usage| usage.completion_tokens >= max_output_tokens);
    let finish = if cap_reached && decoded.finish == Finish::Done { Finish::Truncated } else { decoded.finish };
    Reply { content: decoded.content, tool_calls: decoded.tool_calls, finish, extra: decoded.extra, record }
}

/// A prompt has at least one token and at most one a byte. What counts otherwise would either let the context overflow or
/// use up a budget with one request.
fn is_plausible(usage: &Usage, sent_bytes: usize) -> bool {
    (1..=sent_bytes).contains(&(usage.prompt_tokens as usize))
}

/// Our own count where the provider gives none, so that budgets hold all the same (FAULTS F36).
fn estimate(decoded: &Decoded, sent: &[u8]) -> Usage {
    let calls: u32 =
        decoded.tool_calls.iter().map(|call| tokens::count(&call.name) + tokens::count(&call.arguments)).sum();
    Usage {
        prompt_tokens: tokens::count(&String::from_utf8_lossy(sent)),
        cached_tokens: 0,
        completion_tokens: tokens::count(&decoded.content) + calls,
    }
}
