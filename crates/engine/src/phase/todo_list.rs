//! Layer 2: the active todo list in its fixed frame, which is part of the public interface.

use crate::{PhaseState, TodoStatus, phase::Todos};
use std::fmt::Write;

const DOUBLE: &str = "═══════════════════════════════════════════════════════════════════";
const SINGLE: &str = "───────────────────────────────────────────────────────────────────";
const TITLE: &str = "                         ACTIVE TODO LIST";
/// Approximate bytes of a list without its texts, and of a todo without its content, with a margin.
const ABOUT_A_LIST: usize = 4 * DOUBLE.len() + SINGLE.len() + 200;
const ABOUT_A_TODO: usize = 24;

/// Renders the current phase's todos. The first open one is current.
pub(crate) fn render(phase: &PhaseState, todos: &Todos, planned: Option<i32>) -> String {
    let length: usize = todos.iter().map(|todo| ABOUT_A_TODO + todo.content.len()).sum();
    let mut out = String::with_capacity(ABOUT_A_LIST + phase.name.len() + length);
    // Writing to a String cannot fail.
    let _ = write!(out, "{DOUBLE}\n{TITLE}\n{DOUBLE}\n\nPhase: ");
    push_line(&mut out, &phase.name);
    let (ordinal, total) = phase.of_plan(planned);
    let _ = write!(out, " ({ordinal} of {total})\n\n");
    let current = todos.current().map(|todo| todo.position);
    let mut done = 0;
    for todo in todos.iter() {
        let mark = if todo.status == TodoStatus::Completed { "x" } else { " " };
        done += usize::from(todo.status == TodoStatus::Completed);
        let arrow = if Some(todo.position) == current { "      ← CURRENT" } else { "" };
        let _ = write!(out, "[{mark}] {}. ", todo.position);
        push_line(&mut out, &todo.content);
        let _ = writeln!(out, "{arrow}");
    }
    let _ = write!(out, "\nProgress: {done}/{} tasks complete\n\n{SINGLE}\n", todos.len());
    let _ = match current {
        Some(position) => writeln!(out, "INSTRUCTION: Complete task {position}, then call todo_complete()"),
        None => writeln!(out, "INSTRUCTION: All tasks are complete"),
    };
    out.push_str(DOUBLE);
    out
}

/// Adds a text as a single line, whatever white space it contains.
fn push_line(out: &mut String, text: &str) {
    for (place, word) in text.split_whitespace().enumerate() {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}
