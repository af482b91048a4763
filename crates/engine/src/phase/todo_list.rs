//! Layer 2: the active todo list in its fixed frame, which is part of the public interface.

use crate::{PhaseState, TodoStatus, one_line, phase::Todos};
use std::fmt::Write;

const DOUBLE: &str = "═══════════════════════════════════════════════════════════════════";
const SINGLE: &str = "───────────────────────────────────────────────────────────────────";
const TITLE: &str = "                         ACTIVE TODO LIST";

/// Renders the current phase's todos. The first open one is current.
pub(crate) fn render(phase: &PhaseState, todos: &Todos, planned: Option<i32>) -> String {
    let (ordinal, total) = phase.of_plan(planned);
    let name = one_line(&phase.name);
    let mut out = format!("{DOUBLE}\n{TITLE}\n{DOUBLE}\n\nPhase: {name} ({ordinal} of {total})\n\n");
    let current = todos.current().map(|todo| todo.position);
    for todo in todos.iter() {
        let mark = if todo.status == TodoStatus::Completed { "x" } else { " " };
        let arrow = if Some(todo.position) == current { "      ← CURRENT" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "[{mark}] {}. {}{arrow}", todo.position, one_line(&todo.content));
    }
    let _ = write!(out, "\nProgress: {}/{} tasks complete\n\n{SINGLE}\n", todos.completed(), todos.len());
    let _ = match current {
        Some(position) => writeln!(out, "INSTRUCTION: Complete task {position}, then call todo_complete()"),
        None => writeln!(out, "INSTRUCTION: All tasks are complete"),
    };
    out.push_str(DOUBLE);
    out
}
