//! Closing a todo and completing a job require work that the rows show, not words.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{JobExit, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

fn closing() -> (&'static str, Value) {
    ("todo_complete", json!({}))
}

fn claim(undelivered: Value) -> Value {
    json!({"summary": "Done.", "deliverables": ["output/report.md"], "undelivered": undelivered, "confidence": 1})
}

fn report(dialogue: &mut Dialogue) {
    dialogue
        .call("write_file", json!({"path": "output/report.md", "content": "42 requirements recorded, 42 verified."}));
}

fn record(n: i32) -> (&'static str, Value) {
    ("add_requirement", json!({"text": format!("Invoices of kind {n} must be kept.")}))
}

#[test]
fn the_first_closing_without_evidence_is_refused_with_all_open_todos_and_later_ones_are_on_record() {
    let mut dialogue = Dialogue::working(settings(), 1);
    // A repetition in the same answer is not a reconsideration.
    let refused = dialogue.calls(&[closing(), closing()]);
    assert!(refused[0].starts_with("Error: todo 1 stays open: this would be closed todo 1"), "{refused:?}");
    let open = (1..=5).map(|id| format!("{id}. Process section {id} of the policy")).collect::<Vec<_>>().join("; ");
    assert!(refused[0].contains(&open), "{refused:?}");
    assert!(refused[1].starts_with("Error: not carried out: todo 1 is still current"), "{refused:?}");
    dialogue.crash();
    let results = dialogue.calls(&[("get_progress", json!({})), ("read_plan", json!({})), closing()]);
    assert!(results[2].contains("on record as closed without evidence"), "{results:?}");
    assert!(dialogue.calls(&[closing()])[0].starts_with("Task 2"), "a phase is asked once");
    assert_eq!(dialogue.toy.unevidenced.iter().copied().collect::<Vec<_>>(), [(2, 1), (2, 2)]);
}

#[test]
fn effort_is_no_evidence() {
    let tries: [(&str, Value); 6] = [
        ("frobnicate", json!({})),
        ("get_progress", json!({})),
        ("read_file", json!({"path": "nowhere.md"})),
        ("add_note", json!({"text": "all of it is done"})),
        ("write_file", json!({"path": "notes/done.md", "content": "All of it is done, as was asked."})),
        ("write_file", json!({"path": "output/empty.md", "content": ""})),
    ];
    for (name, arguments) in tries {
        let mut dialogue = Dialogue::working(settings(), 1);
        dialogue.call(name, arguments);
        assert!(dialogue.calls(&[closing()])[0].starts_with("Error: todo 1 stays open"), "{name}");
    }
}

#[test]
fn one_answer_may_work_on_several_todos_before_it_closes_them() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let results = dialogue.calls(&[record(1), record(2), closing(), closing()]);
    assert!(results[2..].iter().all(|result| result.starts_with("Task")), "{results:?}");
    // The work of one todo is not evidence for two.
    let results = dialogue.calls(&[record(3), closing(), closing()]);
    assert!(results[1].starts_with("Task 3") && results[2].starts_with("Error: todo 4 stays open"), "{results:?}");
    assert!(dialogue.toy.unevidenced.is_empty());
}

/// A validator that judges everything during its second todo.
#[test]
fn work_done_ahead_is_evidence_for_later_todos() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.calls(&(1..=9).map(record).collect::<Vec<_>>());
    for id in 1..=4 {
        assert!(dialogue.calls(&[closing()])[0].starts_with(&format!("Task {id}")));
    }
    assert!(dialogue.toy.unevidenced.is_empty());
}

#[test]
fn the_same_file_written_again_is_evidence_once_though_it_was_deleted() {
    let mut dialogue = Dialogue::working(
        Dialogue::with(|settings| {
            let known =
                settings.tools.iter().find(|tool| tool.name == "write_file").expect("it is a tool of the tests");
            let delete = ToolSpec { name: "delete_file".into(), ..known.clone() };
            settings.tools = Arc::new(settings.tools.iter().cloned().chain([delete]).collect());
        }),
        1,
    );
    let file = ("write_file", json!({"path": "output/a.md", "content": "Kinds of invoices and what holds of them."}));
    let other = ("write_file", json!({"path": "output/a.md", "content": "Kinds of invoices, in other words."}));
    let delete = ("delete_file", json!({"path": "output/a.md"}));
    assert!(dialogue.calls(&[file.clone(), closing()])[1].starts_with("Task 1"));
    let results = dialogue.calls(&[other, delete, file, closing()]);
    assert!(results[3].starts_with("Error: todo 2 stays open"), "{results:?}");
}

#[test]
fn no_job_is_complete_before_a_tactical_phase_has_run_unless_it_says_what_was_not_done() {
    let mut dialogue = Dialogue::begun(settings());
    report(&mut dialogue);
    for _ in 0..3 {
        let refused = dialogue.call("job_complete", claim(json!([])));
        assert!(refused.contains("no tactical phase has run"), "{refused}");
    }
    dialogue.call("job_complete", claim(json!(["everything but a first look: the user asked for no more"])));
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(result["undelivered"][0], "everything but a first look: the user asked for no more");
}

/// A job that has worked through one of three phases, and then changes its plan.
fn one_of_three(then: &str) -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 3);
    dialogue.finish_phase();
    report(&mut dialogue);
    dialogue.call("write_plan", json!({"content": then}));
    dialogue
}

#[test]
fn phases_that_were_never_worked_are_worked_or_named() {
    let ticked =
        "# Plan\n\n## Phase 1: Part 1\n- [x] a\n\n## Phase 2: Part 2\n- [x] b\n\n## Phase 3: Part 3\n- [x] c\n";
    let shorter = "# Plan\n\n## Phase 1: Part 1\n- [x] a\n";
    for (plan, names) in [(ticked, ["2 ('Part 2')", "3 ('Part 3')"]), (shorter, ["phase 2", "3."])] {
        let mut dialogue = one_of_three(plan);
        let refused = dialogue.call("job_complete", claim(json!([])));
        assert!(refused.contains("the plan had 3 phases, 1 came to their end"), "ticks are no work: {refused}");
        assert!(names.iter().all(|name| refused.contains(name)), "{refused}");
        let half = json!([{"phase": 2, "reason": "the budget would not have been enough"}]);
        let refused = dialogue.call("job_complete", claim(half.clone()));
        assert!(refused.contains("phase 3") && !refused.contains("phase 2"), "{refused}");
        let both = json!([half[0], "phase 3: the budget would not have been enough"]);
        dialogue.call("job_complete", claim(both.clone()));
        let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
        assert_eq!(result["undelivered"], both);
    }
}

#[test]
fn a_plan_that_was_worked_through_needs_no_excuse() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.finish_phase();
    dialogue.open_tactical();
    dialogue.finish_phase();
    report(&mut dialogue);
    assert_eq!(dialogue.call("job_complete", claim(json!([]))), "The job is complete.");
}
