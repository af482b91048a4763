//! Request assembly: the layers in their documented order.
//!
//! system prompt with instructions and `workspace.md` (1) · tool definitions (3, in `tools`) · summary of earlier work
//! (4) · the conversation since (5) · the active todo list (2) last. Nothing before the todo list changes between two
//! turns except by appending.

use crate::{
    MessageKind, MessageRef, ModelRequest, PhaseKind, Purpose, RequestMessage, Run, Stage, TodoListPosition,
    phase::todo_list,
};

impl Run {
    /// The next request: a summary if the run waits for one, otherwise a turn. A read, like [`Run::next`].
    pub fn request(&self) -> ModelRequest<'_> {
        match self.state.stage {
            Stage::Summary { keep_from } => self.summary_request(keep_from),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.turn_request()
            }
        }
    }

    /// The request for the next turn.
    fn turn_request(&self) -> ModelRequest<'_> {
        let purpose = self.turn_purpose();
        let mut messages: Vec<RequestMessage<'_>> = self.context().map(RequestMessage::Stored).collect();
        let todo_list = todo_list::render(self);
        match self.model_for(purpose).todo_list_position {
            TodoListPosition::Last => messages.push(RequestMessage::User(todo_list)),
            TodoListPosition::AfterSystem => messages.insert(1.min(messages.len()), RequestMessage::System(todo_list)),
        }
        ModelRequest {
            purpose,
            messages,
            tools: self.bound(self.state.phase.kind).collect(),
            max_output_tokens: self.output_cap(),
            attempt: self.attempt(),
        }
    }

    /// The purpose of a turn of the current phase.
    pub(crate) fn turn_purpose(&self) -> Purpose {
        match self.state.phase.kind {
            PhaseKind::Strategic => Purpose::Strategic,
            PhaseKind::Tactical => Purpose::Tactical,
        }
    }

    /// The request for a summary of what comes before `keep_from`.
    fn summary_request(&self, keep_from: i64) -> ModelRequest<'_> {
        let mut messages: Vec<RequestMessage<'_>> =
            self.context_before(keep_from).map(RequestMessage::Stored).collect();
        messages.push(RequestMessage::User(self.settings.prompts.summarization.clone()));
        ModelRequest {
            purpose: Purpose::Summary,
            messages,
            tools: Vec::new(),
            max_output_tokens: self.model_for(Purpose::Summary).max_output_tokens,
            attempt: self.attempt(),
        }
    }

    /// The cap of the next answer: raised once, within the window, after an answer that was cut by it (FAULTS F38).
    pub(crate) fn output_cap(&self) -> u32 {
        let model = self.model_for(self.turn_purpose());
        let cap = model.max_output_tokens;
        if self.state.guards.truncated_turns != 1 {
            return cap;
        }
        cap.saturating_mul(2).min(model.context_window.saturating_sub(self.estimate())).max(cap)
    }

    /// Resets the cap, if it was raised: the provider may not allow more. Returns whether it was raised.
    pub(crate) fn reset_output_cap(&mut self) -> bool {
        let raised = matches!(self.state.stage, Stage::Model)
            && self.output_cap() > self.model_for(self.turn_purpose()).max_output_tokens;
        if raised {
            self.state.guards.truncated_turns += 1;
        }
        raised
    }

    fn attempt(&self) -> i32 {
        self.state.retry.failures as i32 + 1
    }

    /// The stored messages the model sees, in order: system, summary, kept feedback, tail.
    pub(crate) fn context(&self) -> impl Iterator<Item = MessageRef<'_>> {
        let window = &self.state.context;
        let head =
            [Some(window.system_seq), window.summary_seq].into_iter().flatten().chain(window.kept.iter().copied());
        head.filter_map(|seq| self.message(seq)).chain(self.tail())
    }

    /// The part of the context that a summary replaces, after the system message. Both the system message and an
    /// earlier summary may be newer than the kept part.
    pub(crate) fn context_before(&self, keep_from: i64) -> impl Iterator<Item = MessageRef<'_>> {
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
        self.history.since(self.state.context.tail_from).filter(|message| match message.kind() {
            MessageKind::System | MessageKind::Summary => false,
            MessageKind::Opening
            | MessageKind::Feedback
            | MessageKind::Nudge
            | MessageKind::Reply
            | MessageKind::ToolResult => true,
        })
    }
}
