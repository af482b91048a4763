//! How an answer ended, by the provider's finish reason.
//!
//! `finish_reason` has values of six protocols, and aggregators report a benign one with the real one in
//! `native_finish_reason`. An unknown value does not count as success: complete calls of such an answer are carried
//! out, and a text is not final.

use plumbline_engine::{FailureClass, FinishReason};

/// The meaning of a finish reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// There is an answer.
    Finished(FinishReason),
    /// There is no answer, regardless of the rest of the body.
    Failed(FailureClass),
}

/// The finish reason of an answer with a separate refusal field, for any stated reason.
pub(crate) const REFUSAL: &str = "refusal";

/// The finish reason of an answer that reached its cap.
pub(crate) const CUT: &str = "length";

/// Status values of an answer that is pending or was cancelled (responses).
pub(crate) const NOT_BEGUN: [&str; 3] = ["queued", "in_progress", "cancelled"];

/// Finish reasons for a call that the provider could not parse.
pub(crate) const OF_A_CALL: [&str; 4] =
    ["malformed_function_call", "malformed_tool_call", "unexpected_tool_call", "too_many_tool_calls"];

/// The meaning of the provider's finish reason. None if there is none, as with Ollama: then the answer is complete.
pub(crate) fn of(word: Option<&str>) -> Ending {
    use Ending::{Failed, Finished};
    let word = word.unwrap_or("").to_ascii_lowercase();
    match word.as_str() {
        "" | "stop" | "tool_calls" | "tool_call" | "tool_use" | "function_call" | "end_turn" | "stop_sequence"
        | "eos" | "eos_token" | "complete" | "completed" => Finished(FinishReason::Done),
        CUT | "max_tokens" | "max_output_tokens" | "model_length" => Finished(FinishReason::Truncated),
        "content_filter"
        | "content_filtered"
        | "safety"
        | REFUSAL
        | "blocked"
        | "blocklist"
        | "recitation"
        | "prohibited_content"
        | "spii"
        | "sensitive"
        | "guardrail_intervened" => Finished(FinishReason::Refused),
        "error" | "failed" | "network_error" | "abort" => Failed(FailureClass::Transient),
        "insufficient_system_resource" => Failed(FailureClass::Overloaded),
        "model_context_window_exceeded" | "context_length_exceeded" => Failed(FailureClass::ContextTooLong),
        word if OF_A_CALL.contains(&word) => Failed(FailureClass::Malformed),
        // `pause_turn`, and future values.
        _ => Finished(FinishReason::Unfinished),
    }
}

/// Whether the cap truncated an answer with this finish reason.
pub(crate) fn is_cut(word: Option<&str>) -> bool {
    of(word) == Ending::Finished(FinishReason::Truncated)
}

/// Of the protocol's finish reason and the provider's native one, the real one: the native one if it is known as a
/// failure and the other does not show it.
pub(crate) fn telling<'a>(word: Option<&'a str>, native: Option<&'a str>) -> Option<&'a str> {
    let is_benign = matches!(of(word), Ending::Finished(FinishReason::Done | FinishReason::Unfinished));
    let is_known_bad = !matches!(of(native), Ending::Finished(FinishReason::Done | FinishReason::Unfinished));
    if is_benign && is_known_bad { native } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_own_word_counts_where_it_is_known_to_be_worse() {
        for (word, native, expected) in [
            (Some("stop"), Some("MALFORMED_FUNCTION_CALL"), Some("MALFORMED_FUNCTION_CALL")),
            (Some("stop"), Some("network_error"), Some("network_error")),
            (Some("tool_calls"), Some("max_tokens"), Some("max_tokens")),
            (None, Some("SAFETY"), Some("SAFETY")),
            (Some("stop"), Some("eosFound"), Some("stop")),
            (Some("stop"), Some("end_turn"), Some("stop")),
            (Some("length"), Some("network_error"), Some("length")),
            (Some("stop"), None, Some("stop")),
            (None, None, None),
        ] {
            assert_eq!(telling(word, native), expected, "{word:?} {native:?}");
        }
    }
}
