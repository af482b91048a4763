//! Request assembly: the layers in their documented order.
//!
//! system prompt with instructions and `workspace.md` (1) · tool definitions (3, in `tools`) · summary of earlier work
//! (4) · the conversation since (5) · the active todo list (2) last. Nothing before the todo list changes between two
//! turns except by appending.

use crate::{
    ModelRequest, ModelSettings, Purpose, RequestMessage, Run, Stage, TodoListPosition, conversation::Frame,
    phase::todo_list,
};
use chrono::{DateTime, Utc};

/// The request for the next turn.
fn turn_request(run: &Run) -> ModelRequest<'_> {
    let purpose = run.state().phase.kind.purpose();
    let mut messages: Vec<RequestMessage<'_>> = run.conversation().context().map(RequestMessage::Stored).collect();
    let todo_list = todo_list::render(&run.state().phase, run.todos(), run.workspace().planned());
    match run.model_for(purpose).todo_list_position {
        TodoListPosition::Last => messages.push(RequestMessage::User(todo_list)),
        TodoListPosition::AfterSystem => messages.insert(1.min(messages.len()), RequestMessage::System(todo_list)),
    }
    ModelRequest {
        purpose,
        messages,
        tools: run.bound(run.state().phase.kind).collect(),
        max_output_tokens: output_cap(run),
        attempt: run.state().retry.attempt(),
    }
}

/// The request for a summary of what comes before `keep_from`.
fn summary_request(run: &Run, keep_from: i64) -> ModelRequest<'_> {
    let mut messages: Vec<RequestMessage<'_>> =
        run.conversation().before(keep_from).map(RequestMessage::Stored).collect();
    messages.push(RequestMessage::User(run.settings().prompts.summarization.clone()));
    ModelRequest {
        purpose: Purpose::Summary,
        messages,
        tools: Vec::new(),
        max_output_tokens: run.model_for(Purpose::Summary).max_output_tokens,
        attempt: run.state().retry.attempt(),
    }
}

impl Run {
    /// The next request: a summary if the run waits for one, otherwise a turn. A read, like [`Run::next`].
    pub fn request(&self) -> ModelRequest<'_> {
        match self.state().stage {
            Stage::Summary { keep_from } => summary_request(self, keep_from),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                turn_request(self)
            }
        }
    }

    /// Estimated tokens of the next request, whatever its purpose.
    pub fn next_request_tokens(&self) -> u32 {
        match self.state().stage {
            Stage::Summary { keep_from } => self.conversation().count_before(keep_from),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                estimate(self)
            }
        }
    }
}

/// The cap of the next answer: raised once, within the window, after an answer that was cut by it.
pub(crate) fn output_cap(run: &Run) -> u32 {
    let model = turn_model(run);
    let cap = model.max_output_tokens;
    if run.state().guards.truncated_turns != 1 {
        return cap;
    }
    cap.saturating_mul(2).min(model.context_window.saturating_sub(estimate(run))).max(cap)
}

/// The model of the next turn.
pub(crate) fn turn_model(run: &Run) -> &ModelSettings {
    run.model_for(run.state().phase.kind.purpose())
}

/// What surrounds the conversation in the next turn's request.
pub(crate) fn frame(run: &Run) -> Frame {
    let (model, phase) = (turn_model(run), &run.state().phase);
    let window = model.context_window.saturating_sub(model.max_output_tokens);
    let list = todo_list::render(phase, run.todos(), run.workspace().planned());
    Frame {
        tools: run.conversation().tool_tokens(phase.kind),
        list: run.conversation().list_tokens(&list),
        threshold: run.settings().limits.context_threshold_tokens.min(window),
    }
}

/// Estimated tokens of the next turn's request.
pub(crate) fn estimate(run: &Run) -> u32 {
    run.conversation().estimate(frame(run))
}

/// Layer 1: the phase's prompt, the instructions, the job and the current `workspace.md`. The text common to all jobs of
/// a type comes first, so that a provider's prompt cache serves it to all of them.
pub(crate) fn system_text(run: &Run, now: DateTime<Utc>) -> String {
    let workspace = match run.workspace().memory().workspace.trim() {
        "" => "(empty)".to_string(),
        text => run.settings().shown(text, "workspace.md"),
    };
    format!(
        "{}Today is {}.\n\n## The job\n\n{}\n\n## workspace.md\n\n{workspace}\n",
        run.settings().beginning(run.state().phase.kind),
        // Day granularity, so that a prompt cache stays valid.
        now.format("%Y-%m-%d"),
        run.job().prompt.trim(),
    )
}
