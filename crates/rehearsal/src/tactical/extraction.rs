//! The extraction: the duties of passages become requirements.
//!
//! A passage is read if the conversation does not contain its text; otherwise it is recorded and decided. The passages
//! of the next todo are read in the answer that closes this one.

use super::decisions;
use crate::call::{Call, Turn, append, read_file, todo_complete, turn};
use crate::plan::manifest::chunk_file;
use crate::plan::task::Task;
use crate::request_view::RequestView;
use crate::text::{Kind, Shown};
use std::collections::BTreeSet;

/// Maximum number of noted headings and terms.
const NOTED: usize = 12;

/// Records the duties of these passages, and decides their other candidates.
pub(super) fn process(view: &RequestView<'_>, numbers: &[u32]) -> Turn {
    let reads = unread(view, numbers);
    if !reads.is_empty() {
        return turn(format!("Reading {} passages.", reads.len()), reads);
    }
    let texts = numbers.iter().filter_map(|number| Some((*number, view.read(&chunk_file(*number))?)));
    let (empty, full): (Vec<_>, Vec<_>) = texts.partition(|(_, text)| text.is_empty());
    let missing: BTreeSet<u32> =
        full.iter().filter_map(|(number, text)| decisions::missing(view, *number, text)).collect();
    if !missing.is_empty() {
        let reads: Vec<Call> = missing.into_iter().map(|number| read_file(&chunk_file(number))).collect();
        return turn(format!("Reading {} passages before these: a list goes on.", reads.len()), reads);
    }
    let calls: Vec<Call> = full.iter().flat_map(|(number, text)| decisions::calls(view, *number, text)).collect();
    let notes = empty.iter().map(|(number, _)| decisions::unread(*number));
    let close = todo_complete(&format!("{} passages worked through, {} could not be read", full.len(), empty.len()));
    turn(format!("Recording {} passages.", full.len()), calls.into_iter().chain(notes).chain([close]).collect())
}

/// The calls that read those passages that are not in the conversation.
fn unread(view: &RequestView<'_>, numbers: &[u32]) -> Vec<Call> {
    let paths = numbers.iter().map(|number| chunk_file(*number));
    paths.filter(|path| view.read(path).is_none()).map(|path| read_file(&path)).collect()
}

/// Notes the beginning of the documents and their defined terms, from the passages of the next todo.
pub(super) fn terms(view: &RequestView<'_>) -> Turn {
    let next = view.todos_behind().find_map(|todo| match Task::read(todo) {
        Task::Process { first, last, .. } => Some(first..=last),
        _ => None,
    });
    let numbers: Vec<u32> = next.into_iter().flatten().collect();
    let reads = unread(view, &numbers);
    if !reads.is_empty() {
        return turn("Reading how the documents begin.", reads);
    }
    let texts = numbers.iter().filter_map(|number| view.read(&chunk_file(*number)));
    let (mut headings, mut terms) = (Vec::new(), Vec::new());
    for sentence in texts.flat_map(|text| Shown::read(text).sentences) {
        match sentence.kind {
            Kind::Heading => headings.push(sentence.text),
            _ if [" means ", " refers to ", " bezeichnet "].iter().any(|word| sentence.text.contains(word)) => {
                terms.extend(sentence.text.split_whitespace().next().map(str::to_owned));
            }
            _ => {}
        }
    }
    let listed = |mut all: Vec<String>| {
        all.truncate(NOTED);
        if all.is_empty() { "none".to_owned() } else { all.join("; ") }
    };
    let note = format!("- The documents begin with: {}. Defined terms: {}.\n", listed(headings), listed(terms));
    turn("Noting how the documents begin.", vec![append("workspace.md", &note), todo_complete("noted in workspace.md")])
}
