//! What to do next: a read. The same state gives the same answer however often it is asked, and that is all there is
//! to crash recovery.

use crate::tools::JOB_COMPLETE;
use crate::{Effect, Handler, MessageRef, Replay, Run, Stage, ToolCall, ToolSpec, tools::parsed_call::ParsedCall};

impl Run {
    /// The next effect.
    pub fn next(&self) -> Effect<'_> {
        if let Some(leave) = &self.exit {
            return Effect::Exit(leave);
        }
        if let Some(until) = self.state.retry.not_before {
            return Effect::Wait { until };
        }
        match &self.state.stage {
            Stage::Intake => Effect::Intake,
            Stage::Prepare { .. } => match (self.unprepared().next(), self.carries_over()) {
                (None, Some(previous)) => Effect::Carry { previous },
                (document, _) => Effect::Prepare { document: document.unwrap_or_default() },
            },
            Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => Effect::CallModel(self.request()),
            Stage::Tools { .. } => {
                let calls = self.external_calls();
                let commit_first = calls.iter().any(|call| self.handler(&call.name) == Some(Handler::External));
                Effect::RunTools { calls, commit_first }
            }
        }
    }

    /// Whether what was decided so far should wait for the next outcome's commit: the next effect is a batch of local
    /// tools only, whose results land together with the model's answer.
    pub fn joins_next_commit(&self) -> bool {
        match &self.state.stage {
            Stage::Tools { .. } => {
                !self.external_calls().iter().any(|call| self.handler(&call.name) == Some(Handler::External))
            }
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => {
                false
            }
        }
    }

    /// The calls that the results are waited for; none in another stage.
    fn calls_at_hand(&self) -> &[ToolCall] {
        match &self.state.stage {
            Stage::Tools { .. } => &self.calls,
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => &[],
        }
    }

    /// Reads the calls whose results the loaded run waits for.
    pub(crate) fn read_calls(&mut self) {
        if let Stage::Tools { message_seq } = self.state.stage {
            let calls = self.calls_of(message_seq);
            let parsed_calls = calls.iter().map(ParsedCall::of).collect();
            self.take_up(calls, parsed_calls);
        }
    }

    /// These calls are to be answered next.
    pub(crate) fn take_up(&mut self, calls: Vec<ToolCall>, parsed_calls: Vec<ParsedCall>) {
        self.passage_reads = self.reads_before_closing(&calls);
        (self.calls, self.parsed_calls) = (calls, parsed_calls);
    }

    /// The calls of a message.
    pub(crate) fn calls_of(&self, seq: i64) -> Vec<ToolCall> {
        self.message(seq).into_iter().flat_map(MessageRef::tool_calls).map(ToolCall::from).collect()
    }

    /// The calls at hand that the outside has to carry out: known, bound, well-formed, not refused, and not interrupted
    /// in an earlier attempt when running them twice would not be safe. For a todo that passages must be read for, that
    /// reading stands in place of the call that closes it.
    pub(crate) fn external_calls(&self) -> Vec<&ToolCall> {
        let calls = self.calls_at_hand().iter().zip(&self.parsed_calls).take(crate::transition::MAX_CALLS);
        let carried_out = calls.filter(|(call, parsed)| self.runs_outside(call, parsed));
        carried_out.map(|(call, _)| self.passage_reads.get(&call.id).map_or(call, |read| &read.call)).collect()
    }

    fn runs_outside(&self, call: &ToolCall, parsed: &ParsedCall) -> bool {
        let Some(tool) = self.bound_tool(&call.name) else {
            return false;
        };
        (tool.handler != Handler::Engine || self.is_inspected(tool.name) || self.passage_reads.contains_key(&call.id))
            && !(self.interrupted && tool.replay == Replay::Unsafe)
            && parsed.is_usable()
            && !self.is_refused(call, parsed)
    }

    /// Whether the outside looks into the job's files before the engine carries this tool out.
    pub(crate) fn is_inspected(&self, tool: &str) -> bool {
        tool == JOB_COMPLETE && self.settings.owed.is_inspected
    }

    pub(crate) fn bound_tool(&self, name: &str) -> Option<&ToolSpec> {
        let kind = self.state.phase.kind;
        self.bound(kind).find(|tool| tool.name == name)
    }

    fn handler(&self, name: &str) -> Option<Handler> {
        self.bound_tool(name).map(|tool| tool.handler)
    }
}
