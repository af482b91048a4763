//! Todos that no rule knows.

use crate::call::{Turn, add_note, read_file, todo_complete, turn};

/// What is done for a todo that no rule fits: it is said, noted and closed, since nothing else would move on.
pub(crate) fn unknown_todo(todo: &str) -> Turn {
    let note = format!("The rehearsal model has no rule for the todo '{todo}'; it looked at workspace.md and went on.");
    turn(note.clone(), vec![read_file("workspace.md"), add_note(&note), todo_complete(&note)])
}
