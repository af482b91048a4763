//! The calls of one answer take effect in order, regardless of who executes them; calls after the end of a phase are
//! executed in it or in the next one, or named as not executed.

use crate::kit::{Dialogue, call, reply, settings};
use plumbline_engine::{
    Autonomy, Change, Effect, Feedback, HistoryAtBoundary, MessageKind, Opening, Outcome, PhaseKind, Role, ToolCall,
};
use serde_json::{Value, json};

/// A job in its first phase, with todos for the next one written and one todo left.
fn at_the_end_of_planning() -> Dialogue {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(2);
    dialogue.call("todo_write", list());
    while dialogue.run.progress().todos_done + 1 < dialogue.run.progress().todos_total {
        dialogue.close();
    }
    dialogue
}

fn list() -> Value {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Process section {id}")})).collect();
    json!({"phase": "Extraction", "description": "Record it all.", "todos": todos})
}

/// A job in its first tactical phase, with one todo left.
fn at_the_end_of_work(planned: usize) -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), planned);
    dialogue
        .call("write_file", json!({"path": "notes.md", "content": "Sections 1 to 5: one duty each, on retention."}));
    for _ in 0..4 {
        dialogue.close();
    }
    dialogue
}

/// The texts after the opening of the current phase.
fn behind_the_opening(dialogue: &Dialogue) -> Vec<String> {
    let messages = &dialogue.toy.messages;
    let opening = messages.iter().rposition(|message| message.kind == MessageKind::Opening).expect("a phase is open");
    messages[opening + 1..].iter().map(|message| message.content.clone()).collect()
}

fn opening(dialogue: &Dialogue) -> &str {
    let opening = dialogue.toy.messages.iter().rfind(|message| message.kind == MessageKind::Opening);
    &opening.expect("a phase is open").content
}

fn file<'d>(dialogue: &'d Dialogue, path: &str) -> &'d str {
    std::str::from_utf8(&dialogue.toy.files[path]).expect("files of the tests are text")
}

#[test]
fn a_file_tool_sees_what_the_engines_tools_wrote_before_it() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(1);
    let plan = "# Plan\n\n## Phase 1: New\n- [ ] do it\n";
    let results = dialogue.calls(&[
        ("write_plan", json!({"content": plan})),
        ("read_file", json!({"path": "main_plan.md"})),
        ("todo_write", list()),
        ("read_file", json!({"path": "todos.yaml"})),
        ("add_note", json!({"text": "Section 4 defines record"})),
        ("read_file", json!({"path": "workspace.md"})),
        ("generate_workspace_summary", json!({})),
        ("read_file", json!({"path": "workspace_summary.md"})),
    ]);
    assert!(results[1].contains("Phase 1: New"), "{}", results[1]);
    assert!(results[3].contains("Process section 5"), "{}", results[3]);
    assert!(results[5].contains("Section 4 defines record"), "{}", results[5]);
    assert_eq!(results[7], results[6]);
}

#[test]
fn a_write_after_that_of_an_engine_tool_wins() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.calls(&[
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: First\n"})),
        ("write_file", json!({"path": "main_plan.md", "content": "# Plan\n\n## Phase 1: Second\n"})),
        ("add_note", json!({"text": "one"})),
        ("write_file", json!({"path": "workspace.md", "content": "# W\n\n## Notes\n\n- two\n"})),
        ("add_note", json!({"text": "three"})),
    ]);
    assert!(file(&dialogue, "main_plan.md").contains("Second"));
    assert_eq!(file(&dialogue, "workspace.md"), "# W\n\n## Notes\n\n- two\n- three\n");
}

#[test]
fn five_closings_close_three_todos_and_two_are_named_in_the_opening() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue
        .call("write_file", json!({"path": "findings.md", "content": "Sections 1 to 5: one duty each, on retention."}));
    dialogue.close();
    dialogue.close();
    let look = |line: i32| ("read_file", json!({"path": "findings.md", "offset": line}));
    let mut calls = vec![look(1), look(2)];
    calls.extend((0..5).map(|_| ("todo_complete", json!({}))));
    dialogue.calls(&calls);
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Transition));
    let named = "Calls of your last answer that were not carried out:\n\
                 - todo_complete: an earlier call of this answer ended the phase; the next one begins now.\n\
                 - todo_complete: an earlier call of this answer ended the phase; the next one begins now.";
    assert!(opening(&dialogue).contains(named), "{}", opening(&dialogue));
    assert!(behind_the_opening(&dialogue).is_empty());
}

#[test]
fn what_the_ending_phase_binds_is_carried_out_in_it_and_read_behind_the_opening() {
    let mut dialogue = at_the_end_of_work(2);
    dialogue.calls(&[
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("add_note", json!({"text": "Annex B is missing"})),
        ("add_requirement", json!({"text": "Invoices must be kept."})),
        ("todo_complete", json!({})),
        ("read_file", json!({"path": "notes.md"})),
    ]);
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    assert!(file(&dialogue, "workspace.md").contains("Annex B is missing"));
    assert_eq!(dialogue.toy.recorded.len(), 1, "it is bound in the phase that ended");
    let behind = behind_the_opening(&dialogue);
    let begins: Vec<bool> = behind
        .iter()
        .zip(["add_note:\n\nAdded to Notes", "add_requirement:\n\nRecorded.", "read_file:\n\nSections 1 to 5"])
        .map(|(text, end)| text.starts_with("Result of a call of your last answer") && text.contains(end))
        .collect();
    assert_eq!(begins, [true; 3], "{behind:?}");
    assert!(opening(&dialogue).contains("- todo_complete: "), "{}", opening(&dialogue));
    let request = dialogue.request();
    assert!(request.iter().filter(|line| line.text.contains("Sections 1 to 5")).all(|line| line.role == Role::User));
}

#[test]
fn from_the_first_call_that_it_does_not_bind_on_the_next_phase_carries_them_out() {
    let mut dialogue = at_the_end_of_planning();
    let mut calls = vec![("read_file", json!({"path": "instructions.md"})), ("todo_complete", json!({}))];
    calls.extend((0..10).map(|n| ("add_requirement", json!({"text": format!("Invoice {n} must be kept.")}))));
    dialogue.calls(&calls);
    assert_eq!(dialogue.phase().1, PhaseKind::Tactical);
    assert_eq!(dialogue.toy.recorded.len(), 10);
    assert_eq!(behind_the_opening(&dialogue).len(), 10);
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "before the first request");
}

#[test]
fn a_new_plan_after_the_end_of_work_is_written_in_the_phase_that_may_write_it() {
    let mut dialogue = at_the_end_of_work(2);
    let plan = "# Plan\n\n## Phase 1: Part 1\n- [x] do it\n\n## Phase 2: Part 2\n- [ ] annex B\n";
    let mut calls = vec![
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("write_plan", json!({"content": plan})),
        ("todo_write", list()),
    ];
    calls.extend((0..4).map(|_| ("todo_complete", json!({}))));
    dialogue.calls(&calls);
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    assert!(file(&dialogue, "main_plan.md").contains("annex B"));
    let behind = behind_the_opening(&dialogue);
    assert!(behind[0].contains("write_plan:\n\nmain_plan.md written"), "{behind:?}");
    assert!(
        behind[1].starts_with("Calls of your last answer that were not carried out:\n- todo_write: "),
        "{behind:?}"
    );
    assert_eq!(behind[1].matches("- todo_complete: ").count(), 4);
    let before = dialogue.toy.messages.iter().find(|message| message.kind == MessageKind::Opening);
    assert!(before.is_some(), "the opening stays where it was");
}

#[test]
fn a_write_of_the_plan_in_a_tactical_phase_counts_as_not_bound() {
    let mut dialogue = at_the_end_of_work(2);
    dialogue.calls(&[
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("write_file", json!({"path": "./main_plan.md", "content": "# Plan\n\n## Phase 1: Other\n"})),
        ("add_note", json!({"text": "behind it"})),
    ]);
    let behind = behind_the_opening(&dialogue);
    assert!(behind[0].contains("write_file:") && behind[1].contains("add_note:"), "in their order: {behind:?}");
}

#[test]
fn a_held_completion_is_for_a_final_review_with_nothing_open() {
    let complete = |path: &str| json!({"summary": "Done.", "deliverables": [path], "confidence": 0.9});
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
    for _ in 0..4 {
        dialogue.close();
    }
    let ticked = json!({"path": "main_plan.md", "content": "# Plan\n\n## Phase 1: Part 1\n- [x] do it\n"});
    dialogue.calls(&[
        ("read_file", json!({"path": "output/a.md"})),
        ("todo_complete", json!({})),
        ("write_file", ticked),
        ("job_complete", complete("output/a.md")),
    ]);
    assert!(dialogue.run.exit().is_some(), "{:?}", dialogue.run.next());

    let mut dialogue = at_the_end_of_work(2);
    dialogue.calls(&[
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("job_complete", complete("notes.md")),
    ]);
    let behind = behind_the_opening(&dialogue);
    assert!(behind[0].contains("- job_complete: it completes the job in a final review"), "{behind:?}");
}

#[test]
fn calls_after_the_end_of_the_job_are_listed_when_feedback_reopens_it() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.autonomy = Autonomy::Review));
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."}));
    let undelivered = ["all but the first page: nothing else was asked for"];
    let complete =
        json!({"summary": "Done.", "deliverables": ["output/a.md"], "undelivered": undelivered, "confidence": 1});
    dialogue.calls(&[("job_complete", complete), ("add_note", json!({"text": "too late"}))]);
    assert!(!dialogue.toy.files.contains_key("workspace.md"), "it was not carried out");
    let row = Feedback { id: 1, text: "Mind annex B.".into(), created_at: dialogue.now };
    dialogue.toy.feedback.push(row);
    dialogue.resume(|_| {});
    dialogue.apply(Outcome::FeedbackReceived(Vec::new()));
    assert!(opening(&dialogue).contains("- add_note: an earlier call of this answer ended the job."));
}

#[test]
fn a_failed_held_call_does_not_take_the_end_back() {
    let mut dialogue = at_the_end_of_work(2);
    dialogue.calls(&[
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("read_file", json!({"path": "none.md"})),
        ("add_note", json!({"text": "still done"})),
    ]);
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    assert!(behind_the_opening(&dialogue)[0].contains("Error: none.md does not exist"));
    assert!(file(&dialogue, "workspace.md").contains("still done"));
}

#[test]
fn external_calls_after_an_end_are_no_exception_and_survive_a_crash() {
    let mut dialogue = at_the_end_of_planning();
    let calls: Vec<ToolCall> = [
        ("read_file", json!({"path": "instructions.md"})),
        ("todo_complete", json!({})),
        ("web_search", json!({"query": "GoBD"})),
        ("send_letter", json!({"to": "office 1"})),
        ("send_letter", json!({"to": "office 2"})),
    ]
    .iter()
    .map(|(name, arguments)| call(name, arguments))
    .collect();
    dialogue.apply(Outcome::ModelReplied(reply("", calls)));
    dialogue.apply(Outcome::ToolsReturned(dialogue.returns()));
    assert_eq!(dialogue.effect(), "run [web_search]", "the phase that ends binds it");
    dialogue.apply(Outcome::ToolsReturned(dialogue.returns()));
    assert_eq!(
        (dialogue.phase().1, dialogue.effect()),
        (PhaseKind::Tactical, "run [send_letter], after a commit".into())
    );
    dialogue.crash();
    assert_eq!(dialogue.effect(), "run []", "in doubt");
    dialogue.apply(Outcome::ToolsReturned(Vec::new()));
    assert_eq!(dialogue.effect(), "run [send_letter], after a commit");
    dialogue.run_tools();
    let behind = behind_the_opening(&dialogue);
    assert!(behind[0].contains("Found: GoBD"), "{behind:?}");
    assert!(behind[1].contains("outcome unknown") && behind[2].contains("send_letter done."), "{behind:?}");
}

#[test]
fn in_a_continued_conversation_the_results_appear_once() {
    let mut dialogue = Dialogue::working(
        Dialogue::with(|settings| settings.phases.history_at_boundary = HistoryAtBoundary::Compact),
        2,
    );
    dialogue
        .call("write_file", json!({"path": "notes.md", "content": "Sections 1 to 5: one duty each, on retention."}));
    for _ in 0..4 {
        dialogue.close();
    }
    dialogue.calls(&[
        ("read_file", json!({"path": "notes.md"})),
        ("todo_complete", json!({})),
        ("add_note", json!({"text": "Annex B"})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: New\n"})),
    ]);
    let request = dialogue.request();
    let times = |text: &str| request.iter().filter(|line| line.text.contains(text)).count();
    assert_eq!((times("Added to Notes"), times("main_plan.md written with 1 phase: New.")), (1, 1));
}

#[test]
fn forty_calls_that_may_be_made_twice_take_two_commits_and_others_one_each_and_one() {
    for (name, commits) in [("web_search", 2), ("send_letter", 41)] {
        let mut dialogue = Dialogue::working(settings(), 1);
        let calls: Vec<ToolCall> = (0..40).map(|n| call(name, &json!({"query": n.to_string(), "to": n}))).collect();
        dialogue.apply(Outcome::ModelReplied(reply("", calls)));
        let mut seen = 0;
        while matches!(dialogue.run.next(), Effect::RunTools { .. }) {
            seen += usize::from(dialogue.commits);
            let returns = dialogue.returns();
            dialogue.apply(Outcome::ToolsReturned(returns));
        }
        assert_eq!(seen + 1, commits, "{name}, the last with all results");
    }
}

#[test]
fn a_dispatch_is_on_record_before_the_call_leaves_and_in_doubt_however_often_it_is_claimed() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("send_letter", &json!({"to": "office"}))])));
    assert!(dialogue.commits && dialogue.run.has_dispatched(), "it is made before the job may be given back");
    // A second claim that does nothing, and a third.
    dialogue.crash();
    dialogue.crash();
    assert!(!dialogue.run.has_dispatched());
    let changes: Vec<Change> = dialogue.run_tools();
    let said = changes.iter().any(|change| match change {
        Change::Message(message) => message.content.starts_with("Error: interrupted, outcome unknown"),
        _ => false,
    });
    assert!(said, "{changes:?}");
}
