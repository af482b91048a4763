//! The part of a conversation that the model sees, and how it grows.

use crate::{
    Anchor, Change, ContextWindow, History, Message, MessageKind, MessageRef, PhaseKind, Role, Settings, ToolCall,
    run::Step,
};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

/// Tokens around a message's text: role and separators.
pub(super) const ENVELOPE: u32 = 4;

/// The parts of a turn's request around the conversation, in tokens, and the bound of the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The definitions of the phase's tools.
    pub(crate) tools: u32,
    /// The todo list.
    pub(crate) list: u32,
    /// The configured threshold, or the window minus the answer, if smaller.
    pub(crate) threshold: u32,
}

/// The conversation of a run: its messages in memory, and which of them the model sees.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(super) settings: Arc<Settings>,
    /// The messages of the window and any others that were loaded, ascending by `seq`.
    pub(super) history: History,
    pub(super) window: ContextWindow,
    next_seq: i64,
    /// Tokens of the tool definitions, by phase kind.
    tool_tokens: HashMap<PhaseKind, u32>,
    /// The hash of the todo list when it was last counted, and its tokens. A turn needs them more than once, and most
    /// turns do not change the list.
    list: Mutex<(u64, u32)>,
}

/// Reading.
impl Conversation {
    pub(crate) fn new<'a>(
        settings: Arc<Settings>,
        window: ContextWindow,
        next_seq: i64,
        messages: impl Iterator<Item = &'a Message> + Clone,
    ) -> Self {
        let mut history = History::new(&settings);
        messages.clone().for_each(|message| history.push(message));
        let (tool_tokens, list) = (HashMap::new(), Mutex::default());
        let mut conversation = Self { settings, history, window, next_seq, tool_tokens, list };
        conversation.put_notes(messages.filter(|message| message.cleared).map(|message| message.seq));
        conversation
    }

    /// Its part of the checkpoint.
    pub(crate) fn checkpoint(&self) -> (ContextWindow, i64) {
        (self.window.clone(), self.next_seq)
    }

    pub(crate) fn window(&self) -> &ContextWindow {
        &self.window
    }

    /// The `seq` of the next message.
    pub(crate) fn next_seq(&self) -> i64 {
        self.next_seq
    }

    pub(crate) fn message(&self, seq: i64) -> Option<MessageRef<'_>> {
        self.history.get(seq)
    }

    /// The calls of a message.
    pub(crate) fn calls_of(&self, seq: i64) -> Vec<ToolCall> {
        self.message(seq).into_iter().flat_map(MessageRef::tool_calls).map(ToolCall::from).collect()
    }

    /// The call with this id, which contains the `seq` of its answer: `call_<seq>_<n>`.
    pub(crate) fn call_with(&self, id: &str) -> Option<ToolCall> {
        let seq = id.strip_prefix("call_")?.split('_').next()?.parse().ok()?;
        self.message(seq)?.tool_calls().find(|call| call.id == id).map(ToolCall::from)
    }

    /// The messages the model sees, in order: system, summary, kept feedback, tail.
    pub(crate) fn context(&self) -> impl Iterator<Item = MessageRef<'_>> {
        let ContextWindow { system_seq, summary_seq, kept, .. } = &self.window;
        let head = [Some(*system_seq), *summary_seq].into_iter().flatten().chain(kept.iter().copied());
        head.filter_map(|seq| self.message(seq)).chain(self.tail())
    }

    /// The part of the context that a summary replaces, after the system message. Both the system message and an
    /// earlier summary may be newer than the kept part.
    pub(crate) fn before(&self, keep_from: i64) -> impl Iterator<Item = MessageRef<'_>> {
        self.context().filter(move |message| match message.kind() {
            MessageKind::System | MessageKind::Summary => true,
            MessageKind::Opening
            | MessageKind::Feedback
            | MessageKind::Nudge
            | MessageKind::Reply
            | MessageKind::ToolResult => message.seq() < keep_from,
        })
    }

    /// The conversation since the phase began or was last compacted.
    pub(crate) fn tail(&self) -> impl DoubleEndedIterator<Item = MessageRef<'_>> {
        self.history.since(self.window.tail_from).filter(|message| match message.kind() {
            MessageKind::System | MessageKind::Summary => false,
            MessageKind::Opening
            | MessageKind::Feedback
            | MessageKind::Nudge
            | MessageKind::Reply
            | MessageKind::ToolResult => true,
        })
    }

    /// The messages after the last answer, latest first.
    pub(crate) fn since_answer(&self) -> impl Iterator<Item = MessageRef<'_>> {
        self.tail().rev().take_while(|message| message.kind() != MessageKind::Reply)
    }
}

/// Growing.
impl Conversation {
    /// Appends a message of the system or the user.
    pub(crate) fn say(&mut self, step: &mut Step, kind: MessageKind, content: String) -> i64 {
        let role = if kind == MessageKind::System { Role::System } else { Role::User };
        let tokens = self.settings.count(&content);
        self.push(step, message(role, kind, content, tokens))
    }

    /// Appends the model's answer.
    pub(crate) fn reply(
        &mut self,
        step: &mut Step,
        content: String,
        tool_calls: Vec<ToolCall>,
        extra: Map<String, Value>,
    ) {
        let count = |text: &str| self.settings.count(text);
        let calls: u32 = tool_calls.iter().map(|call| count(&call.arguments) + count(&call.name)).sum();
        let tokens = count(&content) + calls;
        let reply = message(Role::Assistant, MessageKind::Reply, content, tokens);
        self.push(step, Message { tool_calls, extra, ..reply });
    }

    /// Answers a call; returns the message's `seq` and its tokens.
    pub(crate) fn answer(&mut self, step: &mut Step, call: &ToolCall, content: String) -> (i64, u32) {
        self.answer_as(step, Role::Tool, call, content)
    }

    /// The same with a role: after an opening, results are user messages.
    pub(crate) fn answer_as(&mut self, step: &mut Step, role: Role, call: &ToolCall, content: String) -> (i64, u32) {
        let tokens = self.settings.count(&content);
        let result = message(role, MessageKind::ToolResult, content, tokens);
        let seq = self.push(step, Message { tool_call_id: Some(call.id.clone()), ..result });
        (seq, tokens)
    }

    fn push(&mut self, step: &mut Step, mut message: Message) -> i64 {
        let seq = self.next_seq;
        (message.seq, message.step) = (seq, step.number());
        self.next_seq += 1;
        self.history.push(&message);
        step.push(Change::Message(message));
        seq
    }

    /// The provider's count of the context is no longer one of the next request.
    pub(crate) fn forget_anchor(&mut self) {
        self.window.anchor = None;
    }

    pub(crate) fn set_anchor(&mut self, anchor: Option<Anchor>) {
        self.window.anchor = anchor;
    }

    /// A phase has begun with these messages; the conversation before it goes on if it is kept.
    pub(crate) fn begin_phase(&mut self, system_seq: i64, opening_seq: i64, is_kept: bool) {
        if is_kept && self.window.system_seq != 0 {
            self.window.system_seq = system_seq;
            self.forget_anchor();
        } else {
            self.window = ContextWindow { system_seq, tail_from: opening_seq, ..ContextWindow::default() };
        }
        self.drop_unseen();
    }

    /// Replaces everything before `keep_from` by a summary, except the user's feedback.
    pub(crate) fn replace(&mut self, system_seq: i64, summary_seq: i64, kept: Vec<i64>, keep_from: i64) {
        let summary_seq = Some(summary_seq);
        self.window = ContextWindow { system_seq, summary_seq, kept, tail_from: keep_from, anchor: None };
        self.drop_unseen();
    }

    /// Forgets messages that no request will show again; the rows keep them.
    fn drop_unseen(&mut self) {
        // `context` is ordered by layer, not by seq.
        let seen: BTreeSet<i64> = self.context().map(MessageRef::seq).collect();
        self.history.retain(|message| seen.contains(&message.seq()));
    }
}

/// Counting.
impl Conversation {
    /// Counts the tool definitions, with those of loaded tools.
    pub(crate) fn count_tools(&mut self, loaded: &[String]) {
        let settings = &self.settings;
        let count = |tool| settings.tools.tokens(tool, &settings.count_tokens);
        let size = |kind| settings.bound_with(kind, loaded).map(count).sum();
        let kinds = [PhaseKind::Strategic, PhaseKind::Tactical];
        self.tool_tokens = kinds.into_iter().map(|kind| (kind, size(kind))).collect();
    }

    /// Tokens of the tool definitions in a phase of this kind.
    pub(crate) fn tool_tokens(&self, kind: PhaseKind) -> u32 {
        self.tool_tokens.get(&kind).copied().unwrap_or(0)
    }

    /// Tokens of the rendered todo list.
    pub(crate) fn list_tokens(&self, list: &str) -> u32 {
        let mut last = self.list.lock();
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(list);
        if last.0 != hash {
            *last = (hash, self.settings.count(list));
        }
        last.1
    }

    /// Estimated tokens of the next turn's request: the provider's last count plus additions since; without one, our
    /// own counts, tool definitions included. A count below half of our own cannot cover the whole prompt.
    pub(crate) fn estimate(&self, frame: Frame) -> u32 {
        let own = self.own_count(frame);
        let Some(anchor) = self.window.anchor else { return own };
        let added: u32 = self.tail().rev().take_while(|message| message.seq() > anchor.seq).map(visible_tokens).sum();
        // Like every message, the list has an envelope.
        let estimate = anchor.tokens.saturating_add(added).saturating_add(frame.list + ENVELOPE);
        if estimate < own / 2 { own } else { estimate }
    }

    /// Our own count of the next turn's request.
    pub(crate) fn own_count(&self, frame: Frame) -> u32 {
        self.context().map(visible_tokens).sum::<u32>() + frame.tools + frame.list + ENVELOPE
    }

    /// Our own count of a request for a summary of what comes before `keep_from`.
    pub(crate) fn count_before(&self, keep_from: i64) -> u32 {
        self.before(keep_from).map(visible_tokens).sum()
    }

    /// Tokens of the calls in it.
    pub(crate) fn call_tokens(&self) -> u32 {
        let count = |text| self.settings.count(text);
        self.context().flat_map(MessageRef::tool_calls).map(|call| count(call.arguments) + count(call.name)).sum()
    }

    /// Tokens of a message.
    pub(super) fn tokens_of(&self, seq: i64) -> u32 {
        self.message(seq).map_or(0, visible_tokens)
    }
}

fn message(role: Role, kind: MessageKind, content: String, tokens: u32) -> Message {
    let (tool_calls, tool_call_id, extra) = (Vec::new(), None, Map::new());
    Message { seq: 0, role, kind, content, tool_calls, tool_call_id, extra, tokens, step: 0, cleared: false }
}

pub(super) fn visible_tokens(message: MessageRef<'_>) -> u32 {
    message.tokens() + ENVELOPE
}
