//! From a decoded answer to the engine's [`Reply`]: counts, and whether the cap truncated it.

mod usage;

use crate::classify::Problem;
use crate::dialect::{
    Begun, Decoded,
    ending::{self, Ending},
};
use plumbline_engine::{FailureClass, FinishReason, Reply, RequestRecord, Suspicion, Usage};
use serde_json::Value;

/// What was sent.
pub(crate) struct Sent<'a> {
    pub(crate) bytes: usize,
    pub(crate) render: &'a dyn Fn() -> Vec<u8>,
}

/// Completes the record with the counts and determines how the answer ended.
///
/// # Errors
/// By the provider's own status it is not an answer; with the record anyway, because it was paid for.
pub(crate) fn reply(
    decoded: Decoded,
    mut record: RequestRecord,
    cap: u32,
    sent: &Sent<'_>,
    place: &str,
) -> Result<Reply, Box<(Problem, RequestRecord)>> {
    let of = usage::Of { sent: sent.bytes, cap };
    let reported = decoded.raw_usage.as_ref().and_then(|usage| read(usage, of));
    let counts = reported.unwrap_or_else(|| estimate(&decoded, &(sent.render)()));
    book(&mut record, counts, reported.is_none());
    let said = decoded.raw_usage.as_ref().filter(|_| reported.is_some()).and_then(usage::said_of_answer);
    let problem = problem(&decoded, said, place);
    record.raw_usage = decoded.raw_usage.map(usage::bounded);
    record.finish_reason = decoded.finish_reason;
    record.service_tier = decoded.service_tier.or(record.service_tier);
    if let Some(problem) = problem {
        return Err(Box::new((problem, record)));
    }
    let finish = finish(&record, cap);
    Ok(Reply { content: decoded.content, tool_calls: decoded.tool_calls, finish, extra: decoded.extra, record })
}

/// How an answered request ended, by its record and its cap.
///
/// An answer counts as truncated if the provider says so or if it used up its cap: some servers report `tool_calls` for
/// a call that the cap truncated. Only the provider's own count can show that; ours is from another tokenizer.
pub fn finish(record: &RequestRecord, cap: u32) -> FinishReason {
    let cap_reached = !record.estimated && record.completion_tokens >= cap;
    match ending::of(record.finish_reason.as_deref()) {
        Ending::Finished(FinishReason::Done | FinishReason::Unfinished) if cap_reached => FinishReason::Truncated,
        Ending::Finished(finish) => finish,
        // For an answer recorded by a version that did not know this status as a failure.
        Ending::Failed(_) => FinishReason::Done,
    }
}

/// Whether the prompt's token count is so small that the server may have read only a part of it. Prompts below the
/// smallest window of any server are not truncated.
pub(crate) fn seems_cut(record: &RequestRecord, sent_bytes: usize) -> bool {
    const SMALLEST_WINDOW: usize = 2048;
    let own = sent_bytes / usage::BYTES_A_TOKEN;
    !record.estimated && record.cached_tokens == 0 && own > SMALLEST_WINDOW && own / 2 > record.prompt_tokens as usize
}

/// Records the cost of a failed request: the provider's report, else our own count of the request and of the output
/// before the failure. A refused request costs nothing.
pub(crate) fn book_failed(record: &mut RequestRecord, begun: &Begun, cap: u32, sent: &Sent<'_>) {
    let of = usage::Of { sent: sent.bytes, cap };
    let reported = begun.usage.as_ref().and_then(|usage| read(usage, of));
    let counts = reported.unwrap_or_else(|| Usage {
        prompt_tokens: count_of(&(sent.render)()),
        completion_tokens: u32::try_from(begun.bytes / usage::BYTES_A_TOKEN).unwrap_or(u32::MAX).min(cap),
        ..Usage::default()
    });
    book(record, counts, reported.is_none());
    record.raw_usage = begun.usage.clone().map(usage::bounded);
}

fn book(record: &mut RequestRecord, counts: Usage, estimated: bool) {
    record.prompt_tokens = counts.prompt_tokens;
    record.cached_tokens = counts.cached_tokens;
    record.cache_write_tokens = counts.cache_write_tokens;
    record.reasoning_tokens = counts.reasoning_tokens;
    record.completion_tokens = counts.completion_tokens;
    record.estimated = estimated;
}

fn read(usage: &Value, of: usage::Of) -> Option<Usage> {
    usage::read(usage, of).filter(|usage| is_plausible(usage, of.sent))
}

/// A prompt has at least one token and at most one per byte. Any other count would either let the context overflow or
/// use up a budget with one request.
fn is_plausible(usage: &Usage, sent_bytes: usize) -> bool {
    (1..=sent_bytes).contains(&(usage.prompt_tokens as usize))
}

/// Our own count if the provider reports none, so that budgets hold anyway.
fn estimate(decoded: &Decoded, sent: &[u8]) -> Usage {
    let calls: u32 = decoded
        .tool_calls
        .iter()
        .map(|call| plumbline_tokens::count(&call.name) + plumbline_tokens::count(&call.arguments))
        .sum();
    Usage {
        prompt_tokens: count_of(sent),
        completion_tokens: plumbline_tokens::count(&decoded.content) + calls,
        ..Usage::default()
    }
}

fn count_of(sent: &[u8]) -> u32 {
    plumbline_tokens::count(&String::from_utf8_lossy(sent))
}

/// Why the response is not an answer, if so.
fn problem(decoded: &Decoded, completion_tokens: Option<u32>, place: &str) -> Option<Problem> {
    let word = decoded.finish_reason.as_deref();
    let said = word.unwrap_or_default();
    match ending::of(word) {
        Ending::Failed(class) => {
            let problem = Problem::new(class, format!("{place} ended its answer with `{said}`"));
            let of_a_call = ending::OF_A_CALL.contains(&said.to_ascii_lowercase().as_str());
            Some(if of_a_call { problem.suspecting(Suspicion::Call) } else { problem })
        }
        // An input that filled the window completely leaves no token for the answer; a larger cap would not help.
        Ending::Finished(FinishReason::Truncated) if completion_tokens == Some(0) && decoded.says_nothing() => {
            let message =
                format!("{place} ended its answer with `{said}` before the first token: the input fills the window");
            Some(Problem::new(FailureClass::ContextTooLong, message))
        }
        Ending::Finished(_) if ending::NOT_BEGUN.contains(&said) && decoded.says_nothing() => {
            Some(Problem::new(FailureClass::Transient, format!("{place} gave no answer: its status is `{said}`")))
        }
        Ending::Finished(_) => None,
    }
}
