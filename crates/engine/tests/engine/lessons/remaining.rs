//! Lessons whose rule is implemented elsewhere, each with the smallest case that breaks it.

use crate::kit::{Dialogue, call, count, reply, says, settings};
use plumbline_engine::{Effect, FailureClass, ModelSettings, OtherModels, Purpose, Stage, TodoStatus};
use serde_json::{Value, json};

#[test]
fn lesson_04_a_closed_todo_is_closed_in_the_rows_and_in_the_next_request() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.close_with(json!({"notes": "two found"}));
    assert_eq!(dialogue.toy.todos[&2][0].status, TodoStatus::Completed);
    dialogue.crash();
    let request = dialogue.request();
    assert!(request[request.len() - 1].text.contains("[x] 1."), "{}", request[request.len() - 1].text);
}

#[test]
fn lesson_08_planning_is_an_ordinary_phase_with_tools() {
    let dialogue = Dialogue::begun(settings());
    let Effect::CallModel(request) = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    assert_eq!(request.purpose, Purpose::Strategic);
    for tool in ["read_file", "write_plan", "todo_write"] {
        assert!(request.tools.iter().any(|bound| bound.name == tool), "{tool}");
    }
}

#[test]
fn lesson_12_a_limit_is_kept_whatever_the_model_does() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.max_iterations = 12), 1);
    for n in 0..30 {
        if dialogue.run.exit().is_none() {
            dialogue.call("add_note", json!({"text": format!("organising {n}")}));
        }
    }
    assert_eq!(dialogue.toy.requests.len(), 12);
    assert_eq!(dialogue.reason(), "limit of 12 iterations reached");
}

#[test]
fn lesson_17_one_todo_is_enough_where_the_configuration_says_so() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.phases.min_todos = 1));
    let todos = json!([{"id": 1, "content": "Record the only requirement of the policy"}]);
    let written = dialogue.call("todo_write", json!({"phase": "All", "description": "", "todos": todos}));
    assert!(!written.starts_with("Error"), "{written}");
}

#[test]
fn lesson_40_one_layer_decides_on_every_retry() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..3 {
        dialogue.fails(FailureClass::Transient);
        dialogue.wake();
    }
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.toy.requests.len(), 4, "max_retries tries in place and the first, then it is parked");
    assert!(dialogue.run.exit().is_some());
}

#[test]
fn lesson_46_the_cap_is_that_of_the_model_that_is_asked() {
    let dialogue = Dialogue::begun(Dialogue::with(|settings| {
        let planner = ModelSettings { max_output_tokens: 300, ..settings.model.clone() };
        settings.other_models = OtherModels { strategic: Some(planner), summary: None };
    }));
    let Effect::CallModel(request) = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    assert_eq!(request.max_output_tokens, 300);
}

/// A working job that has written text until a summary is due.
fn full() -> Dialogue {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.context_threshold_tokens = 4000), 1);
    dialogue.counts = true;
    for n in 0..20 {
        if !matches!(dialogue.run.state().stage, Stage::Summary { .. }) {
            let thoughts = "the policy says more. ".repeat(90);
            dialogue.reply(reply(&thoughts, vec![call("get_progress", &json!({"n": n}))]));
        }
    }
    dialogue
}

#[test]
fn lesson_50_the_summary_is_asked_for_before_the_call_that_would_not_fit() {
    let dialogue = full();
    assert!(matches!(dialogue.run.state().stage, Stage::Summary { .. }));
    assert!(dialogue.toy.requests.iter().all(|request| request.error.is_none()), "no request failed first");
}

#[test]
fn lesson_52_a_compaction_makes_room() {
    let mut dialogue = full();
    dialogue.says("The pages were read.");
    assert!(dialogue.request_tokens() < 2000, "{} tokens of 4000", dialogue.request_tokens());
}

#[test]
fn lesson_54_a_summary_longer_than_its_source_is_not_used() {
    let mut dialogue = full();
    dialogue.reply(says(&"blah ".repeat(8000)));
    assert!(dialogue.request()[1].text.contains("was cut because the context was full"));
    assert!(dialogue.request_tokens() < 2000, "{} tokens of 4000", dialogue.request_tokens());
}

#[test]
fn lesson_54_what_does_not_fit_the_summarizer_is_cut_without_it() {
    let mut settings = Dialogue::with(|settings| settings.limits.context_threshold_tokens = 4000);
    let small = ModelSettings { context_window: 3000, ..settings.model.clone() };
    settings.other_models.summary = Some(small);
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.counts = true;
    for n in 0..20 {
        let thoughts = "the policy says more. ".repeat(90);
        dialogue.reply(reply(&thoughts, vec![call("add_note", &json!({"text": n.to_string()}))]));
        assert!(matches!(dialogue.run.state().stage, Stage::Model), "a summary of that would overflow: turn {n}");
    }
    assert!(dialogue.request()[1].text.contains("was cut because the context was full"));
}

#[test]
fn lesson_56_old_results_go_and_the_recent_ones_stay() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.context_threshold_tokens = 4000), 1);
    dialogue.counts = true;
    for n in 0..6 {
        let failure = format!("Error: page {n} cannot be read. ").repeat(80);
        dialogue.toy.place(format!("log_{n}.md"), failure.into_bytes());
    }
    dialogue.resume(|_| {});
    for n in 0..6 {
        dialogue.call("read_file", json!({"path": format!("log_{n}.md")}));
    }
    let request = dialogue.request();
    let results: Vec<&str> =
        request.iter().filter(|line| line.answers.is_some()).map(|line| line.text.as_str()).collect();
    assert!(results[0].starts_with("[result cleared"), "an old failure is folded: {}", results[0]);
    assert!(results[results.len() - 1].contains("page 5 cannot"), "the last one is not");
}

#[test]
fn lesson_61_a_text_that_speaks_of_errors_is_none() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.call("write_file", json!({"path": "log.md", "content": "error: the word stands in the policy"}));
    let results = dialogue.calls(&[("read_file", json!({"path": "log.md"})), ("todo_complete", json!({}))]);
    assert!(results[1].contains("marked complete"), "a closing call behind it is carried out: {results:?}");
}

#[test]
fn lesson_65_a_large_result_is_kept_whole_and_named() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let long = "Invoices must be kept for ten years. ".repeat(300);
    dialogue.call("write_file", json!({"path": "long.md", "content": long.clone()}));
    let shown = dialogue.call("read_file", json!({"path": "long.md"}));
    assert!(count(&shown) < 1000, "{} tokens", count(&shown));
    let path = dialogue.toy.files.keys().find(|path| path.starts_with("tool_results/")).expect("it is kept").clone();
    assert!(shown.contains(&path), "{shown}");
    assert_eq!(dialogue.toy.text(&path), long);
}

/// The table in `tests/README.md` is kept up to date.
#[test]
fn every_lesson_is_in_the_table_and_every_test_of_the_table_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = include_str!("../../README.md");
    let mut sources = String::new();
    for folder in ["crates", "tests"] {
        collect(&root.join(folder), &mut sources);
    }
    for number in 1..=68 {
        let row = table.lines().find(|line| line.starts_with(&format!("| {number} |")));
        let row = row.unwrap_or_else(|| panic!("lesson {number} is missing in the table"));
        let names: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let reason = row.rsplit('|').nth(1).unwrap_or_default().trim();
        assert!(!names.is_empty() || reason.len() > 20, "lesson {number} has neither test nor reason");
        for name in names {
            assert!(sources.contains(&format!("fn {name}(")), "lesson {number}: there is no test {name}");
        }
    }
}

fn collect(folder: &std::path::Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).expect("the sources can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// A value is JSON, whatever a model sends in its place.
#[test]
fn lesson_44_a_call_in_a_fence_or_as_text_is_no_reason_to_stop() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.says("```json\n{\"name\": \"todo_complete\"}\n```");
    assert!(dialogue.run.exit().is_none());
    assert_eq!(dialogue.close_with(Value::Null).get(..4), Some("Task"), "null stands for no arguments");
}
