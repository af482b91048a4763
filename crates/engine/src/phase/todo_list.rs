//! Layer 2: the active todo list in its fixed frame, which is part of the public interface.

use crate::{Run, TodoStatus};
use std::{
    fmt::Write,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::{Mutex, PoisonError},
};

const DOUBLE: &str = "═══════════════════════════════════════════════════════════════════";
const SINGLE: &str = "───────────────────────────────────────────────────────────────────";
const TITLE: &str = "                         ACTIVE TODO LIST";
/// Approximate bytes of a list without its texts, and of a todo without its content, with a margin.
const ABOUT_A_LIST: usize = 4 * DOUBLE.len() + SINGLE.len() + 200;
const ABOUT_A_TODO: usize = 24;

/// Renders the current phase's todos. The first open one is current.
pub(crate) fn render(run: &Run) -> String {
    let todos: usize = run.todos().iter().map(|todo| ABOUT_A_TODO + todo.content.len()).sum();
    let mut out = String::with_capacity(ABOUT_A_LIST + run.state().phase.name.len() + todos);
    // Writing to a String cannot fail.
    let _ = write!(out, "{DOUBLE}\n{TITLE}\n{DOUBLE}\n\nPhase: ");
    push_line(&mut out, &run.state().phase.name);
    let (ordinal, total) = run.state.phase.of_plan(run.workspace.planned());
    let _ = write!(out, " ({ordinal} of {total})\n\n");
    let current = run.todos.current().map(|todo| todo.position);
    let mut done = 0;
    for todo in run.todos() {
        let mark = if todo.status == TodoStatus::Completed { "x" } else { " " };
        done += usize::from(todo.status == TodoStatus::Completed);
        let arrow = if Some(todo.position) == current { "      ← CURRENT" } else { "" };
        let _ = write!(out, "[{mark}] {}. ", todo.position);
        push_line(&mut out, &todo.content);
        let _ = writeln!(out, "{arrow}");
    }
    let _ = write!(out, "\nProgress: {done}/{} tasks complete\n\n{SINGLE}\n", run.todos().len());
    let _ = match current {
        Some(position) => writeln!(out, "INSTRUCTION: Complete task {position}, then call todo_complete()"),
        None => writeln!(out, "INSTRUCTION: All tasks are complete"),
    };
    out.push_str(DOUBLE);
    out
}

/// The hash of the list when it was last counted, and its tokens. A turn needs them more than once, and most turns do
/// not change the list.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<(u64, u32)>);

/// Tokens of the rendered list.
pub(crate) fn tokens(run: &Run) -> u32 {
    let text = render(run);
    let mut last = run.counted_list.0.lock().unwrap_or_else(PoisonError::into_inner);
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&text);
    if last.0 != hash {
        *last = (hash, run.settings.count(&text));
    }
    last.1
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
