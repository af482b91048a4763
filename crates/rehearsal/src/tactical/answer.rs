//! Jobs without documents, and feedback: the honest deliverables of a model without understanding.

use std::fmt::Write as _;

use crate::call::{Turn, list_files, read_file, todo_complete, turn, write_file};
use crate::request_view::RequestView;
use crate::text::{collapse, modal, split};

/// Reads the task again.
pub(super) fn read_task(view: &RequestView<'_>) -> Turn {
    let reads = vec![read_file("instructions.md"), list_files("input")];
    if reads.iter().any(|call| view.result_of(call).is_none()) {
        return turn("Reading the instructions.", reads);
    }
    turn("The task is clear.", vec![todo_complete("instructions.md and input/ were read")])
}

/// The prompt's sentences, and whether each is normative.
fn statements(view: &RequestView<'_>) -> String {
    let mut text = String::new();
    for paragraph in view.prompt().split("\n\n") {
        for range in split(paragraph) {
            let sentence = collapse(&paragraph[range]);
            let sentence = sentence.trim_start_matches(['#', '-', '*', ' ']);
            let mark = modal(sentence).map(|modal| format!(" (normative by the word '{}')", modal.word));
            if !sentence.is_empty() {
                let _ = writeln!(text, "- {sentence}{}", mark.unwrap_or_default());
            }
        }
    }
    text
}

/// Notes the prompt's statements.
pub(super) fn note_statements(view: &RequestView<'_>) -> Turn {
    let text = format!("# Statements of the prompt\n\n{}", statements(view));
    turn(
        "Noting what the prompt says.",
        vec![write_file("analysis.md", &text), todo_complete("analysis.md is written")],
    )
}

/// Writes the deliverable of a job without documents.
pub(super) fn write(view: &RequestView<'_>) -> Turn {
    let text = format!(
        "# Answer\n\n{}\n\nThe job has no document, and a rule-based model has no knowledge of its own. This is what the \
         prompt asks and states; a real model would now do it.\n\n{}\nNo requirement was recorded, because there is no \
         source to quote.\n",
        crate::DISCLAIMER,
        statements(view)
    );
    turn(
        "Writing the answer.",
        vec![write_file("output/answer.md", &text), todo_complete("output/answer.md is written")],
    )
}

/// Reads the memory, which contains the feedback.
pub(super) fn read_feedback(view: &RequestView<'_>) -> Turn {
    let read = read_file("workspace.md");
    match view.result_of(&read) {
        None => turn("Reading workspace.md.", vec![read]),
        Some(_) => turn("The feedback was read.", vec![todo_complete("the feedback in workspace.md was read")]),
    }
}

/// Lists the deliverables.
pub(super) fn check_feedback(view: &RequestView<'_>) -> Turn {
    match view.files("output") {
        Err(call) => turn("Listing output/.", vec![call]),
        Ok(files) => {
            let notes = format!("{} files in output/", files.len());
            turn(notes.clone(), vec![todo_complete(&notes)])
        }
    }
}

/// Writes the feedback's requests and what was done.
pub(super) fn write_feedback(view: &RequestView<'_>, number: u32) -> Turn {
    let read = read_file("workspace.md");
    let Some(memory) = view.result_of(&read) else { return turn("Reading workspace.md.", vec![read]) };
    let feedback: Vec<&str> = memory.result.lines().filter_map(|line| line.strip_prefix("- Feedback: ")).collect();
    let text = format!(
        "# Feedback {number}\n\n{}\n\nThe feedback:\n\n{}\n\nDone: the deliverables in output/ were listed again. A \
         rule-based model cannot change them by free text; a real model would.\n",
        crate::DISCLAIMER,
        feedback.last().unwrap_or(&"none was found in workspace.md")
    );
    let path = format!("output/feedback_{number}.md");
    turn(format!("Writing {path}."), vec![write_file(&path, &text), todo_complete(&format!("{path} is written"))])
}
