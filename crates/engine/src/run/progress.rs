//! The progress columns of the job row.

use crate::{Ledger, PhaseKind, Run, Stage, run::Workspace};
use serde::Serialize;

/// Progress columns of the job row, kept current with every step.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Progress {
    /// The phase counter.
    pub phase_number: i32,
    /// `strategic` or `tactical`; none before the first phase.
    pub phase: Option<PhaseKind>,
    /// Its name.
    pub phase_name: Option<String>,
    /// Closed todos of the phase.
    pub todos_done: i32,
    /// All todos of the phase.
    pub todos_total: i32,
    /// Text of the current todo.
    pub current_todo: Option<String>,
    /// Completed tactical phases, and the phases of the plan, as in the todo list's `(2 of 4)`; none before there is a
    /// plan.
    pub plan: Option<(i32, i32)>,
}

impl Run {
    /// The progress columns of the job row.
    pub fn progress(&self) -> Progress {
        let phase = &self.state().phase;
        let begun = phase.number > 0;
        let preparing = match self.state().stage {
            Stage::Prepare { .. } => preparation(self.workspace(), self.ledger()),
            _ => None,
        };
        Progress {
            phase_number: phase.number,
            phase: begun.then_some(phase.kind),
            phase_name: begun.then(|| phase.name.clone()),
            todos_done: self.todos().completed() as i32,
            todos_total: self.todos().len() as i32,
            current_todo: preparing.or_else(|| self.todos().current().map(|todo| todo.content.clone())),
            plan: self.workspace().planned().map(|planned| (phase.completed.min(planned), planned)),
        }
    }
}

/// The document being prepared, worded like a todo.
fn preparation(workspace: &Workspace, ledger: &Ledger) -> Option<String> {
    let (left, document) = (workspace.unprepared(ledger).count(), workspace.unprepared(ledger).next()?);
    Some(format!("Prepare {document} ({left} left)"))
}
