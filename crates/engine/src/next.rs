//! What to do next: a read. The same state gives the same answer however often it is asked, and that is all there is
//! to crash recovery.

use crate::{Effect, Handler, Message, Replay, Run, Stage, ToolCall, ToolSpec};

impl Run {
    /// The next effect.
    pub fn next(&self) -> Effect<'_> {
        if let Some(leave) = &self.left {
            return Effect::Leave(leave);
        }
        if let Some(until) = self.state.retry.not_before {
            return Effect::Wait { until };
        }
        match &self.state.stage {
            Stage::Intake => Effect::TakeIn,
            Stage::Model | Stage::Review { .. } => Effect::CallModel(self.turn_request()),
            Stage::Summary { keep_from } => Effect::CallModel(self.summary_request(*keep_from)),
            Stage::Tools { message_seq } => {
                let calls = self.message(*message_seq).map(|message| self.outside_calls(message)).unwrap_or_default();
                let commit_first = calls.iter().any(|call| self.handler(&call.name) == Some(Handler::Outside));
                Effect::RunTools { calls, commit_first }
            }
        }
    }

    /// Whether what was decided so far should wait for the next outcome's commit: the next effect is a batch of local
    /// tools only, whose results land together with the model's answer.
    pub fn joins_next_commit(&self) -> bool {
        match &self.state.stage {
            Stage::Tools { message_seq } => self.message(*message_seq).is_some_and(|message| {
                !self.outside_calls(message).iter().any(|call| self.handler(&call.name) == Some(Handler::Outside))
            }),
            Stage::Intake | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => false,
        }
    }

    /// The calls of a message that the outside has to carry out: known, bound, well-formed, not refused, and not
    /// interrupted in an earlier attempt when running them twice would not be safe.
    pub(crate) fn outside_calls<'a>(&self, message: &'a Message) -> Vec<&'a ToolCall> {
        message.tool_calls.iter().take(crate::apply::MAX_CALLS).filter(|call| self.runs_outside(call)).collect()
    }

    pub(crate) fn runs_outside(&self, call: &ToolCall) -> bool {
        let Some(tool) = self.bound_tool(&call.name) else {
            return false;
        };
        tool.handler != Handler::Engine
            && !(self.interrupted && tool.replay == Replay::Unsafe)
            && self.arguments(call).is_ok_and(|arguments| !self.is_refused(call, &arguments))
    }

    pub(crate) fn bound_tool(&self, name: &str) -> Option<&ToolSpec> {
        let kind = self.state.phase.kind;
        self.bound(kind).find(|tool| tool.name == name)
    }

    fn handler(&self, name: &str) -> Option<Handler> {
        self.bound_tool(name).map(|tool| tool.handler)
    }
}
