//! Tactical phases: this model's own todos and what is done for each.
//!
//! | module | phase |
//! |---|---|
//! | `preparation` | extract, chunk, look at the manifest |
//! | `extraction` | record the normative sentences of some chunks |
//! | `parts` | close an extraction phase: duplicates, the part's deliverable |
//! | `consolidation` | the deliverables of the whole job |
//! | `answer` | jobs without documents, and feedback |

mod answer;
mod consolidation;
mod extraction;
mod parts;
mod preparation;

use crate::call::{Turn, append, read_lines, todo_complete, turn};
use crate::plan::task::Task;
use crate::request_view::RequestView;
use crate::request_view::pages::body;
use crate::unknown_todo::unknown_todo;
use crate::validator;

/// Decides one tactical turn.
pub(crate) fn turn_for(view: &RequestView<'_>) -> Turn {
    let Some(todo) = view.todo_list.as_ref().and_then(|list| list.current()) else {
        return turn("There is no open todo to work on.", Vec::new());
    };
    match Task::read(&todo.text) {
        Task::Extract(document) => preparation::extract(view, &document),
        Task::Chunk(document) => preparation::chunk(view, &document),
        Task::CheckManifest => preparation::check_manifest(view),
        Task::Structure => preparation::structure(view),
        Task::NotePrepared => {
            remember("The documents are extracted and chunked; chunks/manifest.json lists the chunks.")
        }
        Task::Process { first, last, part, .. } => extraction::process(view, first..=last, part),
        Task::Review(part) => parts::review(view, part),
        Task::WritePart(part) => parts::write(view, part),
        Task::CheckPlaces(part) => parts::check_places(view, part),
        Task::ListPart(part) => parts::list(view, part),
        Task::NotePart(part) => remember(&format!("Part {part} of the extraction is in candidates/part_{part}.md.")),
        Task::CheckParts => consolidation::check_parts(view),
        Task::WriteRequirements => consolidation::write_requirements(view),
        Task::Coverage => consolidation::coverage(view),
        Task::Reorient => answer::read_task(view),
        Task::NoteStatements => answer::note_statements(view),
        Task::WriteAnswer => answer::write(view),
        Task::ReadFeedback => answer::read_feedback(view),
        Task::CheckFeedback => consolidation::check_parts(view),
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
