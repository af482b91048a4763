//! Layer 2: the active todo list in the exact frame of the public interface (INTERFACE section 6).

use crate::{Run, TodoStatus};
use std::{
    fmt::Write,
    sync::{Mutex, PoisonError},
};

const DOUBLE: &str = "═══════════════════════════════════════════════════════════════════";
const SINGLE: &str = "───────────────────────────────────────────────────────────────────";
const TITLE: &str = "                         ACTIVE TODO LIST";

/// Renders the current phase's todos. The first open one is current.
pub(crate) fn render(run: &Run) -> String {
    let mut out = format!("{DOUBLE}\n{TITLE}\n{DOUBLE}\n\n{}\n\n", phase_line(run));
    let current = run.current_todo().map(|todo| todo.position);
    let mut done = 0;
    for todo in run.todos() {
        let mark = if todo.status == TodoStatus::Completed { "x" } else { " " };
        done += usize::from(todo.status == TodoStatus::Completed);
        let arrow = if Some(todo.position) == current { "      ← CURRENT" } else { "" };
        // Writing to a String cannot fail. A todo is one line, whatever its text contains.
        let _ = writeln!(out, "[{mark}] {}. {}{arrow}", todo.position, one_line(&todo.content));
    }
    let _ = write!(out, "\nProgress: {done}/{} tasks complete\n\n{SINGLE}\n", run.todos().len());
    let _ = match current {
        Some(position) => writeln!(out, "INSTRUCTION: Complete task {position}, then call todo_complete()"),
        None => writeln!(out, "INSTRUCTION: All tasks are complete"),
    };
    out.push_str(DOUBLE);
    out
}

/// The list as it was last counted. A turn asks for its tokens more than once, and most turns leave it as it is.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<(String, u32)>);

/// Tokens of the rendered list.
pub(crate) fn tokens(run: &Run) -> u32 {
    let text = render(run);
    let mut last = run.counted_list.0.lock().unwrap_or_else(PoisonError::into_inner);
    if last.0 != text {
        let tokens = run.count(&text);
        *last = (text, tokens);
    }
    last.1
}

fn phase_line(run: &Run) -> String {
    let (ordinal, total) = run.phase_of_plan();
    format!("Phase: {} ({ordinal} of {total})", one_line(&run.state().phase.name))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
