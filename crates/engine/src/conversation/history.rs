//! The conversation of one job in memory.
//!
//! A worker holds a thousand conversations while their models work, which is most of its memory. A separate message
//! would be a handful of small allocations with unused capacity; here texts are stored back to back in one or a few
//! larger buffers, and a message is the ranges of its parts: 2,000 jobs take 245 MiB instead of 304. The common prefix of
//! the system prompts of jobs with the same settings is stored once.

use crate::{Message, MessageKind, Role, Settings, ToolCall};
use serde_json::{Map, Value};
use std::{borrow::Cow, collections::HashMap, sync::Arc};

/// From this many bytes on, a new buffer is begun, because a growing buffer is copied.
const LONG: usize = 32 * 1024;
/// When capacity is exhausted, it grows by the new text and a sixteenth of the current length. A doubled capacity would
/// stay half unused for as long as the job is in memory.
const ROOM: usize = 16;
/// Minimum number of messages to reserve capacity for.
const FEW: usize = 16;

/// Messages, ascending by `seq`.
#[derive(Debug, Default)]
pub struct History {
    /// Common prefixes of system prompts.
    beginnings: Arc<[Box<str>]>,
    /// For each message its content (without the common prefix), the id of the call that it answers, and for each of
    /// its calls id, name and arguments.
    texts: Vec<String>,
    messages: Vec<Placed>,
    calls: Vec<PlacedCall>,
}

/// A message without its texts. Their lengths in bytes fit: a row of Postgres holds at most 1 GiB of text.
#[derive(Debug)]
struct Placed {
    seq: i64,
    /// The buffer with its texts, and their start in it.
    text: usize,
    start: usize,
    /// The first of its calls.
    first_call: usize,
    /// Rare; has a provider-specific form.
    extra: Option<Box<Map<String, Value>>>,
    beginning: Option<u8>,
    content: u32,
    answers: Option<u32>,
    calls: u32,
    tokens: u32,
    step: i64,
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

/// A read-only view of a message of a history.
#[derive(Clone, Copy)]
pub struct MessageRef<'a> {
    history: &'a History,
    placed: &'a Placed,
}

/// A read-only view of a tool call of a history; see [`ToolCall`].
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
    /// An empty history for a job with these settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { beginnings: Arc::clone(settings.prompt_prefixes()), ..Self::default() }
    }

    /// The messages, ascending by `seq`.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = MessageRef<'_>> {
        self.since(i64::MIN)
    }

    /// The messages from this `seq` on.
    #[inline]
    pub(crate) fn since(&self, seq: i64) -> impl DoubleEndedIterator<Item = MessageRef<'_>> {
        let start = self.messages.partition_point(|message| message.seq < seq);
        self.messages[start..].iter().map(|placed| MessageRef { history: self, placed })
    }

    /// The message with this `seq`.
    #[inline]
    pub(crate) fn get(&self, seq: i64) -> Option<MessageRef<'_>> {
        let at = self.messages.binary_search_by_key(&seq, |message| message.seq).ok()?;
        Some(MessageRef { history: self, placed: &self.messages[at] })
    }

    /// Appends the latest message.
    pub fn push(&mut self, message: &Message) {
        let (beginning, content) = self.parted(message);
        let answers = message.tool_call_id.as_deref();
        let calls = message.tool_calls.iter().flat_map(|call| [&call.id, &call.name, &call.arguments]);
        let parts = [content, answers.unwrap_or_default()].into_iter().chain(calls.map(String::as_str));
        let text = self.text_with_room(parts.clone().map(str::len).sum());
        let start = text.len();
        text.extend(parts);
        if self.messages.len() == self.messages.capacity() {
            self.messages.reserve_exact(FEW + self.messages.len() / ROOM);
        }
        self.messages.push(Placed {
            seq: message.seq,
            text: self.texts.len() - 1,
            start,
            first_call: self.calls.len(),
            extra: (!message.extra.is_empty()).then(|| Box::new(message.extra.clone())),
            beginning,
            content: content.len() as u32,
            answers: answers.map(|id| id.len() as u32),
            calls: message.tool_calls.len() as u32,
            tokens: message.tokens,
            step: message.step,
            role: message.role,
            kind: message.kind,
            cleared: message.cleared,
        });
        self.calls.extend(message.tool_calls.iter().map(PlacedCall::of));
    }

    /// The last buffer, with capacity for this many bytes.
    fn text_with_room(&mut self, bytes: usize) -> &mut String {
        if self.texts.last().is_none_or(|last| last.len() + bytes > LONG) {
            self.texts.push(String::new());
        }
        let last = self.texts.len() - 1;
        let text = &mut self.texts[last];
        if text.len() + bytes > text.capacity() {
            text.reserve_exact(bytes + text.len() / ROOM);
        }
        text
    }

    /// A message's content, split into a known common prefix and the rest.
    fn parted<'m>(&self, message: &'m Message) -> (Option<u8>, &'m str) {
        let rest = |beginning: &str| match message.kind {
            MessageKind::System => message.content.strip_prefix(beginning),
            MessageKind::Opening
            | MessageKind::Summary
            | MessageKind::Feedback
            | MessageKind::Nudge
            | MessageKind::Reply
            | MessageKind::ToolResult => None,
        };
        let known = (0..).zip(&*self.beginnings).find_map(|(at, beginning)| Some((Some(at), rest(beginning)?)));
        known.unwrap_or((None, &message.content))
    }

    /// Removes all messages except the wanted ones.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(MessageRef<'_>) -> bool) {
        let kept: Vec<Message> =
            self.iter().filter(|message| wanted(*message)).map(|message| message.to_message()).collect();
        *self = Self { beginnings: Arc::clone(&self.beginnings), ..Self::default() };
        kept.iter().for_each(|message| self.push(message));
    }

    /// Replaces the contents of these messages by notes (text and tokens).
    pub(crate) fn clear(&mut self, mut notes: HashMap<i64, (String, u32)>) {
        let kept: Vec<Message> = self.iter().map(MessageRef::to_message).collect();
        *self = Self { beginnings: Arc::clone(&self.beginnings), ..Self::default() };
        for mut message in kept {
            if let Some((note, tokens)) = notes.remove(&message.seq) {
                (message.content, message.tokens, message.cleared) = (note, tokens, true);
            }
            self.push(&message);
        }
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
    #[inline]
    pub fn seq(self) -> i64 {
        self.placed.seq
    }

    /// See [`Message::role`].
    #[inline]
    pub fn role(self) -> Role {
        self.placed.role
    }

    /// See [`Message::kind`].
    #[inline]
    pub fn kind(self) -> MessageKind {
        self.placed.kind
    }

    /// See [`Message::tokens`].
    #[inline]
    pub fn tokens(self) -> u32 {
        self.placed.tokens
    }

    /// See [`Message::step`].
    pub(crate) fn step(self) -> i64 {
        self.placed.step
    }

    /// See [`Message::cleared`].
    #[inline]
    pub fn cleared(self) -> bool {
        self.placed.cleared
    }

    /// The text the model gets for this message.
    pub fn visible_content(self) -> Cow<'a, str> {
        match self.visible_parts() {
            ["", all] => Cow::Borrowed(all),
            parts => Cow::Owned(parts.concat()),
        }
    }

    /// The same text as it is stored, in two parts; the first is usually empty.
    #[inline]
    pub fn visible_parts(self) -> [&'a str; 2] {
        let beginning = self.placed.beginning.and_then(|at| self.history.beginnings.get(usize::from(at)));
        [beginning.map_or("", |beginning| beginning), self.texts(0, self.placed.content).0]
    }

    /// See [`Message::tool_call_id`].
    #[inline]
    pub fn tool_call_id(self) -> Option<&'a str> {
        let answers = self.placed.answers?;
        Some(self.texts(self.placed.content as usize, answers).0)
    }

    /// See [`Message::extra`].
    #[inline]
    pub fn extra(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.placed.extra.as_deref().into_iter().flatten()
    }

    /// See [`Message::tool_calls`].
    #[inline]
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
            content: self.visible_content().into_owned(),
            tool_calls: self.tool_calls().map(ToolCall::from).collect(),
            tool_call_id: self.tool_call_id().map(str::to_string),
            extra: self.placed.extra.as_deref().cloned().unwrap_or_default(),
            tokens: self.placed.tokens,
            step: self.placed.step,
            cleared: self.placed.cleared,
        }
    }

    /// The text of this length after this many bytes of the message's texts, and the offset of the next text.
    #[inline]
    fn texts(self, behind: usize, length: u32) -> (&'a str, usize) {
        let end = behind + length as usize;
        let text = &self.history.texts[self.placed.text];
        (&text[self.placed.start + behind..self.placed.start + end], end)
    }
}

/// Only this message, not the shared buffers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn beginning_with(beginnings: &[&str]) -> History {
        let beginnings = beginnings.iter().map(|&beginning| Box::from(beginning)).collect();
        History { beginnings, ..History::default() }
    }

    fn message(seq: i64, kind: MessageKind, content: &str) -> Message {
        Message {
            seq,
            role: Role::User,
            kind,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            extra: Map::new(),
            tokens: seq as u32,
            step: 0,
            cleared: false,
        }
    }

    fn call(id: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "write_file".into(), arguments: arguments.into() }
    }

    fn said() -> Vec<Message> {
        let mut reply = message(3, MessageKind::Reply, "Grüße 🦀");
        reply.tool_calls = vec![call("call_3_1", r#"{"path":"a"}"#), call("call_3_2", "{}")];
        reply.extra = json!({"signature": [1, 2]}).as_object().cloned().unwrap_or_default();
        let result = |seq, id: Option<&str>, content| Message {
            tool_call_id: id.map(str::to_string),
            ..message(seq, MessageKind::ToolResult, content)
        };
        let system = message(1, MessageKind::System, "You plan. The job is this.");
        vec![
            system,
            reply,
            result(4, Some("call_3_1"), "written"),
            result(5, Some(""), ""),
            result(9, None, "You plan."),
        ]
    }

    #[test]
    fn what_was_said_is_read_as_it_was_said() {
        for beginnings in [&[][..], &["You work. ", "You plan. "], &["You plan. The job is this."]] {
            let mut history = beginning_with(beginnings);
            said().iter().for_each(|message| history.push(message));
            assert_eq!(history.iter().map(MessageRef::to_message).collect::<Vec<_>>(), said(), "{beginnings:?}");
            history.retain(|message| message.seq() != 4);
            let left: Vec<Message> = said().into_iter().filter(|message| message.seq != 4).collect();
            assert_eq!(history.iter().map(MessageRef::to_message).collect::<Vec<_>>(), left, "{beginnings:?}");
        }
    }

    #[test]
    fn messages_are_found_by_their_place() {
        let history: History = said().iter().collect();
        let seqs = |from| history.since(from).map(MessageRef::seq).collect::<Vec<_>>();
        assert_eq!((seqs(0), seqs(4), seqs(6), seqs(10)), (vec![1, 3, 4, 5, 9], vec![4, 5, 9], vec![9], vec![]));
        assert_eq!(history.get(9).map(|message| message.visible_content()), Some("You plan.".into()));
        assert!(history.get(2).is_none());
    }

    #[test]
    fn the_beginning_of_a_system_prompt_is_held_for_all_jobs_and_no_other_messages() {
        let mut history = beginning_with(&["You work. ", "You plan. "]);
        said().iter().for_each(|message| history.push(message));
        let parts = |seq| history.get(seq).map(MessageRef::visible_parts);
        assert_eq!(parts(1), Some(["You plan. ", "The job is this."]));
        assert_eq!(parts(9), Some(["", "You plan."]));
        assert!(history.texts[0].starts_with("The job"), "{:?}", history.texts);
    }

    #[test]
    fn what_is_cleared_takes_the_room_of_its_note() {
        let mut history: History = said().iter().collect();
        let before = history.texts[0].len();
        history.clear(HashMap::from([(4, ("[gone]".to_string(), 3))]));
        assert_eq!(history.texts[0].len(), before - "written".len() + "[gone]".len());
        let cleared = history.get(4).map(|it| (it.cleared(), it.tokens(), it.visible_content().into_owned()));
        assert_eq!(cleared, Some((true, 3, "[gone]".to_string())));
        assert_eq!(history.get(4).and_then(MessageRef::tool_call_id), Some("call_3_1"));
    }

    #[test]
    fn a_conversation_takes_little_more_room_than_its_texts_and_what_is_long_is_not_copied() {
        let mut history = History::default();
        let of = |seq: i64| if seq % 97 == 0 { 3 * LONG } else { 2000 };
        for seq in 0..500 {
            let first = history.texts.first().filter(|first| first.len() + 2000 > LONG).map(|first| first.as_ptr());
            history.push(&message(seq, MessageKind::ToolResult, &"x".repeat(of(seq))));
            assert!(first.is_none_or(|first| first == history.texts[0].as_ptr()));
            let (length, room): (usize, usize) =
                history.texts.iter().fold((0, 0), |all, text| (all.0 + text.len(), all.1 + text.capacity()));
            assert!(room - length <= length / ROOM, "{} bytes behind {length}", room - length);
        }
        let lengths = history.iter().map(|message| (message.seq(), message.visible_content().len()));
        assert!(lengths.eq((0..500).map(|seq| (seq, of(seq)))));
    }
}
