//! Request assembly: the layers in their documented order.
//!
//! system prompt with instructions and `workspace.md` (1) · tool definitions (3, in `tools`) · summary of earlier work
//! (4) · the conversation since (5) · the active todo list (2) last. Nothing before the todo list changes between two
//! turns except by appending.

use crate::{ModelRequest, Purpose, RequestMessage, Run, Stage, TodoListPosition, phase::todo_list};

/// The request for the next turn.
fn turn_request(run: &Run) -> ModelRequest<'_> {
    let purpose = run.state.phase.kind.purpose();
    let mut messages: Vec<RequestMessage<'_>> = run.conversation.context().map(RequestMessage::Stored).collect();
    let todo_list = todo_list::render(&run.state.phase, &run.todos, run.workspace.planned());
    match run.model_for(purpose).todo_list_position {
        TodoListPosition::Last => messages.push(RequestMessage::User(todo_list)),
        TodoListPosition::AfterSystem => messages.insert(1.min(messages.len()), RequestMessage::System(todo_list)),
    }
    ModelRequest {
        purpose,
        messages,
        tools: run.bound(run.state.phase.kind).collect(),
        max_output_tokens: run.output_cap(),
        attempt: run.state.retry.attempt(),
    }
}

/// The request for a summary of what comes before `keep_from`.
fn summary_request(run: &Run, keep_from: i64) -> ModelRequest<'_> {
    let mut messages: Vec<RequestMessage<'_>> =
        run.conversation.before(keep_from).map(RequestMessage::Stored).collect();
    messages.push(RequestMessage::User(run.settings.prompts.summarization.clone()));
    ModelRequest {
        purpose: Purpose::Summary,
        messages,
        tools: Vec::new(),
        max_output_tokens: run.model_for(Purpose::Summary).max_output_tokens,
        attempt: run.state.retry.attempt(),
    }
}

impl Run {
    /// The next request: a summary if the run waits for one, otherwise a turn. A read, like [`Run::next`].
    pub fn request(&self) -> ModelRequest<'_> {
        match self.state.stage {
            Stage::Summary { keep_from } => summary_request(self, keep_from),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                turn_request(self)
            }
        }
    }

    /// The cap of the next answer: raised once, within the window, after an answer that was cut by it (FAULTS F38).
    pub(crate) fn output_cap(&self) -> u32 {
        let model = self.model_for(self.state.phase.kind.purpose());
        let cap = model.max_output_tokens;
        if self.state.guards.truncated_turns != 1 {
            return cap;
        }
        cap.saturating_mul(2).min(model.context_window.saturating_sub(self.estimate())).max(cap)
    }
}
