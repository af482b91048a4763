//! An answer in neutral form, or why there is none.

use super::{
    ending::{self, Ending},
    halves, inline_tool_calls, parallel, thinking,
};
use plumbline_engine::{FinishReason, ToolCall};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Maximum length of a finish reason that is kept, in characters; those of the protocols have less than forty.
const LONGEST_WORD: usize = 64;

/// An answer in neutral form.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) content: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    /// The provider's finish reason; the token counts decide whether the cap was reached.
    pub(crate) finish_reason: Option<String>,
    /// The data that is sent back unchanged with the answer.
    pub(crate) extra: Map<String, Value>,
    /// The provider's service tier of the request.
    pub(crate) service_tier: Option<String>,
    /// The usage object as it came.
    pub(crate) raw_usage: Option<Value>,
}

impl Decoded {
    /// An empty answer that reached the cap.
    pub(crate) fn cut() -> Self {
        Self { finish_reason: Some(ending::CUT.to_owned()), ..Self::default() }
    }

    /// The same with the calls of a wrapper as calls (see [`parallel`]), with the calls in its text if it has no
    /// others, and without the marks of a model's own format (see [`inline_tool_calls`]).
    pub(crate) fn with_leaked_calls(mut self, bound: &[&str]) -> Self {
        self.tool_calls = parallel::unwrapped(self.tool_calls, &mut self.extra, bound);
        for call in &mut self.tool_calls {
            call.name = inline_tool_calls::name(&call.name, bound).to_owned();
        }
        if self.tool_calls.is_empty()
            && ending::of(self.finish_reason.as_deref()) == Ending::Finished(FinishReason::Done)
            && let Some((calls, rest)) = inline_tool_calls::recover(&self.content, bound)
        {
            (self.tool_calls, self.content) = (calls, rest);
        }
        if let Some(answer) = inline_tool_calls::last_channel(&self.content) {
            self.content = answer.to_owned();
        }
        self.with_thought_calls(bound)
    }

    /// The same with the calls in the reasoning, if the answer has nothing else: some templates never close the
    /// reasoning before a call.
    fn with_thought_calls(mut self, bound: &[&str]) -> Self {
        let is_done = ending::of(self.finish_reason.as_deref()) == Ending::Finished(FinishReason::Done);
        if is_done && self.says_nothing() {
            let thought = ["reasoning_content", "reasoning"].iter().find_map(|key| self.extra.get(*key)?.as_str());
            if let Some((calls, _)) = thought.and_then(|thought| inline_tool_calls::recover(thought, bound)) {
                self.tool_calls = calls;
            }
        }
        self
    }

    /// The same without thinking in its text.
    pub(crate) fn without_thinking(mut self) -> Self {
        let before = self.content.len() - thinking::said(&self.content).len();
        self.content.drain(..before);
        self
    }

    /// Neither text nor calls.
    pub(crate) fn says_nothing(&self) -> bool {
        self.content.trim().is_empty() && self.tool_calls.is_empty()
    }
}

/// The output of an answer that failed after it had begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Begun {
    /// As it came.
    pub(crate) usage: Option<Value>,
    /// Bytes of text, reasoning and calls, about.
    pub(crate) bytes: usize,
}

impl Begun {
    /// An error instead of an answer is not.
    pub(crate) fn is_paid_for(&self) -> bool {
        self.usage.is_some() || self.bytes > 0
    }
}

/// Why a body with status 200 is not an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoAnswer {
    /// It is truncated: the connection was cut without another sign.
    Cut,
    /// An error object instead of, or inside, the answer.
    Error(Value),
    /// It violates the protocol; with the reason.
    Malformed(String),
}

impl NoAnswer {
    /// It violates the protocol.
    pub(crate) fn malformed(what: &str) -> Self {
        Self::Malformed(what.to_string())
    }

    /// Without the code for half characters (see [`halves`]).
    pub(crate) fn joined(self) -> Self {
        match self {
            Self::Cut => self,
            Self::Malformed(what) => Self::Malformed(halves::joined(&what).into_owned()),
            Self::Error(error) => {
                let text = error.to_string();
                match halves::joined(&text) {
                    Cow::Borrowed(_) => Self::Error(error),
                    Cow::Owned(text) => Self::Error(serde_json::from_str(&text).unwrap_or(error)),
                }
            }
        }
    }
}

/// The provider's finish reason, of bounded length.
pub(crate) fn word_of(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|word| !is_nothing(word)).map(of_some_length)
}

/// Absent, null, empty and the word `null` are four spellings of nothing.
fn is_nothing(word: &str) -> bool {
    let word = word.trim();
    word.is_empty() || word.eq_ignore_ascii_case("null")
}

/// A word of bounded length.
fn of_some_length(word: &str) -> String {
    word.chars().take(LONGEST_WORD).collect()
}
