//! The next effect: a read. The same state always gives the same answer; crash recovery needs nothing else.

use crate::{Effect, OutsideCall, Run, Stage, ToolSpec, transition::is_unsafe};

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
            Stage::Prepare { .. } => {
                match (self.workspace.unprepared(&self.ledger).next(), self.state.carries_over()) {
                    (None, Some(previous)) => Effect::Carry { previous },
                    (document, _) => Effect::Prepare { document: document.unwrap_or_default() },
                }
            }
            Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => Effect::CallModel(self.request()),
            Stage::Tools { .. } => {
                let check = self.calls.check.as_ref();
                let at = self.state.stage.next_call();
                let once = check.is_none() && is_unsafe(self, at);
                let refused = &self.state.guards.refused_once;
                let waiting = self.calls.waiting_from(at).map(|item| {
                    let again = refused.contains(&item.parsed.print);
                    OutsideCall { call: self.approvals.sent(&item.call), check, once, again }
                });
                let calls = waiting.collect();
                Effect::RunTools { calls, commit_first: self.commits_before_calls() }
            }
        }
    }

    /// Whether the current changes should wait for the next outcome's commit: the next effect is to run calls whose
    /// results may be committed together with the model's answer.
    pub fn joins_next_commit(&self) -> bool {
        self.state.stage.calls().is_some() && self.state.retry.not_before.is_none() && !self.commits_before_calls()
    }

    /// Whether a dispatch is decided but not committed: it must be committed before the next effect, regardless of
    /// other changes.
    pub fn commits_dispatch(&self) -> bool {
        !self.calls.committed && self.state.stage.calls().is_some_and(|calls| calls.dispatched)
    }

    /// The tool that a call names, if the phase has it. A deferred tool may be called without its definition: arguments
    /// that do not fit are answered with what was expected.
    pub(crate) fn bound_tool(&self, name: &str) -> Option<&ToolSpec> {
        let kind = self.state.phase.kind;
        self.bound(kind).chain(self.settings.deferred(kind)).find(|tool| tool.name == name)
    }
}
