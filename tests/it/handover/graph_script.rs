//! The script of a validator without a graph, where several calls of one answer append to it.

use plumbline_rehearsal::{ChatRequest, answer};
use plumbline_system_tests::{
    PgPool, World,
    handover::{created, file, insert_validator, policy},
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};

/// Its calls, with three in place of one that judges all.
fn in_three_calls(name: &str, arguments: Value) -> Vec<(&'static str, Value)> {
    match name {
        "judge_requirements" => vec![
            ("judge_requirements", json!({"accept": ["r1", "r2"]})),
            ("integrate_requirement", json!({"id": "r3"})),
            ("judge_requirements", arguments),
        ],
        other => vec![(Box::leak(other.to_owned().into_boxed_str()), arguments)],
    }
}

/// The rehearsal model's answer, with several judging calls.
fn judging(request: &Request) -> Reply {
    let asked: ChatRequest = serde_json::from_value(request.0.clone()).expect("a chat-completions request");
    let answered = serde_json::to_value(answer(&asked)).expect("an answer is JSON");
    let calls = answered["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls = calls.iter().flat_map(|call| {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let arguments = serde_json::from_str(arguments).expect("arguments are JSON");
        in_three_calls(call["function"]["name"].as_str().unwrap_or_default(), arguments)
    });
    Reply::calls(&calls.collect::<Vec<_>>())
}

/// Each requirement is in the script once, the head is there once, and a replay writes the same file.
#[sqlx::test(migrations = false)]
async fn several_judging_calls_of_one_answer_write_one_script(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(3, 1)).await;
    let model = Scripted::start(|request, _| judging(request)).await;
    world.let_rows_set(&["accept_by_rule", "llm.base_url"], &[&model.base_url()]);
    let config = json!({"accept_by_rule": false, "llm": {"base_url": model.base_url()}});
    let validator = insert_validator(&world, creator, &config).await;
    world.work_until_idle().await;
    let row = world.becomes(validator, "completed").await;
    assert_eq!(row.result.unwrap_or_default()["headline"], "6 judged: 6 accepted, 0 rejected, 0 failed.");
    let script = file(&world.pool, validator, "output/insert.cypher").await;
    assert_eq!(script.matches("MERGE (r:Requirement {").count(), 6, "{script}");
    assert_eq!(script.matches("// Requirements that passed").count(), 1, "{script}");
    let ended = world.run(&["replay", &validator.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    world.finish().await;
}
