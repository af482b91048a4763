//! How an answer ended, by the provider's word for it.
//!
//! The words of six protocols meet in `finish_reason`, and aggregators hand on a benign one beside the truth in
//! `native_finish_reason`. A word that is not known is not taken for a good end: the calls of such an answer are carried
//! out as far as they are whole, and a text is not taken for the last word.

use plumbline_engine::{FailureClass, FinishReason};

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// There is an answer.
    Finished(FinishReason),
    /// There is none, whatever else the body says.
    Failed(FailureClass),
}

/// The word for an answer that says in a field of its own that it was refused, whatever it gives as its reason.
pub(crate) const REFUSAL: &str = "refusal";

/// The word for an answer that reached its cap.
pub(crate) const CUT: &str = "length";

/// Words for an answer that is still to come, or that was given up (responses).
pub(crate) const NOT_BEGUN: [&str; 3] = ["queued", "in_progress", "cancelled"];

/// Words of the model's own call, which the provider could not parse.
pub(crate) const OF_A_CALL: [&str; 4] =
    ["malformed_function_call", "malformed_tool_call", "unexpected_tool_call", "too_many_tool_calls"];

/// What the provider's word means. None where it gave none, as Ollama does: then the answer is whole.
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
        // `pause_turn`, and whatever comes next.
        _ => Finished(FinishReason::Unfinished),
    }
}

/// Whether an answer that ended by this word is one that the cap cut.
pub(crate) fn is_cut(word: Option<&str>) -> bool {
    of(word) == Ending::Finished(FinishReason::Truncated)
}

/// Of a protocol's word and the provider's own beside it, the one that tells the truth: the provider's own where it is
/// known to be no good end and the other says nothing of that.
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
