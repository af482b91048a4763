//! The conversation of one job in memory.
//!
//! A worker holds a thousand conversations while their models think, and those are most of its memory. A message by
//! itself is a handful of small allocations, each with room to spare; here all texts stand in one, one behind the other,
//! and a message is the places of its parts.

use crate::{CLEARED_NOTE, Message, MessageKind, Role, ToolCall};
use serde_json::{Map, Value};

/// Messages, ascending by `seq`.
#[derive(Debug, Default)]
pub struct History {
    /// Of each message its content, the id of the call that it answers, and of each of its calls id, name and arguments.
    texts: String,
    messages: Vec<Placed>,
    calls: Vec<PlacedCall>,
}

/// A message, but for its texts. Their lengths are in bytes and fit: a row of Postgres holds no text beyond 1 GiB.
#[derive(Debug)]
struct Placed {
    seq: i64,
    /// Where its texts begin.
    start: usize,
    /// The first of its calls.
    first_call: usize,
    /// Seldom there, and then in a form of the provider's own.
    extra: Option<Box<Map<String, Value>>>,
    content: u32,
    answers: Option<u32>,
    calls: u32,
    tokens: u32,
    role: Role,
    kind: MessageKind,
    cleared: bool,
}

#[derive(Debug)]
struct PlacedCall {
    id: u32,
    name: u32,
    arguments: u32,
}

/// A message of a history, to be read.
#[derive(Clone, Copy)]
pub struct MessageRef<'a> {
    history: &'a History,
    placed: &'a Placed,
}

/// A tool call of a history, to be read; see [`ToolCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCallRef<'a> {
    /// Unique within the job.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// JSON text.
    pub arguments: &'a str,
}

impl History {
    /// The messages, ascending by `seq`.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = MessageRef<'_>> {
        self.since(i64::MIN)
    }

    /// Those from this place in the job's history on.
    pub(crate) fn since(&self, seq: i64) -> impl DoubleEndedIterator<Item = MessageRef<'_>> {
        let start = self.messages.partition_point(|message| message.seq < seq);
        self.messages[start..].iter().map(|placed| MessageRef { history: self, placed })
    }

    /// The one with this place in the job's history.
    pub(crate) fn get(&self, seq: i64) -> Option<MessageRef<'_>> {
        let at = self.messages.binary_search_by_key(&seq, |message| message.seq).ok()?;
        Some(MessageRef { history: self, placed: &self.messages[at] })
    }

    /// Adds the youngest.
    pub fn push(&mut self, message: &Message) {
        let content = if message.cleared { "" } else { message.content.as_str() };
        let answers = message.tool_call_id.as_deref();
        let calls = message.tool_calls.iter().flat_map(|call| [&call.id, &call.name, &call.arguments]);
        let texts = [content, answers.unwrap_or_default()].into_iter().chain(calls.map(String::as_str));
        make_room(&mut self.messages, 1);
        self.messages.push(Placed {
            seq: message.seq,
            start: self.texts.len(),
            first_call: self.calls.len(),
            extra: (!message.extra.is_empty()).then(|| Box::new(message.extra.clone())),
            content: content.len() as u32,
            answers: answers.map(|id| id.len() as u32),
            calls: message.tool_calls.len() as u32,
            tokens: message.tokens,
            role: message.role,
            kind: message.kind,
            cleared: message.cleared,
        });
        self.calls.extend(message.tool_calls.iter().map(PlacedCall::of));
        // A doubled room would stay half empty for as long as the job is here.
        let more: usize = texts.clone().map(str::len).sum();
        let (length, room) = (self.texts.len(), self.texts.capacity());
        if length + more > room {
            self.texts.reserve_exact(more + length / 8);
        }
        self.texts.extend(texts);
    }

    /// Forgets all but those that are wanted.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(MessageRef<'_>) -> bool) {
        let kept: Vec<Message> =
            self.iter().filter(|message| wanted(*message)).map(|message| message.to_message()).collect();
        *self = kept.iter().collect();
    }

    /// Forgets the contents of these, ascending by `seq`: the model reads [`CLEARED_NOTE`] in their place from now on.
    pub(crate) fn clear(&mut self, seqs: &[i64]) {
        for message in self.messages.iter_mut().filter(|message| seqs.binary_search(&message.seq).is_ok()) {
            message.cleared = true;
        }
        self.retain(|_| true);
    }
}

/// An eighth more than is asked for.
fn make_room<T>(all: &mut Vec<T>, more: usize) {
    if all.len() + more > all.capacity() {
        all.reserve_exact(more + all.len() / 8);
    }
}

impl<'a> FromIterator<&'a Message> for History {
    fn from_iter<I: IntoIterator<Item = &'a Message>>(messages: I) -> Self {
        let mut history = Self::default();
        messages.into_iter().for_each(|message| history.push(message));
        history
    }
}

impl PlacedCall {
    fn of(call: &ToolCall) -> Self {
        let [id, name, arguments] = [&call.id, &call.name, &call.arguments].map(|text| text.len() as u32);
        Self { id, name, arguments }
    }
}

impl<'a> MessageRef<'a> {
    /// See [`Message::seq`].
    pub fn seq(self) -> i64 {
        self.placed.seq
    }

    /// See [`Message::role`].
    pub fn role(self) -> Role {
        self.placed.role
    }

    /// See [`Message::kind`].
    pub fn kind(self) -> MessageKind {
        self.placed.kind
    }

    /// See [`Message::tokens`].
    pub fn tokens(self) -> u32 {
        self.placed.tokens
    }

    /// See [`Message::cleared`].
    pub fn cleared(self) -> bool {
        self.placed.cleared
    }

    /// The text the model gets for this message.
    pub fn visible_content(self) -> &'a str {
        if self.placed.cleared { CLEARED_NOTE } else { self.texts(0, self.placed.content).0 }
    }

    /// See [`Message::tool_call_id`].
    pub fn tool_call_id(self) -> Option<&'a str> {
        let answers = self.placed.answers?;
        Some(self.texts(self.placed.content as usize, answers).0)
    }

    /// See [`Message::extra`].
    pub fn extra(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.placed.extra.as_deref().into_iter().flatten()
    }

    /// See [`Message::tool_calls`].
    pub fn tool_calls(self) -> impl ExactSizeIterator<Item = ToolCallRef<'a>> {
        let first = self.placed.first_call;
        let calls = &self.history.calls[first..first + self.placed.calls as usize];
        let mut at = self.placed.content as usize + self.placed.answers.unwrap_or_default() as usize;
        calls.iter().map(move |call| {
            let mut next = |length| {
                let (text, end) = self.texts(at, length);
                at = end;
                text
            };
            ToolCallRef { id: next(call.id), name: next(call.name), arguments: next(call.arguments) }
        })
    }

    fn to_message(self) -> Message {
        Message {
            seq: self.placed.seq,
            role: self.placed.role,
            kind: self.placed.kind,
            content: if self.placed.cleared { String::new() } else { self.visible_content().to_string() },
            tool_calls: self.tool_calls().map(ToolCall::from).collect(),
            tool_call_id: self.tool_call_id().map(str::to_string),
            extra: self.placed.extra.as_deref().cloned().unwrap_or_default(),
            tokens: self.placed.tokens,
            cleared: self.placed.cleared,
        }
    }

    /// The text of this length behind so many bytes of the message's texts, and how many are before what follows it.
    fn texts(self, behind: usize, length: u32) -> (&'a str, usize) {
        let end = behind + length as usize;
        (&self.history.texts[self.placed.start + behind..self.placed.start + end], end)
    }
}

/// The message alone, whatever stands beside it.
impl std::fmt::Debug for MessageRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_message().fmt(f)
    }
}

impl From<ToolCallRef<'_>> for ToolCall {
    fn from(call: ToolCallRef<'_>) -> Self {
        let [id, name, arguments] = [call.id, call.name, call.arguments].map(str::to_string);
        Self { id, name, arguments }
    }
}
