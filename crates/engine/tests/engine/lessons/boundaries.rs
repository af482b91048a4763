//! Phases, resuming, and what persists across both.

use crate::kit::{Dialogue, settings};
use chrono::TimeDelta;
use plumbline_engine::{Corrupt, Effect, HistoryAtBoundary, JobExit, PhaseKind, Run};
use serde_json::{Value, json};

#[test]
fn lesson_18_the_conversation_may_continue_across_a_boundary() {
    let compact = Dialogue::with(|settings| settings.phases.history_at_boundary = HistoryAtBoundary::Compact);
    let mut dialogue = Dialogue::begun(compact);
    dialogue.call("read_file", json!({"path": "instructions.md"}));
    dialogue.open_tactical();
    assert!(dialogue.request().iter().any(|line| line.text.starts_with("Record each requirement with page")));
}

#[test]
fn lesson_22_a_boundary_is_crossed_exactly_once() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.finish_phase();
    dialogue.crash();
    dialogue.open_tactical();
    dialogue.crash();
    // The toy rows refuse a phase that is opened or closed twice; each archive belongs to its own phase.
    for number in 1..=3 {
        assert!(dialogue.toy.text(&format!("archive/phase_{number}.yaml")).contains(&format!("\nnumber: {number}\n")));
    }
    assert_eq!(dialogue.toy.phases.len(), 4);
}

#[test]
fn lesson_23_one_counter_numbers_the_phases() {
    let mut dialogue = Dialogue::working(settings(), 3);
    dialogue.call("todo_rewind", json!({"issue": "wrong order"}));
    dialogue.open_tactical();
    dialogue.call("todo_rewind", json!({"issue": "still wrong"}));
    dialogue.call("archive_and_reset", json!({}));
    dialogue.open_tactical();
    let kinds: Vec<(i32, PhaseKind)> =
        dialogue.toy.phases.iter().map(|(number, phase)| (*number, phase.kind)).collect();
    use PhaseKind::{Strategic, Tactical};
    assert_eq!(
        kinds,
        [(1, Strategic), (2, Tactical), (3, Strategic), (4, Tactical), (5, Strategic), (6, Strategic), (7, Tactical)]
    );
    assert_eq!(dialogue.run.state().phase.tactical, 3);
    assert_eq!(dialogue.run.progress().phase_name.as_deref(), Some(dialogue.toy.phases[&7].name.as_str()));
}

#[test]
fn lesson_24_a_restart_fabricates_no_completion() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    dialogue.crash();
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{:?}", dialogue.run.next());
}

#[test]
fn lesson_25_a_resumed_job_does_not_find_its_own_stop_sign() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 1));
    dialogue.call("read_plan", json!({}));
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }));
    let stored = serde_json::to_string(dialogue.run.state()).expect("a checkpoint is JSON");
    assert!(!stored.contains("iterations") && !stored.contains("paused"), "{stored}");
    dialogue.resume(|settings| settings.limits.max_iterations = 9);
    dialogue.call("read_plan", json!({}));
    assert_eq!(dialogue.toy.requests.len(), 2, "it takes steps again");
}

#[test]
fn lesson_25_neither_does_a_failed_job_that_is_retried() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.turns_without_progress = 1), 1);
    for n in 0..4 {
        dialogue.call("web_search", json!({"query": n}));
    }
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
    dialogue.resume(|settings| settings.limits.turns_without_progress = 25);
    dialogue.call("web_search", json!({"query": "once more"}));
    assert!(dialogue.run.exit().is_none());
}

#[test]
fn lesson_30_the_date_is_in_the_prompt_by_the_day() {
    let mut dialogue = Dialogue::begun(settings());
    let before = dialogue.request()[0].clone();
    assert!(before.text.contains("Today is 2026-01-01."), "{}", before.text);
    dialogue.later(TimeDelta::hours(5));
    dialogue.call("read_plan", json!({}));
    assert_eq!(dialogue.request()[0], before, "the prompt cache survives the hours");
}

#[test]
fn lesson_55_prompt_plan_and_todos_survive_a_compaction() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.context_threshold_tokens = 3000), 2);
    let mut long = crate::kit::says(&"the policy says more. ".repeat(300));
    long.record.prompt_tokens = 3000;
    dialogue.reply(long);
    dialogue.says("Two requirements so far.");
    let request = dialogue.request();
    assert!(request[0].text.contains(&dialogue.toy.job.prompt), "{}", request[0].text);
    assert!(request[1].text.contains("## Phase 2: Part 2"), "{}", request[1].text);
    assert!(request[request.len() - 1].text.contains("[ ] 1. Process section 1 of the policy      ← CURRENT"));
}

#[test]
fn lesson_97_the_deadline_counts_from_the_first_start_not_from_a_resume() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.deadline_s = Some(60)));
    dialogue.later(TimeDelta::seconds(40));
    dialogue.crash();
    dialogue.call("read_plan", json!({}));
    dialogue.later(TimeDelta::seconds(20));
    dialogue.call("read_plan", json!({}));
    assert_eq!(dialogue.reason(), "deadline of 60 s reached");
}

#[test]
fn lesson_107_todos_written_ahead_survive_a_crash() {
    let mut dialogue = Dialogue::begun(settings());
    let todos: Vec<Value> = (1..=5).map(|n| json!(format!("Process section {n} of the policy"))).collect();
    dialogue.call("todo_write", json!({"phase": "Extraction", "description": "All of it.", "todos": todos}));
    dialogue.crash();
    dialogue.finish_phase();
    assert_eq!(dialogue.run.state().phase.name, "Extraction");
    assert_eq!(dialogue.run.todos().len(), 5);
    assert!(dialogue.request()[1].text.contains("All of it."), "{}", dialogue.request()[1].text);
}

#[test]
fn rows_that_contradict_each_other_are_not_run() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let Corrupt(_) = {
        let mut snapshot = dialogue.toy.snapshot();
        snapshot.messages.retain(|message| message.tool_call_id.is_some());
        Run::load(snapshot, settings().into()).expect_err("the system message is missing")
    };
    dialogue.apply(plumbline_engine::Outcome::ModelReplied(crate::kit::reply(
        "",
        vec![crate::kit::call("web_search", &json!({"query": "x"}))],
    )));
    let mut snapshot = dialogue.toy.snapshot();
    snapshot.messages.pop();
    let error = Run::load(snapshot, settings().into()).expect_err("the calls are missing");
    assert!(error.to_string().contains("holds no tool calls"), "{error}");
}

#[test]
fn a_checkpoint_of_a_newer_worker_is_refused_with_what_to_do() {
    let mut snapshot = Dialogue::working(settings(), 1).toy.snapshot();
    if let Some(state) = &mut snapshot.state {
        state.version += 1;
    }
    let error = Run::load(snapshot, settings().into()).expect_err("the version is newer");
    assert!(error.to_string().ends_with("update the worker"), "{error}");
}

#[test]
fn messages_beyond_the_context_do_no_harm() {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.finish_phase();
    let mut snapshot = dialogue.toy.snapshot();
    snapshot.messages.clone_from(&dialogue.toy.messages);
    let run = Run::load(snapshot, settings().into()).expect("more messages are no contradiction");
    assert_eq!(format!("{:?}", run.next()), format!("{:?}", dialogue.run.next()));
}
