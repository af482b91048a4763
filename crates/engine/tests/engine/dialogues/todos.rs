//! Writing the next phase's todos, and closing those of the current one.

use crate::kit::{Dialogue, settings};
use plumbline_engine::TodoStatus;
use serde_json::{Value, json};

fn todos(count: usize) -> Value {
    (1..=count).map(|id| json!({"id": id, "content": format!("Process section {id}")})).collect()
}

fn write(todos: Value) -> String {
    let mut dialogue = Dialogue::begun(settings());
    let result =
        dialogue.call("todo_write", json!({"phase": "Extraction", "description": "All of it.", "todos": todos}));
    let staged = dialogue.toy.todos.get(&2).map_or(0, Vec::len);
    assert_eq!(staged > 0, !result.starts_with("Error"), "a refused list is not stored: {result}");
    assert_eq!(dialogue.toy.files.contains_key("todos.yaml"), staged > 0);
    result
}

#[test]
fn a_list_of_five_to_twenty_is_written() {
    for count in [5, 20] {
        assert_eq!(
            write(todos(count)),
            format!(
                "todos.yaml written: phase 'Extraction' with {count} todos. It begins when the todos of this phase are complete."
            )
        );
    }
}

#[test]
fn a_list_of_another_length_is_refused_with_what_to_do() {
    assert_eq!(
        write(todos(3)),
        "Error: todos.yaml not written: 3 todos, but a phase has 5 to 20. Divide the work of the phase into smaller \
         checkable steps, or join it with the next phase."
    );
    assert_eq!(
        write(todos(21)),
        "Error: todos.yaml not written: 21 todos, but a phase has 5 to 20. Write the first 20 now and leave the rest to \
         the next phase."
    );
}

#[test]
fn a_list_with_a_wrong_item_is_refused_and_names_the_item() {
    let mut doubled = todos(5);
    doubled[4]["id"] = json!(2);
    assert_eq!(write(doubled), "Error: todos.yaml not written: todos 2 and 5 have the same id 2.");
    let mut without = todos(5);
    without[2] = json!({"id": 3});
    assert!(write(without).starts_with("Error: argument 'todos[2].content' is missing."), "content is needed");
    let mut blank = todos(5);
    blank[1] = json!("  ");
    assert!(write(blank).starts_with("Error: argument 'todos[1].content' is missing."), "an empty text is none");
    let mut lettered = todos(5);
    lettered[0]["id"] = json!("one");
    let lettered = write(lettered);
    assert!(lettered.starts_with("Error: argument 'todos[0].id' does not fit"), "{lettered}");
    assert!(lettered.contains("expected a whole number. Example: `{\"phase\":"), "{lettered}");
    let mut long = todos(5);
    long[0]["content"] = json!("x".repeat(501));
    assert!(write(long).starts_with("Error: todo 1 is 501 characters long"), "a todo is a line");
    for (wrong, place, expected) in [
        (json!([5, 6, 7, 8, 9]), "'todos[0]' does not fit", "expected an object"),
        (json!("five todos"), "'todos' does not fit", "expected a list"),
    ] {
        let refused = write(wrong);
        assert!(refused.contains(place) && refused.contains(expected), "{refused}");
    }
}

#[test]
fn the_name_of_the_phase_is_needed() {
    let mut dialogue = Dialogue::begun(settings());
    let result = dialogue.call("todo_write", json!({"todos": todos(5)}));
    assert!(result.starts_with("Error: argument 'phase' is missing. Example: `{\"phase\": \"Comparison\""), "{result}");
}

#[test]
fn todos_yaml_is_the_view_of_the_staged_rows() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call("todo_write", json!({"phase": "Extraction", "description": "All \"of\" it.", "todos": todos(5)}));
    insta::assert_snapshot!(dialogue.toy.text("todos.yaml"), @r#"
    phase: "Extraction"
    description: "All \"of\" it."
    todos:
      - id: 1
        content: "Process section 1"
      - id: 2
        content: "Process section 2"
      - id: 3
        content: "Process section 3"
      - id: 4
        content: "Process section 4"
      - id: 5
        content: "Process section 5"
    "#);
}

#[test]
fn tasks_are_added_one_by_one_under_the_name_of_the_planned_phase() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.write_plan(2);
    for n in 1..=4 {
        dialogue.call("add_task", json!({"content": format!("Process section {n} of the policy")}));
    }
    dialogue.finish_phase();
    assert_eq!(dialogue.phase().0, 1, "four todos are no list yet");
    assert_eq!(
        dialogue.call("add_task", json!({"content": "Look at the annex first", "after": 1})),
        "Todo 2 added; the list has 5 todos now."
    );
    assert_eq!(
        dialogue.call("add_task", json!({"content": "Nowhere", "after": 9})),
        "Error: there is no todo 9 in the list being written; it has 5 todos."
    );
    dialogue.finish_phase();
    let phase = &dialogue.run.state().phase;
    assert_eq!((phase.number, phase.name.as_str()), (2, "Part 1"));
    assert_eq!(dialogue.run.todos()[1].content, "Look at the annex first");
}

#[test]
fn a_second_list_replaces_the_first() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call("todo_write", json!({"phase": "First", "todos": todos(9)}));
    dialogue.call("todo_write", json!({"phase": "Second", "todos": todos(5)}));
    dialogue.finish_phase();
    assert_eq!(dialogue.run.state().phase.name, "Second");
    assert_eq!(dialogue.run.todos().len(), 5);
}

#[test]
fn closing_says_what_was_closed_and_what_remains() {
    let mut dialogue = Dialogue::working(settings(), 2);
    assert_eq!(
        dialogue.close_with(json!({"notes": "three found"})),
        "Task 1 'Process section 1 of the policy' marked complete. 4 tasks remaining. During it nothing was recorded or \
         written."
    );
    assert_eq!(
        dialogue.call("complete_task", json!({"task_number": 4})),
        "Error: todo 4 is not the current one: todos are worked in order, and todo 2 ('Process section 2 of the \
         policy') is current."
    );
    let look = ("read_file", json!({"path": "instructions.md"}));
    let results = dialogue.calls(&[look, ("complete_task", json!({"task_number": "2"}))]);
    assert!(results[1].starts_with("Task 2"), "digits are a number: {results:?}");
    let rows = &dialogue.toy.todos[&2];
    assert_eq!(rows[0].notes.as_deref(), Some("three found"));
    let states: Vec<TodoStatus> = rows.iter().map(|todo| todo.status).collect();
    use TodoStatus::{Completed, InProgress, Pending};
    assert_eq!(states, [Completed, Completed, InProgress, Pending, Pending]);
}

#[test]
fn several_todos_may_be_closed_in_one_answer_up_to_the_end_of_the_phase() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let work = |n: i32| {
        ("write_file", json!({"path": format!("section_{n}.md"), "content": "One duty, which is to keep records."}))
    };
    let six = (0..6).map(|_| ("todo_complete", json!({})));
    let results = dialogue.calls(&(1..=5).map(work).chain(six).collect::<Vec<(&str, Value)>>());
    assert!(results[9].ends_with("The phase is complete; the next one begins."), "{}", results[9]);
    assert_eq!(
        results[10],
        "Error: not carried out: an earlier call of this answer ended the phase; the next one begins now."
    );
    assert_eq!((dialogue.phase().0, dialogue.run.progress().todos_done), (3, 0), "the sixth closed nothing");
}

#[test]
fn short_todos_make_the_same_progress_file_before_and_after_a_restart() {
    let short = ["a", "b", "c", "d"].map(plumbline_engine::SystemTodo::from).to_vec();
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.prompts.todos.initial = short));
    // The kit compares the file's properties with those of the rows after each step.
    dialogue.close();
    dialogue.close();
    assert_eq!(
        dialogue.toy.text("progress.md"),
        "# Progress\n\nEvery closed todo, in the order of closing.\n\n## Job phase 1 (strategic): Planning\n- a\n- b\n"
    );
}

#[test]
fn what_is_no_text_in_the_progress_file_stays_as_it_is() {
    let mut dialogue = Dialogue::begun(settings());
    let old = b"kept \xFF as it is\n";
    dialogue.toy.place("progress.md", old.to_vec());
    dialogue.crash();
    dialogue.close();
    dialogue.close();
    let content = &dialogue.toy.files["progress.md"];
    assert!(content.starts_with(old) && content.ends_with(b"\n"), "{}", String::from_utf8_lossy(content));
    assert_eq!(content.iter().filter(|byte| **byte == b'\n').count(), 5, "a heading and two todos are added");
}
