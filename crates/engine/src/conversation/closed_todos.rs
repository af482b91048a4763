//! Clears the tool results of closed todos (`limits.closed_todos: drop`). They are cleared at once if configured or if
//! there is no prefix cache anyway, and before all others if the window is full.

use super::compaction::Clearable;
use crate::{ClosedTodos, MessageKind, MessageRef, Run, tools};

impl Run {
    /// The current answer has closed a todo: the results of its turns are removed from the conversation before the next
    /// request.
    pub(crate) fn drop_closed_todos(&mut self) {
        let drops =
            self.settings.limits.closed_todos == ClosedTodos::Drop || !self.model_for(self.turn_purpose()).prefix_cache;
        let of_answer = |message: &MessageRef<'_>| message.kind() != MessageKind::Reply;
        if !drops || !self.tail().rev().take_while(of_answer).any(|message| self.closes_todo(message)) {
            return;
        }
        let done = self.of_closed_todos().results;
        if !done.is_empty() {
            self.clear(done);
        }
    }

    /// The results before the last closing of a todo. Kept are the results of the closing answer, since the model has
    /// not read them, requirements that are not judged yet, and texts of passages that are not answered: work on these
    /// is left.
    pub(super) fn of_closed_todos(&self) -> Clearable {
        let Some(end) = self.tail().rev().find(|message| self.closes_todo(*message)).map(MessageRef::seq) else {
            return Clearable::default();
        };
        self.clearable(1, |result| {
            let seq = result.seq();
            seq < end && !self.state.given.is_open(seq) && !self.ledger.shows_open(&result.visible_content())
        })
    }

    /// Whether the message is the result of a call that closed a todo.
    fn closes_todo(&self, message: MessageRef<'_>) -> bool {
        let call = message.tool_call_id().filter(|_| message.kind() == MessageKind::ToolResult);
        let is_closing = |id| self.call_with(id).is_some_and(|call| tools::closes_todo(&call.name));
        call.is_some_and(is_closing) && !message.visible_content().starts_with("Error:")
    }
}
