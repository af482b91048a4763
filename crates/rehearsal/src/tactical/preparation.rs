//! The first phase of a job with documents: text, chunks, and the structure of the documents.

use std::fmt::Write as _;

use crate::call::{
    Call, Turn, append, chunk_document, extract_document_text, list_files, todo_complete, turn, write_in_pieces,
};
use crate::plan::manifest::{self, Entry};
use crate::request_view::opening::UNREADABLE;
use crate::request_view::{RequestView, one_line};

/// Default chunk size in tokens.
const USUAL_TOKENS: u32 = 1200;

/// Extracts a document; a failure is noted, and the others continue.
pub(super) fn extract(view: &RequestView<'_>, document: &str) -> Turn {
    once(view, extract_document_text(document), document, "extracted")
}

/// Chunks a document, unless an earlier todo found that it cannot be read.
pub(super) fn chunk(view: &RequestView<'_>, document: &str) -> Turn {
    let mut call = chunk_document(document);
    // The previous todo was closed too early: the text is extracted now, with a different call.
    if view.work().iter().any(|done| done.is(&call) && done.was_ill_formed()) {
        let extract = extract_document_text(document);
        if !tried(view, &extract) {
            return turn(format!("{document} is to be extracted first."), vec![extract]);
        }
        call.args["max_tokens"] = USUAL_TOKENS.into();
    }
    let known = view.unreadable().into_iter().find(|(path, _)| path == document);
    match known {
        Some((_, reason)) if !tried(view, &call) => {
            turn(format!("{document} cannot be chunked."), vec![todo_complete(&format!("not chunked: {reason}"))])
        }
        _ => once(view, call, document, "chunked"),
    }
}

/// Makes the call, then closes the todo; a failure is noted in workspace.md, where later phases see it.
fn once(view: &RequestView<'_>, call: Call, document: &str, done_word: &str) -> Turn {
    if !tried(view, &call) {
        return turn(format!("{document} is to be {done_word}."), vec![call]);
    }
    match view.result_of(&call).filter(|done| done.failed()) {
        None => turn(format!("{document} is {done_word}."), vec![todo_complete(&format!("{document} is {done_word}"))]),
        Some(done) => {
            let reason = one_line(done.result);
            turn(
                format!("{document} could not be {done_word}."),
                vec![
                    append("workspace.md", &format!("{UNREADABLE}{document}: {reason}\n")),
                    todo_complete(&format!("{document} could not be {done_word}: {reason}")),
                ],
            )
        }
    }
}

/// Whether the call was made; its effect remains even if its result was cleared.
fn tried(view: &RequestView<'_>, call: &Call) -> bool {
    view.work().iter().any(|done| done.is(call))
}

/// Compares what was chunked with what should have been.
pub(super) fn check_manifest(view: &RequestView<'_>) -> Turn {
    let listing = list_files("chunks");
    if view.result_of(&listing).is_none() {
        return turn("Listing the chunks.", vec![listing]);
    }
    with_manifest(view, |entries| {
        let missing: Vec<String> = view
            .documents()
            .into_iter()
            .map(|document| document.path)
            .filter(|path| entries.iter().all(|entry| entry.source != *path))
            .collect();
        let missing = if missing.is_empty() {
            "no document is missing".to_owned()
        } else {
            format!("missing: {}", missing.join(", "))
        };
        let notes = format!("{} chunks in the manifest; {missing}", entries.len());
        turn(notes.clone(), vec![todo_complete(&notes)])
    })
}

/// Writes the headings of every document with the chunks in which they begin.
pub(super) fn structure(view: &RequestView<'_>) -> Turn {
    with_manifest(view, |entries| {
        let mut text = format!("# Structure of the documents\n\n{}\n", crate::DISCLAIMER);
        let mut source = "";
        let mut last: &[String] = &[];
        for entry in entries {
            if entry.source != source {
                source = &entry.source;
                last = &[];
                let count = entries.iter().filter(|other| other.source == source).count();
                let _ = writeln!(text, "\n## {source}\n\n{count} chunks.\n");
            }
            if entry.headings.as_slice() != last && !entry.headings.is_empty() {
                last = &entry.headings;
                let page = entry.pages.map(|(from, _)| format!(", page {from}")).unwrap_or_default();
                let _ = writeln!(text, "- chunk {}{page}: {}", entry.number, entry.headings.join(" > "));
            }
        }
        if entries.is_empty() {
            text.push_str("\nNo document could be read.\n");
        }
        let calls = write_in_pieces("analysis.md", &text);
        turn(
            "Writing down how the documents are built.",
            calls.into_iter().chain([todo_complete("analysis.md is written")]).collect(),
        )
    })
}

fn with_manifest(view: &RequestView<'_>, then: impl FnOnce(&[Entry]) -> Turn) -> Turn {
    match manifest::read(view) {
        Err(call) => turn("Reading the manifest.", vec![call]),
        Ok(entries) => then(&entries),
    }
}
