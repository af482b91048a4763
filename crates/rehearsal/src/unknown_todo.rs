//! Todos without a rule.

use crate::call::{Turn, add_note, read_file, todo_complete, turn};

/// The work for a todo without a rule: it is reported, noted and closed, because otherwise the job could not continue.
pub(crate) fn unknown_todo(todo: &str) -> Turn {
    let note = format!("The rehearsal model has no rule for the todo '{todo}'; it looked at workspace.md and went on.");
    turn(note.clone(), vec![read_file("workspace.md"), add_note(&note), todo_complete(&note)])
}
