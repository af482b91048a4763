//! Requests without tools: the engine asks for a summary before it drops older messages.
//!
//! The model can read everything again from files, so the summary only states the progress. It is built from the calls
//! of the conversation; if the conversation is a single text, from the paths named in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use crate::call::{Turn, turn};
use crate::request_view::{Done, RequestView, one_line};

/// Maximum length of a summary in bytes: a few hundred words.
const MAX_BYTES: usize = 2_400;

/// A shorter request, in bytes, is a greeting rather than a conversation to summarize.
const GREETING: usize = 400;

static CHUNK: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"chunks/chunk_(\d+)\.md"));
static FILE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"output/[\w.-]+\.md"));

/// Answers a request without tools.
pub(crate) fn turn_for(view: &RequestView<'_>) -> Turn {
    let size: usize = view.messages.iter().map(|message| message.content.len()).sum();
    if size < GREETING && view.history.is_empty() {
        return turn("It works on Plumbline jobs: send a todo list and tools.", Vec::new());
    }
    let mut text = write(view);
    let room = (size / 2).clamp(40, MAX_BYTES);
    while text.len() > room {
        text.pop();
    }
    turn(text, Vec::new())
}

fn write(view: &RequestView<'_>) -> String {
    let mut text = format!("Summary of earlier work.\n\nGoal: {}\n", one_line(view.prompt()));
    if let Some(todo_list) = &view.todo_list {
        let done = todo_list.todos.iter().filter(|todo| todo.done).count();
        let _ = writeln!(text, "Phase: {}; {done} of {} todos done.", todo_list.phase, todo_list.todos.len());
        for todo in todo_list.todos.iter().filter(|todo| !todo.done) {
            let _ = writeln!(text, "Open: {}. {}", todo.number, todo.text);
        }
    }
    let said = view.messages.iter().map(|message| message.content.as_str());
    let called = view.history.iter().map(|done| done.arg("path"));
    let (mut chunks, mut files) = (BTreeSet::new(), BTreeSet::new());
    for part in said.chain(called) {
        chunks.extend(CHUNK.captures_iter(part).filter_map(|found| found[1].parse::<u32>().ok()));
        files.extend(FILE.find_iter(part).map(|found| found.as_str()));
    }
    let recorded: usize = view.history.iter().filter(|done| !done.failed()).map(recorded_by).sum();
    if recorded > 0 {
        let _ = writeln!(text, "Requirements recorded in this stretch: {recorded}.");
    }
    if let (Some(first), Some(last)) = (chunks.first(), chunks.last()) {
        let _ = writeln!(text, "Chunks looked at: {} between {first} and {last}.", chunks.len());
    }
    if !files.is_empty() {
        let _ = writeln!(text, "Files: {}.", files.into_iter().collect::<Vec<_>>().join(", "));
    }
    let closed = view.history.iter().filter(|done| done.name == "todo_complete" && !done.failed());
    let mut notes: Vec<String> = closed.rev().take(8).map(|done| one_line(done.arg("notes"))).collect();
    notes.reverse();
    for note in notes {
        let _ = writeln!(text, "Done: {note}");
    }
    text.push_str("Next: the current todo of the list; what it needs is read from the files again.\n");
    text
}

/// How many requirements a call has recorded.
fn recorded_by(done: &Done<'_>) -> usize {
    match done.name {
        "record_passage" => done.args["items"].as_array().map_or(0, Vec::len),
        name => usize::from(name == "add_requirement"),
    }
}
