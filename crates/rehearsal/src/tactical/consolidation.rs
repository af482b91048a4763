//! The last phase of a job with documents: one overview of everything found, and of everything looked at.

use std::fmt::Write as _;

use crate::call::{Turn, first_requirements, list_files, read_file, todo_complete, turn, write_file};
use crate::plan::Plan;
use crate::plan::schedule::{self, LATE};
use crate::request_view::RequestView;
use crate::request_view::opening::Document;
use crate::requirement::table_file::{self, PATH};

/// Lists both folders, and reads what the system has on record.
pub(super) fn check_parts(view: &RequestView<'_>) -> Turn {
    match (view.files("candidates"), view.files("output")) {
        (Ok(candidates), Ok(output)) => {
            let notes = format!("{} files in candidates/, {} in output/", candidates.len(), output.len());
            turn(notes.clone(), vec![todo_complete(&notes)])
        }
        _ => {
            let recorded = match view.bound("list_requirements") {
                true => first_requirements(),
                false => read_file("progress.md"),
            };
            let looks =
                vec![list_files("candidates"), list_files("output"), read_file("workspace_summary.md"), recorded];
            turn("Listing candidates/ and output/, and reading what is on record.", looks)
        }
    }
}

/// A short job's requirements stand in one table; a longer job's in the parts, and this file leads to them.
pub(super) fn write_requirements(view: &RequestView<'_>) -> Turn {
    match table_file::calls(view) {
        Err(call) => turn("Reading the findings.", vec![call]),
        Ok((count, calls)) => {
            let close = todo_complete(&format!("{PATH}: {count} requirements"));
            turn(format!("Writing {PATH}."), calls.into_iter().chain([close]).collect())
        }
    }
}

/// Says what was looked at, and what could not be.
pub(super) fn coverage(view: &RequestView<'_>) -> Turn {
    let looked = view.files("chunks").and_then(|files| Ok((files, Plan::current(view)?)));
    let (files, plan) = match looked {
        Err(call) => return turn("Looking at the chunks and the plan.", vec![call]),
        Ok(looked) => looked,
    };
    let chunks = files.iter().filter(|(path, _)| path.starts_with("chunks/chunk_")).count();
    let documents = view.documents();
    let late = schedule::late(&plan, &documents).into_iter().map(|path| (path, LATE.to_owned()));
    let missed: Vec<(String, String)> = view.unreadable().into_iter().chain(late).collect();
    let read: Vec<&Document> =
        documents.iter().filter(|document| missed.iter().all(|(path, _)| *path != document.path)).collect();
    let mut text =
        format!("# Coverage\n\n{}\n\n{chunks} chunks were processed, of these documents:\n\n", crate::DISCLAIMER);
    for document in &read {
        let _ = writeln!(text, "{}", document.line());
    }
    text.push_str("\nNot processed:\n\n");
    for (path, reason) in &missed {
        let _ = writeln!(text, "- {path}: {reason}");
    }
    if missed.is_empty() {
        text.push_str("Nothing; every document could be read. Text in images is not seen by this model.\n");
    }
    let notes = format!("{} documents processed, {} not", read.len(), missed.len());
    turn("Writing what was covered.", vec![write_file("output/coverage.md", &text), todo_complete(&notes)])
}
