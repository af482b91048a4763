//! Requirements of other jobs in results, to be judged: shown by a request, kept while they wait, cleared once they are
//! judged.

use crate::kit::{Dialogue, call, intake, reply};
use plumbline_engine::{
    Effect, Given, GivenRow, Handler, Intake, Judgement, Outcome, Phases, Product, Replay, Settings, ToolReturn,
    ToolSpec, Verdict,
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

fn id(row: u128) -> Uuid {
    Uuid::from_u128(row)
}

fn spec(name: &str, handler: Handler) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        phases: Phases::Tactical,
        description: String::new(),
        parameters: json!({"type": "object"}).into(),
        documentation: String::new(),
        handler,
        replay: Replay::Keyed,
        reads_only: false,
    }
}

/// A validator's settings, with a threshold so low that results are cleared soon.
fn judging() -> Settings {
    Dialogue::with(|settings| {
        let tools = ["next_requirement", "judge_requirements"].map(|name| spec(name, Handler::External));
        settings.tools = Arc::new(settings.tools.iter().cloned().chain(tools).collect());
        settings.limits.context_threshold_tokens = 3_000;
        settings.limits.keep_recent_tool_results = 1;
    })
}

/// A working validator.
fn validator() -> Dialogue {
    Dialogue::working(judging(), 1)
}

/// One answer: each `next_requirement` returns the rows that its arguments name, each `judge_requirements` judges them.
fn answer(dialogue: &mut Dialogue, calls: &[(&str, &[u128])]) {
    let made = calls.iter().map(|(name, rows)| call(name, &json!({ "rows": rows }))).collect();
    dialogue.apply(Outcome::ModelReplied(reply("", made)));
    while let Effect::RunTools { calls, .. } = dialogue.run.next() {
        let returns = calls.iter().map(|call| returned(&call.id, &call.name, &call.arguments)).collect();
        dialogue.apply(Outcome::ToolsReturned(returns));
    }
}

fn returned(id: &str, tool: &str, arguments: &str) -> ToolReturn {
    let arguments: Value = serde_json::from_str(arguments).expect("arguments are JSON");
    let rows = arguments["rows"].as_array().into_iter().flatten().filter_map(Value::as_u64).map(u128::from);
    match tool {
        "next_requirement" => {
            let gives: Vec<GivenRow> = rows.map(|row| GivenRow { id: Uuid::from_u128(row), whole: true }).collect();
            let content = format!("{} requirements. {}", gives.len(), "Invoices must be kept. ".repeat(150));
            ToolReturn { gives, ..ToolReturn::ok(id, content, Vec::new()) }
        }
        _ => {
            let judged = rows.map(|row| {
                Product::JudgeRequirement(Box::new(Judgement {
                    id: Uuid::from_u128(row),
                    verdict: Verdict::Accepted,
                    reason: None,
                    graph_node_id: None,
                    validation_result: Value::Null,
                }))
            });
            ToolReturn::ok(id, "accepted", judged.collect())
        }
    }
}

/// For each result in the model's request, in order: whether it is cleared.
fn cleared(dialogue: &Dialogue) -> Vec<bool> {
    let results = dialogue.request().into_iter().filter(|line| line.answers.is_some());
    results.filter(|line| line.text != "accepted").map(|line| line.text.starts_with("[result cleared")).collect()
}

#[test]
fn a_row_is_shown_once_a_request_has_carried_it() {
    let mut dialogue = validator();
    answer(&mut dialogue, &[("next_requirement", &[1, 2])]);
    let given = &dialogue.run.state().given;
    assert!(given.in_conversation(id(1)) && given.in_answer(id(1)) && given.shown(id(1)).is_none());
    answer(&mut dialogue, &[("judge_requirements", &[1])]);
    let given = &dialogue.run.state().given;
    assert_eq!((given.shown(id(1)), given.shown(id(2))), (None, Some(true)), "what is judged is forgotten");
    assert!(!given.in_conversation(id(1)) && given.in_conversation(id(2)) && !given.in_answer(id(2)));
}

#[test]
fn judged_rows_leave_the_conversation_at_once_and_others_stay() {
    let mut dialogue = validator();
    answer(&mut dialogue, &[("next_requirement", &[1, 2])]);
    answer(&mut dialogue, &[("judge_requirements", &[1]), ("next_requirement", &[3])]);
    assert_eq!(cleared(&dialogue), [false, false], "the second row of the first waits");
    let before = dialogue.request();
    answer(&mut dialogue, &[("judge_requirements", &[2])]);
    assert_eq!(cleared(&dialogue), [true, false]);
    let after = dialogue.request();
    let same = before.iter().zip(&after).take_while(|(one, other)| one.text == other.text).count();
    assert!(after[same].text.starts_with("[result cleared"), "nothing before it changes: {}", after[same].text);
    answer(&mut dialogue, &[("judge_requirements", &[3])]);
    assert_eq!(cleared(&dialogue), [true, true]);
    assert_eq!(dialogue.run.state().given, Given::default());
}

#[test]
fn what_waits_to_be_judged_is_not_cleared_for_its_age() {
    let mut dialogue = validator();
    answer(&mut dialogue, &[("next_requirement", &[1])]);
    for n in 0..3 {
        dialogue.call("add_note", json!({"text": format!("looked at {n}")}));
    }
    assert!(!cleared(&dialogue)[0]);
    answer(&mut dialogue, &[("judge_requirements", &[1])]);
    assert!(cleared(&dialogue)[0]);
}

#[test]
fn a_result_that_was_cut_shows_nothing() {
    let mut dialogue = validator();
    let settings = dialogue.run.settings().limits.max_tool_result_tokens;
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("next_requirement", &json!({"rows": [1]}))])));
    let Effect::RunTools { calls, .. } = dialogue.run.next() else { panic!("a call waits") };
    let long = "Invoices must be kept. ".repeat(settings as usize);
    let cut = ToolReturn { content: long, ..returned(&calls[0].id, "next_requirement", &calls[0].arguments) };
    dialogue.apply(Outcome::ToolsReturned(vec![cut]));
    answer(&mut dialogue, &[("next_requirement", &[2])]);
    assert!(!dialogue.run.state().given.in_conversation(id(1)) && dialogue.run.state().given.shown(id(1)).is_none());
}

#[test]
fn a_reset_conversation_has_none_of_the_rows_of_the_old_one() {
    let mut dialogue = validator();
    answer(&mut dialogue, &[("next_requirement", &[1, 2])]);
    answer(&mut dialogue, &[("judge_requirements", &[1])]);
    let phase = dialogue.phase();
    dialogue.finish_phase();
    assert_ne!(dialogue.phase(), phase, "the phase has ended");
    let given = &dialogue.run.state().given;
    assert!(!given.in_conversation(id(2)), "it comes first again");
    assert_eq!(given.shown(id(2)), Some(true), "it was shown all the same");
}

/// A working validator for which so many requirements waited when it began.
fn waited_for(count: u64) -> Dialogue {
    let mut dialogue = Dialogue::new(judging());
    let Outcome::IntakeDone(taken) = intake() else { panic!("an intake") };
    dialogue.apply(Outcome::IntakeDone(Intake { waiting: Some(count), ..taken }));
    dialogue.write_plan(1);
    dialogue.open_tactical();
    dialogue
}

/// Writes the report, ends the phase and calls `job_complete`; returns the answer to that call.
fn claims_the_end(dialogue: &mut Dialogue) -> String {
    dialogue.call("write_file", json!({"path": "output/report.md", "content": "One of them was judged and accepted."}));
    dialogue.finish_phase();
    let claim = json!({"summary": "All were judged.", "deliverables": ["output/report.md"], "confidence": 0.9});
    dialogue.call("job_complete", claim)
}

#[test]
fn a_job_that_leaves_what_waited_for_it_is_refused_once() {
    let mut dialogue = waited_for(3);
    answer(&mut dialogue, &[("next_requirement", &[1, 2])]);
    answer(&mut dialogue, &[("judge_requirements", &[1])]);
    let told = claims_the_end(&mut dialogue);
    assert!(told.contains("2 of 3 requirements that waited for it are not judged"), "{told}");
    let claim = json!({"summary": "All were judged.", "deliverables": ["output/report.md"], "confidence": 0.9});
    assert_eq!(dialogue.call("job_complete", claim), "The job is complete.");
    assert_eq!(dialogue.run.figures().judged.map(|judged| judged.left()), Some(2));
}

/// Another validator may have judged some of those that waited.
#[test]
fn a_job_that_was_told_that_none_waits_has_left_none() {
    let mut dialogue = waited_for(3);
    answer(&mut dialogue, &[("next_requirement", &[1])]);
    answer(&mut dialogue, &[("next_requirement", &[])]);
    assert_eq!(dialogue.run.figures().judged.map(|judged| judged.left()), Some(3), "it still holds one");
    answer(&mut dialogue, &[("judge_requirements", &[1])]);
    answer(&mut dialogue, &[("next_requirement", &[])]);
    assert_eq!(claims_the_end(&mut dialogue), "The job is complete.");
    assert_eq!(dialogue.run.figures().judged.map(|judged| judged.left()), Some(0));
}
