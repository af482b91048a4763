//! Memory between phases, and the handling of issues and feedback.

use crate::call::{Turn, add_note, append, generate_workspace_summary, read_file, todo_complete, turn};
use crate::request_view::archive::Archive;
use crate::request_view::{RequestView, one_line};

/// Transition todo 1: a tool writes the summary.
pub(super) fn summarize(_: &RequestView<'_>) -> Turn {
    turn(
        "Summarizing the workspace.",
        vec![generate_workspace_summary(), todo_complete("workspace_summary.md is written")],
    )
}

/// Transition todo 2: one line of progress. The line is appended, so that notes of other turns are kept.
pub(super) fn remember(view: &RequestView<'_>) -> Turn {
    let line = match Archive::read(view) {
        Some(archive) => format!("- Finished the phase '{}'.\n", archive.phase),
        None => "- Finished a phase; main_plan.md tells which.\n".to_owned(),
    };
    turn("Noting the progress.", vec![append("workspace.md", &line), todo_complete("the progress is noted")])
}

/// After a rewind: the issue is noted where the next phases see it.
pub(super) fn reconsider(view: &RequestView<'_>) -> Turn {
    let line = format!("- The last phase was given up: {}\n", one_line(view.issue().unwrap_or("no reason is named")));
    turn(
        "Noting why the last phase was given up.",
        vec![append("workspace.md", &line), todo_complete(&one_line(&line))],
    )
}

/// Feedback todo 1: the feedback is kept, up to a line's length.
pub(super) fn take_in_feedback(view: &RequestView<'_>) -> Turn {
    let feedback = view.feedback();
    let feedback =
        if feedback.is_empty() { "the conversation shows none".to_owned() } else { one_line(&feedback.join(" / ")) };
    let line = format!("- Feedback: {feedback}\n");
    turn("Noting the feedback.", vec![append("workspace.md", &line), todo_complete("the feedback is noted")])
}

/// Feedback todo 2: a rule-based model's honest reply.
pub(super) fn evaluate(_: &RequestView<'_>) -> Turn {
    let note = "A rule-based model cannot judge free text. It will check the deliverables again and write down what the \
                feedback asks, so that a person or a real model can take it up.";
    turn("Evaluating the feedback.", vec![read_file("workspace.md"), add_note(note), todo_complete(note)])
}
