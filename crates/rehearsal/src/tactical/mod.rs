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
pub(crate) mod consolidation;
mod extraction;
mod parts;
mod preparation;

use crate::call::{Turn, append, read_lines, todo_complete, turn};
use crate::pages::body;
use crate::situation::Situation;
use crate::strategic::unknown;
use crate::task::Task;
use crate::validator;

/// Decides one tactical turn.
pub(crate) fn turn_for(situation: &Situation<'_>) -> Turn {
    let Some(todo) = situation.frame.as_ref().and_then(|frame| frame.current()) else {
        return turn("There is no open todo to work on.", Vec::new());
    };
    match Task::read(&todo.text) {
        Task::Extract(document) => preparation::extract(situation, &document),
        Task::Chunk(document) => preparation::chunk(situation, &document),
        Task::CheckManifest => preparation::check_manifest(situation),
        Task::Structure => preparation::structure(situation),
        Task::NotePrepared => {
            remember("The documents are extracted and chunked; chunks/manifest.json lists the chunks.")
        }
        Task::Process { first, last, part, .. } => extraction::process(situation, first..=last, part),
        Task::Review(part) => parts::review(situation, part),
        Task::WritePart(part) => parts::write(situation, part),
        Task::CheckPlaces(part) => parts::check_places(situation, part),
        Task::ListPart(part) => parts::list(situation, part),
        Task::NotePart(part) => remember(&format!("Part {part} of the extraction is in candidates/part_{part}.md.")),
        Task::CheckParts => consolidation::check_parts(situation),
        Task::WriteRequirements => consolidation::write_requirements(situation),
        Task::Coverage => consolidation::coverage(situation),
        Task::Reorient => answer::read_task(situation),
        Task::NoteStatements => answer::note_statements(situation),
        Task::WriteAnswer => answer::write(situation),
        Task::ReadFeedback => answer::read_feedback(situation),
        Task::CheckFeedback => consolidation::check_parts(situation),
        Task::WriteFeedback(number) => answer::write_feedback(situation, number),
        Task::ReadBack(path) => read_back(situation, &path),
        Task::NoteDelivered => remember("The deliverables are in output/."),
        Task::GraphSchema => validator::look_at_graph(situation),
        Task::Validate => validator::validate(situation),
        Task::WriteValidationReport => validator::write_report(situation),
        Task::Other(text) => unknown(&text),
    }
}

/// Appends a line to workspace.md and closes the todo.
fn remember(line: &str) -> Turn {
    turn("Noting it in workspace.md.", vec![append("workspace.md", &format!("- {line}\n")), todo_complete(line)])
}

/// Reads the head of a file that an earlier todo wrote.
fn read_back(situation: &Situation<'_>, path: &str) -> Turn {
    let call = read_lines(path, 1, 40);
    match situation.result_of(&call) {
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
