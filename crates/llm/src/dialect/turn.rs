//! The entries of a conversation, in no protocol yet.

use serde_json::Value;
use std::borrow::Cow;

/// One entry of the conversation.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    System(Cow<'a, str>),
    User(Cow<'a, str>),
    Answer(Answer<'a>),
    Result {
        call_id: Cow<'a, str>,
        text: Cow<'a, str>,
        /// The number in the history of the calling answer.
        of: Option<i64>,
    },
}

impl Turn<'_> {
    /// The answer that it is, or is a result of, by its number in the history.
    pub(crate) fn answer(&self) -> Option<i64> {
        match self {
            Self::Answer(answer) => answer.seq,
            Self::Result { of, .. } => *of,
            Self::System(_) | Self::User(_) => None,
        }
    }
}

/// What the model said.
#[derive(Debug, Default)]
pub(crate) struct Answer<'a> {
    /// Its number in the history; none for a synthetic answer.
    pub(crate) seq: Option<i64>,
    pub(crate) text: Cow<'a, str>,
    pub(crate) calls: Vec<Call<'a>>,
    /// Its extra data that may be sent back.
    pub(crate) extra: Vec<(&'a str, &'a Value)>,
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: Cow<'a, str>,
    /// In a form that providers accept.
    pub(crate) name: Cow<'a, str>,
    /// JSON, an object.
    pub(crate) arguments: &'a str,
}
