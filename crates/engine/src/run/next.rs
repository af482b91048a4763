//! The next effect: a read. The same state always gives the same answer; crash recovery needs nothing else.

use crate::{Effect, Handler, OutsideCall, PhaseKind, Run, Stage, ToolSpec, run::AnswerCall, transition::is_unsafe};

impl Run {
    /// The next effect.
    pub fn next(&self) -> Effect<'_> {
        if let Some(leave) = self.exit() {
            return Effect::Exit(leave);
        }
        if let Some(until) = self.state().retry.not_before {
            return Effect::Wait { until };
        }
        match &self.state().stage {
            Stage::Intake => Effect::Intake,
            Stage::Prepare { .. } => {
                match (self.workspace().unprepared(self.ledger()).next(), self.state().carries_over()) {
                    (None, Some(previous)) => Effect::Carry { previous },
                    (document, _) => Effect::Prepare { document: document.unwrap_or_default() },
                }
            }
            Stage::Model | Stage::Summary { .. } | Stage::Review { .. } => Effect::CallModel(self.request()),
            Stage::Tools { .. } => {
                let (calls, at) = (self.calls(), self.state().stage.next_call());
                let check = calls.check.as_ref();
                let once = check.is_none() && is_unsafe(self, at);
                let refused = &self.state().guards.refused_once;
                let waiting = calls.waiting_from(at).map(|item| {
                    let again = refused.contains(&item.parsed.print);
                    OutsideCall { call: calls.approvals.sent(&item.call), check, once, again }
                });
                Effect::RunTools { calls: waiting.collect(), commit_first: commits_before_calls(self) }
            }
        }
    }

    /// Whether to commit before the next effect. Changes wait for the next outcome's commit if the next effect is to run
    /// calls whose results may be committed together with the model's answer; a dispatch is committed in any case.
    pub fn commits_next(&self, has_changes: bool) -> bool {
        let state = self.state();
        let joins = state.stage.calls().is_some() && state.retry.not_before.is_none() && !commits_before_calls(self);
        (has_changes && !joins) || (!self.calls().committed && state.stage.has_dispatched())
    }

    /// Whether a call has been dispatched, and must be made before the job is released, or else it would be in doubt.
    pub fn has_dispatched(&self) -> bool {
        self.calls().committed && !self.calls().in_doubt && self.state().stage.has_dispatched()
    }

    /// The tools bound in a phase of this kind: the fixed ones in their order, then the loaded ones in theirs.
    pub fn bound(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.settings().bound_with(kind, &self.state().loaded_tools)
    }
}

/// Whether decisions must be committed before the outside begins: an external call needs the answer on disk, and a call
/// that must not be repeated also its dispatch.
fn commits_before_calls(run: &Run) -> bool {
    let calls = run.calls();
    let is_external =
        |item: &AnswerCall| bound_tool(run, &item.call.name).is_some_and(|tool| tool.handler == Handler::External);
    let has_external = || calls.waiting_from(run.state().stage.next_call()).any(is_external);
    !calls.committed && (run.state().stage.has_dispatched() || (calls.check.is_none() && has_external()))
}

/// The tool that a call names, if the phase has it. A deferred tool may be called without its definition: arguments
/// that do not fit are answered with what was expected.
pub(crate) fn bound_tool<'a>(run: &'a Run, name: &str) -> Option<&'a ToolSpec> {
    let kind = run.state().phase.kind;
    run.bound(kind).chain(run.settings().deferred(kind)).find(|tool| tool.name == name)
}
