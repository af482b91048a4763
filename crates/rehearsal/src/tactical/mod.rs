//! Tactical phases: this model's own todos and the work for each.
//!
//! | module | phase |
//! |---|---|
//! | `preparation` | extract, chunk, look at the manifest |
//! | `extraction` | read passages, record and decide them |
//! | `decisions` | one passage: its record, and what that leaves open |
//! | `owed` | files that a type of one's own owes |
//! | `report` | look at the records, write the report |
//! | `answer` | jobs without documents, and feedback |

mod answer;
pub(crate) mod decisions;
mod extraction;
pub(crate) mod owed;
mod preparation;
mod report;

use crate::call::{Turn, append, list_files, read_lines, todo_complete, turn};
use crate::plan::task::Task;
use crate::request_view::RequestView;
use crate::request_view::pages::body;
use crate::unknown_todo::unknown_todo;
use crate::validator;

/// Decides one tactical turn. After the last todo of work on deliverables these are listed, for the following review.
pub(crate) fn turn_for(view: &RequestView<'_>) -> Turn {
    let Some(todo) = view.todo_list.as_ref().and_then(|list| list.current()) else {
        return turn("There is no open todo to work on.", Vec::new());
    };
    let mut turn = of_task(view, Task::read(&todo.text));
    let closes = turn.calls.last().is_some_and(|call| call.name == "todo_complete");
    let list = list_files("output");
    if closes && view.todos_behind().next().is_none() && !turn.calls.contains(&list) {
        turn.calls.push(list);
    }
    turn
}

fn of_task(view: &RequestView<'_>, task: Task) -> Turn {
    match task {
        Task::Extract(document) => preparation::extract(view, &document),
        Task::Chunk(document) => preparation::chunk(view, &document),
        Task::CheckManifest => preparation::check_manifest(view),
        Task::Structure => preparation::structure(view),
        Task::NotePrepared => {
            remember("The documents are extracted and chunked; chunks/manifest.json lists the chunks.")
        }
        Task::Terms => extraction::terms(view),
        Task::Process { first, last, .. } => extraction::process(view, &(first..=last).collect::<Vec<_>>()),
        Task::Leftover(numbers) => extraction::process(view, &numbers),
        Task::LookAtRecords => report::look(view),
        Task::WriteOwed(path) => owed::write(view, &path),
        Task::WriteReport => report::write(view),
        Task::Reorient => answer::read_task(view),
        Task::NoteStatements => answer::note_statements(view),
        Task::WriteAnswer => answer::write(view),
        Task::ReadFeedback => answer::read_feedback(view),
        Task::CheckFeedback => answer::check_feedback(view),
        Task::WriteFeedback(number) => answer::write_feedback(view, number),
        Task::ReadBack(path) => read_back(view, &path),
        Task::NoteDelivered => remember("The deliverables are in output/."),
        Task::GraphSchema => validator::look_at_graph(view),
        Task::Validate => validator::validate(view),
        Task::WriteValidationReport => validator::write_report(view),
        Task::Other(text) => unknown_todo(&text),
    }
}

/// Appends a line to workspace.md and closes the todo.
fn remember(line: &str) -> Turn {
    turn("Noting it in workspace.md.", vec![append("workspace.md", &format!("- {line}\n")), todo_complete(line)])
}

/// Reads the head of a file that an earlier todo wrote.
fn read_back(view: &RequestView<'_>, path: &str) -> Turn {
    let call = read_lines(path, 1, 40);
    match view.result_of(&call) {
        None => turn(format!("Reading {path} back."), vec![call]),
        Some(done) if done.failed() => {
            turn(format!("{path} is missing."), vec![todo_complete(&format!("{path} could not be read back"))])
        }
        Some(done) => {
            let notes =
                format!("{path} is there; its first {} lines were read back", body(done.result).0.lines().count());
            turn(format!("{path} is complete."), vec![todo_complete(&notes)])
        }
    }
}
