//! The completion gate: completion needs evidence.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{Leave, PhaseOutcome, Settings, TodoStatus};
use serde_json::{Value, json};

const REPORT: &str = "Invoices must be kept for ten years.";

/// A job in its final phase, with a report, a stub and an input file.
fn finished(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.finish_phase();
    for (path, content) in [("output/report.md", REPORT), ("output/stub.md", "# Report\n\nTODO\n")] {
        dialogue.call("write_file", json!({"path": path, "content": content}));
    }
    dialogue
}

fn claim(deliverables: &[&str], undelivered: &[&str]) -> Value {
    json!({"summary": "Done.", "deliverables": deliverables, "undelivered": undelivered, "confidence": 0.9})
}

#[test]
fn an_evidenced_completion_is_accepted() {
    let mut dialogue = finished(settings());
    assert_eq!(dialogue.call("job_complete", claim(&["output/report.md"], &[])), "The job is complete.");
    let Leave::Completed { result } = dialogue.left() else { panic!("{:?}", dialogue.left()) };
    assert_eq!(
        *result,
        json!({"summary": "Done.", "deliverables": ["output/report.md"], "undelivered": [], "confidence": 0.9, "notes": null})
    );
    assert_eq!(dialogue.toy.phases[&3].outcome, Some(PhaseOutcome::Completed));
    assert!(dialogue.toy.todos[&3].iter().all(|todo| !todo.status.is_open()), "no todo stays open");
    assert_eq!(dialogue.toy.todos[&3][0].status, TodoStatus::Completed);
}

#[test]
fn a_missing_file_a_stub_and_an_input_are_no_deliverables() {
    let mut dialogue = finished(settings());
    let wrong = ["output/none.md", "output/stub.md", "input/policy.pdf", "output/report.md"];
    assert_eq!(
        dialogue.call("job_complete", claim(&wrong, &[])),
        "Error: the job is not complete: output/none.md does not exist; output/stub.md has no real content yet; \
         input/policy.pdf is an input, not a result. Finish these files, or leave them out and say in 'undelivered' \
         what is missing and why. In output/: output/report.md, output/stub.md."
    );
    assert!(dialogue.run.left().is_none());
}

#[test]
fn paths_are_compared_in_their_normal_form() {
    for path in ["./output/report.md", "/workspace/output/report.md", "output//report.md", "output\\report.md"] {
        let mut dialogue = finished(settings());
        dialogue.call("job_complete", claim(&[path], &[]));
        let Leave::Completed { result } = dialogue.left() else { panic!("{path}: {:?}", dialogue.left()) };
        assert_eq!(result["deliverables"], json!(["output/report.md"]), "{path}");
    }
}

#[test]
fn arguments_are_checked() {
    let mut dialogue = finished(settings());
    for (arguments, complaint) in [
        (json!({"deliverables": [], "confidence": 0.5}), "Error: argument 'summary' is missing"),
        (json!({"summary": "Done."}), "Error: argument 'confidence' must be a number from 0 to 1."),
        (json!({"summary": "Done.", "confidence": 1.5}), "Error: argument 'confidence' must be a number from 0 to 1."),
        (
            json!({"summary": "Done.", "confidence": 1, "deliverables": [1]}),
            "Error: argument 'deliverables' must be a list of texts.",
        ),
        (
            json!({"summary": "Done.", "confidence": 1, "deliverables": ["../x"]}),
            "Error: the path '../x' leads out of the workspace",
        ),
    ] {
        let result = dialogue.call("job_complete", arguments);
        assert!(result.starts_with(complaint), "{result}");
    }
    assert!(dialogue.run.left().is_none());
}

#[test]
fn nothing_delivered_and_nothing_said_of_it_is_refused() {
    let mut dialogue = finished(settings());
    let result = dialogue.call("job_complete", claim(&[], &[]));
    assert!(
        result.starts_with("Error: the job is not complete: no deliverable is named and no requirement"),
        "{result}"
    );
}

#[test]
fn nothing_delivered_and_said_so_ends_as_failed() {
    let mut dialogue = finished(settings());
    dialogue.call("job_complete", claim(&[], &["the report: the document is empty"]));
    let Leave::Failed(error) = dialogue.left() else { panic!("{:?}", dialogue.left()) };
    assert_eq!(error.message, "nothing was delivered: the report: the document is empty");
    assert_eq!(error.details["kind"], "not_delivered");
}

#[test]
fn requirements_are_a_delivery_of_their_own() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("add_requirement", json!({"text": "Invoices must be kept."}));
    dialogue.finish_phase();
    dialogue.call("job_complete", claim(&[], &["no report was asked for"]));
    assert!(matches!(dialogue.left(), Leave::Completed { .. }), "{:?}", dialogue.left());
}

#[test]
fn todos_written_ahead_are_work_left() {
    let mut dialogue = finished(settings());
    let five: Vec<_> =
        (1..=5).map(|id| json!({"id": id, "content": format!("Check section {id} of the policy")})).collect();
    dialogue.call("todo_write", json!({"phase": "Checks", "todos": five}));
    let result = dialogue.call("job_complete", claim(&["output/report.md"], &[]));
    assert!(result.contains("todos for the phase 'Checks' are written and not done"), "{result}");
    dialogue.call("job_complete", claim(&["output/report.md"], &["the checks"]));
    assert!(matches!(dialogue.left(), Leave::Completed { .. }), "{:?}", dialogue.left());
    assert!(dialogue.toy.todos[&4].is_empty(), "the list written ahead goes with the job's end");
}

#[test]
fn the_first_of_two_completions_wins_and_what_follows_is_not_carried_out() {
    let mut dialogue = finished(settings());
    let late = json!({"path": "output/late.md", "content": "Too late to be part of the result."});
    let results = dialogue.calls(&[
        ("job_complete", claim(&["output/report.md"], &[])),
        ("job_complete", claim(&[], &["everything"])),
        ("write_file", late),
    ]);
    assert_eq!(results[0], "The job is complete.");
    for result in &results[1..] {
        assert_eq!(result, "Error: not carried out: an earlier call of this answer ended the job.");
    }
    assert!(matches!(dialogue.left(), Leave::Completed { .. }), "{:?}", dialogue.left());
    assert!(!dialogue.toy.files.contains_key("output/late.md"));
}

#[test]
fn a_refused_completion_may_be_followed_by_one_that_holds() {
    let mut dialogue = finished(settings());
    let results = dialogue.calls(&[
        ("job_complete", claim(&["output/none.md"], &[])),
        ("job_complete", claim(&["output/report.md"], &[])),
    ]);
    assert!(results[0].starts_with("Error"), "{}", results[0]);
    assert_eq!(results[1], "The job is complete.");
}

#[test]
fn it_is_no_tool_of_tactical_phases() {
    let mut dialogue = Dialogue::working(settings(), 1);
    assert_eq!(
        dialogue.call("job_complete", claim(&["output/report.md"], &[])),
        "Error: job_complete is only available in strategic phases; this phase is tactical."
    );
}
