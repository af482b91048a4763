//! The completion gate: completion needs evidence.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{FailureClass, JobExit, Opening, Owed, OwedFile, PhaseKind, PhaseOutcome, Settings, TodoStatus};
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
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(
        *result,
        json!({
            "summary": "Done.", "deliverables": ["output/report.md"], "undelivered": [], "confidence": 0.9, "notes": null,
            "coverage": null,
            "passages": {"total": 1, "unread": 1, "read": 0, "answered": 0, "cited": 0, "empty": 0, "closed": 0, "not_judged": 0},
        })
    );
    assert_eq!(dialogue.toy.phases[&3].outcome, Some(PhaseOutcome::Completed));
    assert!(dialogue.toy.todos[&3].iter().all(|todo| !todo.status.is_open()), "no todo stays open");
    assert_eq!(dialogue.toy.todos[&3][0].status, TodoStatus::Abandoned, "nobody did it");
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
    assert!(dialogue.run.exit().is_none());
}

#[test]
fn paths_are_compared_in_their_normal_form() {
    for path in ["./output/report.md", "/workspace/output/report.md", "output//report.md", "output\\report.md"] {
        let mut dialogue = finished(settings());
        dialogue.call("job_complete", claim(&[path], &[]));
        let JobExit::Completed { result } = dialogue.exit() else { panic!("{path}: {:?}", dialogue.exit()) };
        assert_eq!(result["deliverables"], json!(["output/report.md"]), "{path}");
    }
}

#[test]
fn arguments_are_checked() {
    let mut dialogue = finished(settings());
    for (arguments, complaint) in [
        (json!({"deliverables": [], "confidence": 0.5}), "Error: argument 'summary' is missing"),
        (json!({"summary": "Done."}), "Error: argument 'confidence' is missing. Example: `{\"summary\":"),
        (json!({"summary": "Done.", "confidence": 1.5}), "Error: argument 'confidence' must be a number from 0 to 1."),
        (
            json!({"summary": "Done.", "confidence": 1, "deliverables": [1]}),
            "Error: argument 'deliverables[0]' does not fit: invalid type: integer `1`, expected a text.",
        ),
        (
            json!({"summary": "Done.", "confidence": 1, "deliverables": ["../x"]}),
            "Error: the path '../x' leads out of the workspace",
        ),
    ] {
        let result = dialogue.call("job_complete", arguments);
        assert!(result.starts_with(complaint), "{result}");
    }
    assert!(dialogue.run.exit().is_none());
}

#[test]
fn nothing_delivered_and_nothing_declared_is_refused() {
    let mut dialogue = finished(settings());
    let result = dialogue.call("job_complete", claim(&[], &[]));
    assert!(
        result.starts_with("Error: the job is not complete: no deliverable is named and no requirement"),
        "{result}"
    );
}

#[test]
fn nothing_delivered_and_declared_so_ends_as_failed() {
    let mut dialogue = finished(settings());
    dialogue.call("job_complete", claim(&[], &["the report: the document is empty"]));
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.message, "nothing was delivered: the report: the document is empty");
    assert_eq!(error.details["kind"], "not_delivered");
}

#[test]
fn requirements_are_a_delivery_of_their_own() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("add_requirement", json!({"text": "Invoices must be kept."}));
    dialogue.finish_phase();
    dialogue.call("job_complete", claim(&[], &["no report was asked for"]));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
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
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
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
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
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

/// A job in its final phase with a required file that is missing.
fn owing() -> Dialogue {
    let owed = OwedFile { path: "output/answers.json".into(), required: true, has_schema: true };
    finished(Dialogue::with(|settings| settings.owed = Owed { files: vec![owed], is_inspected: false }))
}

#[test]
fn a_job_that_declared_files_undelivered_can_be_retried() {
    let staged: Vec<_> = (1..=5).map(|id| json!({"id": id, "content": format!("Check section {id}")})).collect();
    let sentence = "output/answers.json was owed and not delivered: output/answers.json: the policy answers nothing";
    for ahead in [false, true] {
        let mut dialogue = owing();
        if ahead {
            dialogue.call("todo_write", json!({"phase": "Checks", "todos": staged}));
        }
        let undelivered = ["output/answers.json: the policy answers nothing"];
        dialogue.call("job_complete", claim(&["output/report.md"], &undelivered));
        let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
        assert_eq!((error.message.as_str(), &error.details["kind"]), (sentence, &json!("not_delivered")));
        assert!(
            dialogue.toy.text("error.md").contains("- where: job phase 3 (strategic"),
            "the phase that it failed in"
        );
        assert!(dialogue.toy.text("archive/phase_3.yaml").contains("outcome: failed"));
        assert_eq!(dialogue.toy.phases[&3].outcome, Some(PhaseOutcome::Forced));

        dialogue.resume(|_| {});
        assert_eq!(dialogue.phase(), (4, PhaseKind::Strategic, Opening::Rewound));
        let request = dialogue.request();
        let told = format!(
            "has been told to go on. Do what is still missing, in another way where the first did not help. Why it had failed: {sentence}"
        );
        assert!(request[1].text.contains(&told), "{}", request[1].text);
        let list = &request.last().expect("the list is last").text;
        assert!(list.contains("[ ] 1. Find out what went wrong      ← CURRENT"), "{list}");
        let closed = dialogue.close();
        assert!(closed.contains("Task 1 ") && !closed.starts_with("Error"), "{closed}");
        assert!(!dialogue.toy.files.contains_key("error.md"));
        dialogue.open_tactical();
        assert_eq!(dialogue.phase().1, PhaseKind::Tactical);
        dialogue.call("write_file", json!({"path": "output/answers.json", "content": "[10]"}));
        dialogue.finish_phase();
        dialogue.call("job_complete", claim(&["output/report.md"], &[]));
        assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
    }
}

#[test]
fn a_retried_job_may_fail_again_and_deliver_at_once() {
    let mut dialogue = finished(settings());
    for _ in 0..6 {
        dialogue.call("job_complete", claim(&[], &["the report: the document is empty"]));
        assert_eq!(dialogue.reason(), "nothing was delivered: the report: the document is empty");
        dialogue.resume(|_| {});
        assert_eq!(dialogue.run.progress().current_todo.as_deref(), Some("Find out what went wrong"));
    }
    dialogue.call("job_complete", claim(&["output/report.md"], &[]));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
}

#[test]
fn whatever_a_job_failed_of_a_retry_can_work() {
    type Fails = fn(&mut Dialogue);
    let silent: Fails = |dialogue| (0..9).for_each(|_| drop(dialogue.says("I think.")));
    let endless: Fails = |dialogue| {
        (0..9).for_each(|_| drop(dialogue.cut_off("write_file", &json!({"path": "a.md", "content": "long"}))));
    };
    let refused: Fails = |dialogue| drop(dialogue.fails(FailureClass::Permanent));
    for (fails, kind, is_told) in
        [(silent, "no_tool_calls", true), (endless, "no_end", true), (refused, "model", false)]
    {
        let mut dialogue = Dialogue::working(settings(), 1);
        fails(&mut dialogue);
        let JobExit::Failed(error) = dialogue.exit() else { panic!("{kind}: {:?}", dialogue.exit()) };
        assert_eq!(error.details["kind"], kind);
        let why = error.message.clone();
        dialogue.resume(|_| {});
        let told = |line: &crate::kit::Line| line.text.contains("told to go on") && line.text.contains(&why);
        assert_eq!(dialogue.request().iter().any(told), is_told, "{kind}");
        assert!(dialogue.current_todo().is_some(), "{kind}");
        let closed = dialogue.close();
        assert!(!closed.starts_with("Error"), "{kind}: {closed}");
        assert!(dialogue.run.exit().is_none(), "{kind}: {:?}", dialogue.run.exit());
    }
}

#[test]
fn a_file_is_delivered_or_undelivered_and_not_both() {
    let refusal = "Error: the job is not complete: output/report.md is there and counts as delivered, and 'undelivered' \
                   names it as well. Take it out of one of them";
    for said in ["output/report.md", "output/report.md: no text", "the report (`./output/report.md`) is not done."] {
        let mut dialogue = finished(settings());
        let refused = dialogue.call("job_complete", claim(&["output/report.md"], &[said]));
        assert!(refused.starts_with(refusal), "{said}: {refused}");
        assert!(dialogue.run.exit().is_none());
    }
    for said in ["annex B of the report", "output/report.md.sig: no key", "output/report.mdx", "old-output/report.md"] {
        let mut dialogue = finished(settings());
        dialogue.call("job_complete", claim(&["output/report.md"], &[said]));
        assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{said}: {:?}", dialogue.run.exit());
    }
    // A required file that exists is delivered, whether it is named or not, unless it is given up as a whole.
    let answered = || {
        let mut dialogue = owing();
        dialogue.call("write_file", json!({"path": "output/answers.json", "content": "[10]"}));
        dialogue
    };
    let mut dialogue = answered();
    let refused = dialogue.call("job_complete", claim(&[], &["answer 7 of output/answers.json: not sure"]));
    assert!(refused.contains("output/answers.json is there and counts as delivered"), "{refused}");
    dialogue.call("job_complete", claim(&[], &[]));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
    let mut dialogue = answered();
    let given_up = json!([{"item": "output/answers.json", "reason": "no document answers it"}]);
    let call = json!({"summary": "None.", "deliverables": [], "undelivered": given_up, "confidence": 0.9});
    dialogue.call("job_complete", call);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert!(error.message.contains("output/answers.json was owed and not delivered"), "{}", error.message);
    assert!(!dialogue.toy.text("output/answers.json").is_empty(), "its files are kept");
}

#[test]
fn the_lists_that_the_system_renders_are_not_undelivered() {
    let mut dialogue = finished(settings());
    let refused = dialogue.call("job_complete", claim(&["output/requirements.md"], &[]));
    assert!(
        refused.contains("no requirement is recorded, so the system writes no output/requirements.md"),
        "{refused}"
    );
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("add_requirement", json!({"text": "Invoices must be kept."}));
    dialogue.finish_phase();
    let refused = dialogue.call("job_complete", claim(&[], &["output/requirements.md: not written"]));
    assert!(refused.contains("output/requirements.md is there and counts as delivered"), "{refused}");
}
