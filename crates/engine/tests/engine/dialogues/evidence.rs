//! What closing a todo and completing a job take: work that the rows know of, not words.

use crate::kit::{Dialogue, settings};
use plumbline_engine::JobExit;
use serde_json::{Value, json};

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

#[test]
fn a_todo_that_nothing_was_called_for_is_refused_once_and_then_closed_on_record() {
    let mut dialogue = Dialogue::working(settings(), 1);
    // The same again in the same answer is no second thought.
    let refused = dialogue.calls(&[closing(), closing()]);
    assert!(refused[0].starts_with("Error: todo 1 stays open: nothing was called for it"), "{refused:?}");
    assert!(refused[1].starts_with("Error: not carried out: todo 1 is still current"), "{refused:?}");
    // A look at where the job stands is no work.
    dialogue.crash();
    let results = dialogue.calls(&[("get_progress", json!({})), ("read_plan", json!({})), closing()]);
    assert!(results[2].contains("on record as closed without evidence"), "{results:?}");
    assert_eq!(dialogue.toy.unevidenced.iter().copied().collect::<Vec<_>>(), [(2, 1)]);
    assert!(dialogue.calls(&[closing()])[0].starts_with("Error: todo 2 stays open"), "each todo is asked for its own");
    assert!(dialogue.close().starts_with("Task 2"));
    assert_eq!(dialogue.toy.unevidenced.len(), 1, "the second was worked on after the refusal");
}

#[test]
fn a_call_of_a_tool_that_there_is_not_is_no_work() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let results = dialogue.calls(&[("frobnicate", json!({}))]);
    assert!(results[0].starts_with("Error:"), "{results:?}");
    assert!(dialogue.calls(&[closing()])[0].starts_with("Error: todo 1 stays open"));
}

#[test]
fn one_answer_may_work_on_several_todos_before_it_closes_them() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let record = ("add_requirement", json!({"text": "Invoices must be kept."}));
    let results = dialogue.calls(&[record, closing(), closing()]);
    assert!(results[1..].iter().all(|result| result.starts_with("Task")), "{results:?}");
    assert!(dialogue.toy.unevidenced.is_empty());
}

#[test]
fn a_call_that_was_refused_is_an_attempt() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("read_file", json!({"path": "nowhere.md"}));
    assert!(dialogue.calls(&[closing()])[0].starts_with("Task 1"));
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

/// A job that has worked through one of three phases, and whose plan then changes.
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
