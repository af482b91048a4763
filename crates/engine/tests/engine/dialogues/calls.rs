//! Calls that are wrong, too many, cut off, or in flight when a worker died.

use crate::kit::{Dialogue, call, check, reply, settings};
use plumbline_engine::{Effect, Outcome, ToolCall};
use serde_json::{Value, json};

#[test]
fn a_tool_of_the_other_phase_is_named_as_such() {
    let mut dialogue = Dialogue::begun(settings());
    assert_eq!(
        dialogue.call("add_requirement", json!({"text": "x"})),
        "Error: add_requirement is only available in tactical phases; this phase is strategic."
    );
    assert!(dialogue.toy.recorded.is_empty(), "it did not run");
}

#[test]
fn an_unknown_tool_is_answered_with_near_names_or_with_all() {
    let mut dialogue = Dialogue::working(settings(), 1);
    assert_eq!(
        dialogue.call("readFile", json!({"path": "a"})),
        "Error: there is no tool named readFile. Did you mean read_file or read_plan or write_file?"
    );
    let result = dialogue.call("bash", json!({}));
    assert!(result.starts_with("Error: there is no tool named bash. Available now: todo_complete, "), "{result}");
    assert!(!result.contains("write_plan") && !result.contains("switched_off"), "only bound tools are named: {result}");
}

#[test]
fn a_tool_that_is_switched_off_does_not_exist() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let result = dialogue.call("switched_off", json!({}));
    assert!(result.starts_with("Error: there is no tool named switched_off."), "{result}");
}

#[test]
fn arguments_that_are_no_json_object_are_stored_as_valid_json_and_refused() {
    for broken in [r#"{"path": "a"#, "[1]", "\"a\"", "nonsense \u{0}"] {
        let mut dialogue = Dialogue::working(settings(), 1);
        let wrong = ToolCall { arguments: broken.into(), ..call("write_file", &json!({})) };
        dialogue.reply(reply("", vec![wrong]));
        let request = dialogue.request();
        let result = &request[3].text;
        assert!(result.starts_with("Error: the arguments are not a valid JSON object"), "{broken}: {result}");
        let stored: Value = serde_json::from_str(&request[2].calls[0].arguments).expect("what is stored is JSON");
        assert_eq!(stored["invalid_json"], broken);
    }
}

#[test]
fn no_arguments_are_written_in_many_ways() {
    for empty in ["", " ", "null", "{}"] {
        let mut dialogue = Dialogue::working(settings(), 1);
        let look = call("read_file", &json!({"path": "instructions.md"}));
        let bare = ToolCall { arguments: empty.into(), ..call("todo_complete", &json!({})) };
        dialogue.reply(reply("", vec![look, bare]));
        assert_eq!(dialogue.run.progress().todos_done, 1, "{empty:?}");
        assert_eq!(dialogue.request()[2].calls[1].arguments, "{}", "{empty:?}");
    }
}

#[test]
fn of_seventy_calls_sixty_four_are_carried_out_and_all_are_answered() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let seventy: Vec<ToolCall> = (0..70).map(|n| call("web_search", &json!({"query": n.to_string()}))).collect();
    dialogue.apply(Outcome::ModelReplied(reply("", seventy)));
    let Effect::RunTools { calls, commit_first } = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    assert_eq!((calls.len(), commit_first, dialogue.commits), (64, false, true), "the commit is made by now");
    dialogue.run_tools();
    let request = dialogue.request();
    let results: Vec<&str> =
        request.iter().filter(|line| line.answers.is_some()).map(|line| line.text.as_str()).collect();
    assert_eq!(results.len(), 70);
    for result in &results[64..] {
        assert_eq!(*result, "Error: not carried out: at most 64 calls in one answer; make the others in the next.");
    }
}

#[test]
fn the_complete_calls_of_a_cut_answer_are_executed_and_the_incomplete_one_is_reported() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let record = |n: i32| ("add_requirement", json!({"text": format!("Invoice {n} must be kept.")}));
    let whole: Vec<_> = (0..28).map(record).collect();
    dialogue.cut_off_after(&whole, ("add_requirement", &json!({"text": "x".repeat(3000)})));
    assert_eq!(dialogue.toy.recorded.len(), 28);
    let request = dialogue.request();
    let errors: Vec<&str> =
        request.iter().map(|line| line.text.as_str()).filter(|text| text.starts_with("Error:")).collect();
    assert_eq!(
        errors,
        [
            "Error: Your answer was cut off at the limit of 1000 tokens; the 28 calls before this one were carried out, this one \
          was not: send it again, and what was to follow. An answer may now hold 2000 tokens. Split the work: write long \
          files in several parts, each well below that."
        ]
    );
    let said: usize = request.iter().flat_map(|line| &line.calls).map(|call| call.arguments.len()).sum();
    assert!(said < 2000, "the dead text is gone: {said} bytes of arguments");
    assert_eq!(dialogue.run.request().max_output_tokens, 2000);
    let todo = dialogue.current_todo().map(|todo| todo.position);
    dialogue.cut_off_after(&[record(29), ("todo_complete", json!({}))], ("todo_complete", &json!({"notes": "none"})));
    assert_ne!(dialogue.current_todo().map(|todo| todo.position), todo, "a whole closing call closes");
}

#[test]
fn a_cut_call_is_never_run() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.cut_off("add_requirement", &json!({"text": "Invoices must be kept."}));
    assert!(dialogue.toy.recorded.is_empty());
    let result = &dialogue.request()[3].text;
    assert!(
        result.starts_with("Error: Your answer was cut off at the limit of 1000 tokens; nothing in it was"),
        "{result}"
    );
}

#[test]
fn a_cut_answer_without_calls_gets_a_remark() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let cut = plumbline_engine::Reply {
        finish: plumbline_engine::FinishReason::Truncated,
        ..crate::kit::says("I think that")
    };
    dialogue.reply(cut);
    assert!(dialogue.request()[3].text.contains("Split the work"), "{}", dialogue.request()[3].text);
}

#[test]
fn local_calls_land_with_the_answer_and_outside_calls_after_a_commit() {
    for (name, commits) in [("write_file", false), ("web_search", true), ("index_page", true)] {
        let mut dialogue = Dialogue::working(settings(), 1);
        let calls = vec![call("read_file", &json!({"path": "instructions.md"})), call(name, &json!({"path": "a.md"}))];
        dialogue.apply(Outcome::ModelReplied(reply("", calls)));
        let Effect::RunTools { calls, .. } = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
        assert_eq!((calls.len(), dialogue.commits), (2, commits), "{name}");
        dialogue.run_tools();
        assert!(dialogue.commits, "the results of {name} are committed");
    }
}

#[test]
fn a_worker_dies_while_calls_are_in_flight() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let calls = ["send_letter", "web_search", "index_page"].map(|name| call(name, &json!({"query": "x"})));
    dialogue.apply(Outcome::ModelReplied(reply("", calls.to_vec())));
    dialogue.crash();
    assert_eq!(dialogue.effect(), "run []", "what may not be made twice is in doubt");
    dialogue.apply(Outcome::ToolsReturned(Vec::new()));
    assert_eq!(dialogue.effect(), "run [web_search, index_page]", "the calls behind it are made");
    dialogue.run_tools();
    let request = dialogue.request();
    assert_eq!(
        request[3].text,
        "Error: interrupted, outcome unknown: the worker stopped while this call was in flight. Check what it did \
         before you call it again."
    );
    assert_eq!((request[4].text.as_str(), request[5].text.as_str()), ("Found: x", "index_page done."));
}

#[test]
fn an_unsafe_call_alone_in_flight() {
    let script = r#"
        take in
        call todo_write {"phase": "Letters", "todos": ["Write to the first office", "Write to the second office", "Write to the third office", "Write to the fourth office", "Collect the answers"]}
        close 4
        ask send_letter {"to": "office 1"}
        crash
        run
        call send_letter {"to": "office 2"}
    "#;
    check("an_unsafe_call_alone_in_flight", settings(), script);
}

#[test]
fn a_call_made_after_the_restart_was_not_interrupted() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.crash();
    assert_eq!(dialogue.call("send_letter", json!({"to": "office"})), "send_letter done.");
}

#[test]
fn ids_are_ours_and_unique_whatever_the_provider_sends() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for _ in 0..2 {
        dialogue.calls(&[("read_plan", json!({})), ("get_progress", json!({}))]);
    }
    let ids: std::collections::BTreeSet<String> =
        dialogue.request().iter().flat_map(|line| line.calls.iter().map(|call| call.id.clone())).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[test]
fn provider_fields_are_echoed_with_their_message() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let extra = json!({"reasoning_content": "…", "signature": [1, 2]}).as_object().cloned().unwrap_or_default();
    dialogue.reply(plumbline_engine::Reply { extra: extra.clone(), ..reply("", vec![call("read_plan", &json!({}))]) });
    let Effect::CallModel(request) = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    let plumbline_engine::RequestMessage::Stored(message) = &request.messages[2] else { panic!("a stored message") };
    assert!(message.extra().eq(&extra), "{message:?}");
}

#[test]
fn nested_arguments_that_arrive_as_text_or_as_one_item_are_read_as_the_schema_wants_them() {
    let todos =
        json!((1..=5).map(|id| json!({"id": id.to_string(), "content": format!("Part {id}")})).collect::<Vec<_>>());
    let mut dialogue = Dialogue::begun(settings());
    let written = dialogue.call("todo_write", json!({"phase": "Work", "description": "", "todos": todos.to_string()}));
    assert!(written.starts_with("todos.yaml written: phase 'Work' with 5 todos"), "{written}");
    let stored = &dialogue.toy.messages.iter().rfind(|message| !message.tool_calls.is_empty()).expect("an answer");
    let stored: Value = serde_json::from_str(&stored.tool_calls[0].arguments).expect("what is stored is JSON");
    assert_eq!(stored["todos"][4], json!({"id": 5, "content": "Part 5"}), "what goes back is what the schema wants");
    let written = dialogue.call("write_plan", json!({"tasks": "Read annex B"}));
    assert!(written.starts_with("main_plan.md written"), "{written}");
}

#[test]
fn consecutive_objects_are_that_many_calls() {
    let mut dialogue = Dialogue::begun(settings());
    let two = ToolCall { arguments: r#"{"text": "one"}{"text": "two"}"#.into(), ..call("add_note", &json!({})) };
    dialogue.reply(reply("", vec![two]));
    let notes = String::from_utf8_lossy(&dialogue.toy.files["workspace.md"]).into_owned();
    assert!(notes.contains("- one\n- two"), "{notes}");
}
