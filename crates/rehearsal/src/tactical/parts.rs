//! The end of an extraction phase: its findings file is checked and, in longer jobs, becomes a part of the deliverable.

use crate::call::{Turn, list_files, todo_complete, turn, write_in_pieces};
use crate::request_view::RequestView;
use crate::requirement::candidates::{self, Candidate, distinct};

/// Counts the findings and those that repeat another.
pub(super) fn review(view: &RequestView<'_>, part: u32) -> Turn {
    with_findings(view, part, |all| {
        let (count, kept) = (all.len(), distinct(all).len());
        let notes = format!("{count} findings, {} of them repeat another", count - kept);
        turn(notes.clone(), vec![todo_complete(&notes)])
    })
}

/// Counts the findings without a place.
pub(super) fn check_places(view: &RequestView<'_>, part: u32) -> Turn {
    with_findings(view, part, |all| {
        let lost = all.iter().filter(|candidate| candidate.place.is_empty()).count();
        let notes = format!("{} findings, {lost} without a place", all.len());
        turn(notes.clone(), vec![todo_complete(&notes)])
    })
}

/// Writes the part's table.
pub(super) fn write(view: &RequestView<'_>, part: u32) -> Turn {
    with_findings(view, part, |all| {
        let kept = distinct(all);
        let text = format!(
            "# Requirements, part {part}\n\n{} requirements.\n\n{}\n\n{}",
            kept.len(),
            crate::DISCLAIMER,
            candidates::table(&format!("R{part}-"), &kept)
        );
        let path = format!("output/requirements_part_{part}.md");
        let close = todo_complete(&format!("{path}: {} requirements", kept.len()));
        turn(format!("Writing {path}."), write_in_pieces(&path, &text).into_iter().chain([close]).collect())
    })
}

/// Looks whether the findings file is where it should be.
pub(super) fn list(view: &RequestView<'_>, part: u32) -> Turn {
    match view.files("candidates") {
        Err(_) => turn("Listing candidates/.", vec![list_files("candidates")]),
        Ok(files) => {
            let path = candidates::path(part);
            let there = files.iter().any(|(file, _)| *file == path);
            let notes = format!(
                "{} files; {path} is {}",
                files.len(),
                if there { "there" } else { "not there: nothing was found" }
            );
            turn(notes.clone(), vec![todo_complete(&notes)])
        }
    }
}

fn with_findings(view: &RequestView<'_>, part: u32, then: impl FnOnce(Vec<Candidate>) -> Turn) -> Turn {
    let path = candidates::path(part);
    match candidates::read(view, &path) {
        Err(call) => turn(format!("Reading {path}."), vec![call]),
        Ok(all) => then(all),
    }
}
