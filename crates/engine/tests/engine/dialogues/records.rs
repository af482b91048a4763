//! Files, todos and counts that the system itself handles: no request is spent on data that the rows already have.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{
    AnsweredBy, FailureClass, MessageKind, OnToolFailure, Outcome, Settings, SystemTodo, TodoStatus, ToolReturn,
};
use serde_json::{Value, json};

/// The system's todos with their conditions, as in the shipped configuration.
fn answering() -> Settings {
    let mark = |todos: &mut Vec<SystemTodo>, at: usize, by| todos[at].answered_by = Some(by);
    Dialogue::with(|settings| {
        let todos = &mut settings.prompts.todos;
        mark(&mut todos.initial, 2, AnsweredBy::PlannedPhases);
        mark(&mut todos.transition, 0, AnsweredBy::Summary);
        mark(&mut todos.transition, 2, AnsweredBy::TickedPlan);
        mark(&mut todos.r#final, 1, AnsweredBy::Deliverables);
    })
}

fn plan(ticks: [&str; 2]) -> Value {
    let [one, two] = ticks;
    json!({"content": format!("# Plan\n\n## Phase 1: One\n- [{one}] a\n\n## Phase 2: Two\n- [{two}] b\n\n## Phase 3: Three\n- [ ] c\n")})
}

fn todos(name: &str) -> Value {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("{name} {id}")})).collect();
    json!({"phase": name, "description": format!("For {name}."), "todos": todos})
}

fn done() -> (&'static str, Value) {
    ("todo_complete", json!({}))
}

fn opening(dialogue: &Dialogue) -> String {
    let mut messages = dialogue.toy.messages.iter().rev();
    messages.find(|message| message.kind == MessageKind::Opening).expect("a phase has an opening").content.clone()
}

fn look() -> (&'static str, Value) {
    ("read_file", json!({"path": "instructions.md"}))
}

/// The first phase in one answer.
fn begun(name: &str) -> Dialogue {
    let mut dialogue = Dialogue::begun(answering());
    dialogue.calls(&[look(), done(), ("write_plan", plan([" ", " "])), done(), ("todo_write", todos(name)), done()]);
    dialogue
}

/// A read of a text that was not shown before.
fn new_look(dialogue: &Dialogue, more: i64) -> (&'static str, Value) {
    ("read_file", json!({"path": "instructions.md", "offset": dialogue.run.state().next_seq * 10 + more}))
}

/// A phase of work in one answer.
fn work(dialogue: &mut Dialogue, name: &str) {
    let file = json!({"path": format!("output/{name}.md"), "content": "Invoices must be kept for ten years."});
    let mut calls = vec![("write_file", file)];
    calls.extend((1..5).map(|more| new_look(dialogue, more)));
    calls.extend((0..5).map(|_| done()));
    dialogue.calls(&calls);
}

#[test]
fn what_the_state_answers_is_closed_with_a_note() {
    let mut dialogue = begun("One");
    assert_eq!(dialogue.phase().0, 2, "the third todo was closed with the second");
    let rows = &dialogue.toy.todos[&1];
    assert!(rows.iter().all(|todo| todo.status == TodoStatus::Completed), "{rows:?}");
    assert_eq!(rows[2].notes.as_deref(), Some("main_plan.md has 3 phases"));
    work(&mut dialogue, "one");
    let text = opening(&dialogue);
    let said = "Todo 1 is closed already: the system wrote workspace_summary.md when job phase 2 ended.";
    assert!(text.contains(said), "{text}");
    assert_eq!(dialogue.current_todo().map(|todo| todo.position), Some(2));
    // The plan is not ticked, so its todo stays open.
    let look = new_look(&dialogue, 0);
    let results = dialogue.calls(&[look, done(), ("write_plan", plan(["x", " "])), done()]);
    let only = "Task 2 'Update workspace.md' marked complete. 2 tasks remaining.";
    assert_eq!(results[1], only);
    dialogue.calls(&[("todo_write", todos("Two")), done()]);
    work(&mut dialogue, "two");
    // Ticked before: both are closed at once.
    let results = dialogue.calls(&[("write_plan", plan(["x", "x"])), done()]);
    assert!(
        results[1].ends_with("1 task remaining. During it: 1 file written. Task 3 is closed as well: 2 of 3 phases are ticked in main_plan.md."),
        "{results:?}"
    );
}

#[test]
fn a_closing_meant_for_a_todo_that_was_closed_with_another_closes_no_further_one() {
    let mut dialogue = Dialogue::begun(answering());
    let one = json!({"content": "# Plan\n\n## Phase 1: One\n- [ ] a\n"});
    // A model that closes each of the four todos that it was shown.
    let results =
        dialogue.calls(&[look(), done(), ("write_plan", one), done(), done(), ("todo_write", todos("One")), done()]);
    assert!(results[3].contains("Task 3 is closed as well"), "{results:?}");
    assert_eq!(results[4], "This todo was closed with the one before it. Todo 4 is current.");
    assert_eq!(dialogue.phase().0, 2, "{results:?}");
}

#[test]
fn only_as_many_closings_are_taken_for_that_as_todos_were_closed_with_another() {
    let mut dialogue = Dialogue::begun(answering());
    let one = json!({"content": "# Plan\n\n## Phase 1: One\n- [ ] a\n"});
    let results = dialogue.calls(&[look(), done(), ("write_plan", one), done(), done(), done()]);
    assert!(results[5].starts_with("Error: todo 4 stays open: this phase ends when"), "{results:?}");
    assert!(dialogue.close().starts_with("Error: todo 4 stays open"), "not of an earlier answer");
}

#[test]
fn what_is_written_is_not_asked_for_at_the_end() {
    let mut dialogue = Dialogue::begun(answering());
    let one = json!({"content": "# Plan\n\n## Phase 1: One\n- [ ] a\n"});
    dialogue.calls(&[look(), done(), ("write_plan", one), done(), ("todo_write", todos("One")), done()]);
    work(&mut dialogue, "one");
    assert_eq!(dialogue.run.todos()[0].content, "Verify the deliverables");
    let result = dialogue.close();
    assert!(result.contains("Task 2 is closed as well: nothing that is owed is missing"), "{result}");
    assert_eq!(dialogue.current_todo().map(|todo| todo.position), Some(3));
}

#[test]
fn closing_counts_the_results_of_the_todo() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let record = |n: i32| ("add_requirement", json!({"text": format!("Invoices of kind {n} must be kept.")}));
    let file = ("write_file", json!({"path": "notes/a.md", "content": "Kinds of invoices and what holds of them."}));
    let nowhere = ("read_file", json!({"path": "nowhere.md"}));
    let results = dialogue.calls(&[record(1), record(2), record(2), file.clone(), file, nowhere, done()]);
    assert!(results[6].contains("an earlier call of this answer failed"), "{results:?}");
    assert_eq!(
        dialogue.close_with(json!({"notes": "3 recorded"})),
        "Task 1 'Process section 1 of the policy' marked complete. 4 tasks remaining. During it: 2 requirements \
         recorded, 1 file written, 1 call refused."
    );
    let result = dialogue.close();
    assert!(result.ends_with("3 tasks remaining. During it nothing was recorded or written."), "{result}");
}

#[test]
fn the_summary_keeps_the_phase_of_work_and_shows_files_first() {
    let mut dialogue = begun("One");
    dialogue.calls(&[
        ("add_accomplishment", json!({"text": "All sections read"})),
        ("write_file", json!({"path": "workspace.md", "content": "# Workspace\n\n## Accomplishments\n\n- All sections read\n\n## Blocking issues\n\n- The annex is missing\n"})),
    ]);
    work(&mut dialogue, "one");
    let written = dialogue.toy.text("workspace_summary.md");
    let again = dialogue.call("generate_workspace_summary", json!({}));
    for text in [&written, &again] {
        assert!(
            text.starts_with("# Workspace summary\n\n## Files\n\n- output/one.md (36 bytes): a result for the user\n"),
            "{text}"
        );
        assert!(text.contains("- Last phase of work (job phase 2): One, 5 of 5 todos closed\n"), "{text}");
        assert!(text.contains("- Elapsed: ") && !text.contains("0 of 4"), "{text}");
        assert!(text.contains("## Accomplishments\n\n- All sections read\n"), "{text}");
        assert!(text.contains("## Blocking issues\n\n- The annex is missing\n"), "{text}");
    }
    let opening = opening(&dialogue);
    assert!(opening.contains("### workspace_summary.md\n\n# Workspace summary"), "{opening}");
    assert_eq!(opening.matches("Elapsed: ").count(), 1, "{opening}");
}

#[test]
fn progress_has_the_time() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let text = dialogue.call("get_progress", json!({}));
    assert!(
        text.contains(" elapsed, ") && text.starts_with("job phase 2 (tactical, phase 1 of 1 of the plan)"),
        "{text}"
    );
}

#[test]
fn a_second_name_is_understood_where_only_the_first_is_bound() {
    let first_names = Dialogue::with(|settings| {
        let tools = settings.tools.iter().filter(|tool| tool.name != "complete_task").cloned();
        settings.tools = std::sync::Arc::new(tools.collect());
    });
    let mut dialogue = Dialogue::working(first_names, 1);
    let record = json!({"text": "Invoices must be kept for ten years."});
    let results = dialogue.calls(&[("write_requirement_to_db", record), ("complete_task", json!({"task_number": 1}))]);
    assert_eq!(results[0], "Recorded.");
    assert!(results[1].starts_with("Task 1 ") && results[1].contains("1 requirement recorded"), "{results:?}");
}

#[test]
fn a_job_that_fails_leaves_its_phase_and_the_reason_on_record() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.close_with(json!({"notes": "half of it"}));
    assert!(dialogue.toy.files.contains_key("todos.yaml"));
    dialogue.fails(FailureClass::Permanent);
    let archive = dialogue.toy.text("archive/phase_2.yaml");
    assert!(archive.contains("outcome: failed\n") && archive.contains("half of it"), "{archive}");
    let error = dialogue.toy.text("error.md");
    assert!(error.contains(dialogue.reason()) && error.contains("- todo: 2. Process section 2"), "{error}");
    assert!(!dialogue.toy.files.contains_key("todos.yaml"), "its list is on record in the archive");
    // A retry continues with the phase unchanged.
    dialogue.resume(|_| {});
    dialogue.close();
    assert!(!dialogue.toy.files.contains_key("error.md"));
    assert!(dialogue.toy.text("todos.yaml").contains("description: \"Record it all.\""));
    assert_eq!(dialogue.run.progress().todos_done, 2);
}

#[test]
fn an_abandoned_list_is_not_shown() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("todo_rewind", json!({"issue": "no sections"}));
    assert!(!dialogue.toy.files.contains_key("todos.yaml"));
}

#[test]
fn a_tool_that_fails_for_good_stops_the_job_where_that_is_asked_for() {
    for (choice, stops) in [(OnToolFailure::Continue, false), (OnToolFailure::Stop, true)] {
        let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.on_tool_failure = choice), 1);
        let call = crate::kit::call("web_search", &json!({"query": "retention"}));
        dialogue.apply(Outcome::ModelReplied(crate::kit::reply("", vec![call])));
        let id = dialogue.returns()[0].call_id.clone();
        dialogue.apply(Outcome::ToolsReturned(vec![ToolReturn::gave_up(&id, "the search does not answer")]));
        assert_eq!(dialogue.run.exit().is_some(), stops);
        if stops {
            assert_eq!(
                dialogue.reason(),
                "web_search failed and was not to be gone on without: the search does not answer"
            );
            dialogue.resume(|_| {});
            dialogue.close();
        }
    }
}
