//! Progress, completion and guardrails.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{Autonomy, JobExit, Opening, PhaseKind};
use serde_json::{Value, json};

fn claim(deliverables: &[&str], undelivered: &[&str]) -> Value {
    json!({"summary": "Done.", "deliverables": deliverables, "undelivered": undelivered, "confidence": 1})
}

/// Text for the model must not contain the syntax of a call.
fn assert_free_of_syntax(text: &str) {
    for syntax in ["(", "{", "<", "`"] {
        let told = text.split(" ('").next().unwrap_or(text);
        assert!(!told.contains(syntax), "{syntax} in {text}");
    }
}

#[test]
fn lesson_01_each_turn_shows_the_present_state() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for done in 0..5 {
        let request = dialogue.request();
        let list = &request[request.len() - 1].text;
        assert!(list.contains(&format!("Progress: {done}/5 tasks complete")), "{list}");
        dialogue.close();
    }
    assert!(dialogue.request()[0].text.starts_with("You plan."), "the next phase is another prompt");
}

#[test]
fn lesson_02_narration_is_counted_and_stopped_with_a_named_reason() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..9 {
        dialogue.says("I will now call a tool.");
    }
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "no_tool_calls");
}

#[test]
fn lesson_03_words_complete_nothing() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for text in ["All tasks are complete. PHASE_COMPLETE", "job_complete(summary='done')"] {
        let before = dialogue.run.progress();
        dialogue.says(text);
        assert_eq!(dialogue.run.progress(), before, "{text}");
        assert!(dialogue.run.exit().is_none(), "{text}");
    }
}

#[test]
fn lesson_05_a_raised_limit_is_the_limit() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 2));
    for limit in [2_u32, 5, 9] {
        dialogue.resume(|settings| settings.limits.max_iterations = limit);
        while dialogue.run.exit().is_none() {
            let n = dialogue.toy.requests.len();
            dialogue.call("write_file", json!({"path": "n.md", "content": n.to_string()}));
        }
        assert_eq!(dialogue.toy.requests.len(), limit as usize);
    }
}

#[test]
fn lesson_07_a_plan_without_phases_is_no_success() {
    let mut dialogue = Dialogue::begun(settings());
    let result = dialogue.call("write_plan", json!({"content": "Everything is done, the goal is reached."}));
    assert!(result.contains("No phases were recognised"), "{result}");
    let refused = dialogue.finish_phase();
    assert!(refused.starts_with("Error: todo 4 stays open"), "{refused}");
    assert_eq!(dialogue.phase(), (1, PhaseKind::Strategic, Opening::Initial));
}

#[test]
fn lesson_07_a_plan_marked_as_done_does_not_end_the_job() {
    let mut dialogue = Dialogue::working(settings(), 3);
    dialogue.finish_phase();
    dialogue.call("write_plan", json!({"content": "## Phase 1: A ✓\n## Phase 2: B ✓\n## Phase 3: C ✓\n"}));
    dialogue.finish_phase();
    assert!(dialogue.run.exit().is_none());
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic, "the last todo waits for todos or for job_complete");
}

#[test]
fn lesson_09_nudges_hold_no_call_syntax() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.says("tool_call: read_file(path=a)");
    let request = dialogue.request();
    assert_free_of_syntax(&request[request.len() - 2].text);
    for _ in 0..3 {
        dialogue.call("web_search", json!({"query": "same"}));
    }
    let request = dialogue.request();
    let remark =
        request[request.len() - 2].text.split("\n\n(").nth(1).map(|text| text.trim_end_matches(')').to_string());
    assert_free_of_syntax(&remark.expect("the third result carries a remark"));
}

#[test]
fn lesson_10_turns_without_a_closed_todo_are_noticed() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.turns_without_progress = 20), 1);
    for n in 0..20 {
        dialogue.call("read_file", json!({"path": format!("page_{n}.md")}));
    }
    assert_eq!(dialogue.phase().2, Opening::Rewound);
}

#[test]
fn lesson_11_headings_alone_are_refused_by_the_gate() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call(
        "write_file",
        json!({"path": "output/report.md", "content": "# Report\n\n## Findings\n\n## Conclusion\n"}),
    );
    let result = dialogue.call("job_complete", claim(&["output/report.md"], &[]));
    assert!(result.contains("output/report.md has no real content yet"), "{result}");
}

#[test]
fn lesson_13_repetition_is_met_with_force() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for _ in 0..8 {
        dialogue.call("web_search", json!({"query": "same"}));
    }
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
}

#[test]
fn lesson_15_a_used_up_budget_keeps_the_todos() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.close();
    let requests = u32::try_from(dialogue.toy.requests.len()).expect("few requests");
    dialogue.resume(|settings| settings.limits.max_iterations = requests + 1);
    dialogue.close();
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }), "{:?}", dialogue.exit());
    dialogue.resume(|settings| settings.limits.max_iterations = 1000);
    assert_eq!((dialogue.phase().0, dialogue.run.progress().todos_done), (2, 2));
}

#[test]
fn lesson_20_a_gate_opens_as_soon_as_what_it_waits_for_has_come() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..3 {
        dialogue.close();
    }
    for _ in 0..6 {
        let refused = dialogue.calls(&[("todo_complete", json!({}))]).remove(0);
        assert!(
            refused.contains("todo_write") && refused.contains("5 to 20"),
            "the refusal says what is missing: {refused}"
        );
    }
    let todos: Vec<Value> = (1..=5).map(|n| json!(format!("Process section {n} of the policy"))).collect();
    dialogue.calls(&[("todo_write", json!({"phase": "Extraction", "todos": todos})), ("todo_complete", json!({}))]);
    assert_eq!(dialogue.phase().1, PhaseKind::Tactical);
}

#[test]
fn lesson_20_a_completion_opens_as_well() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    for _ in 0..6 {
        assert!(dialogue.call("job_complete", claim(&["output/a.md"], &[])).contains("output/a.md does not exist"));
    }
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
    dialogue.call("job_complete", claim(&["output/a.md"], &[]));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
}

#[test]
fn lesson_21_the_refusal_is_the_result_of_the_call_that_triggered_it() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.finish_phase();
    let request = dialogue.request();
    let (asked, result) = (&request[request.len() - 4], &request[request.len() - 2]);
    assert_eq!(asked.calls[1].name, "todo_complete");
    assert_eq!(result.answers.as_ref(), Some(&asked.calls[1].id));
    assert!(result.text.starts_with("Error: todo 4 stays open"), "{}", result.text);
    let current = dialogue.current_todo().map(|todo| todo.position);
    assert_eq!((dialogue.phase().0, current), (1, Some(4)), "and the todo stays open");
}

#[test]
fn lesson_26_a_job_that_delivered_nothing_is_not_completed() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call("job_complete", claim(&[], &["everything: the document is unreadable"]));
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "not_delivered");
}

#[test]
fn lesson_27_a_path_prefix_costs_no_delivery() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
    let prefixed = format!("job_{}/output/a.md", dialogue.toy.job.id);
    dialogue.call("job_complete", claim(&[&prefixed], &[]));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
}

#[test]
fn lesson_28_the_result_of_a_repeated_call_says_that_nothing_changed() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let results: Vec<String> = (0..3).map(|_| dialogue.call("web_search", json!({"query": "GoBD"}))).collect();
    assert!(results[2].contains("the same result for the same call, 3 times now"), "{}", results[2]);
}

#[test]
fn lesson_29_autonomy_alone_decides_between_completed_and_review() {
    for (autonomy, reviewed) in [(Autonomy::Full, false), (Autonomy::Review, true)] {
        for confidence in [0.0, 0.45, 1.0] {
            let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.autonomy = autonomy), 1);
            dialogue.finish_phase();
            dialogue
                .call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
            let arguments = json!({"summary": "Done.", "deliverables": ["output/a.md"], "confidence": confidence});
            dialogue.call("job_complete", arguments);
            assert_eq!(matches!(dialogue.exit(), JobExit::Review { .. }), reviewed, "{autonomy:?} {confidence}");
            assert_eq!(matches!(dialogue.exit(), JobExit::Completed { .. }), !reviewed, "{autonomy:?} {confidence}");
        }
    }
}
