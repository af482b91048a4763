//! An operator's own HTTP tools with the real binary: requests, stored rows, and the effect of a kill on a call.

use super::{
    counting_tool::CountingTool,
    double::Served,
    scene::{Call, OneJob},
};
use plumbline_system_tests::{PgPool, Uuid, scripted::Request, skipped};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

type Scene = OneJob<CountingTool>;

/// A job whose model makes these answers in its phase of work, with the tools of an operator.
async fn scene(pool: PgPool, server: Served<CountingTool>, tools: Value, answers: &[&[Call]]) -> Scene {
    Scene::of(pool, server, answers, json!({"connections": {"http_tools": tools}})).await
}

fn pay(amount: i64) -> Call {
    ("http_pay", json!({"amount": amount}))
}

fn tool_named<'a>(request: &'a Request, name: &str) -> Option<&'a Value> {
    request.0["tools"].as_array()?.iter().find(|tool| tool["function"]["name"] == name)
}

#[sqlx::test(migrations = false)]
async fn a_tool_of_ones_own_is_called_with_its_key_and_stored_with_the_job(pool: PgPool) {
    let server = Served::<CountingTool>::start().await;
    let headers = json!({"headers_env": {"authorization": "SERVER_KEY"}, "phases": ["tactical"]});
    let tools = json!({"pay": server.entry("pay", &headers), "broken": server.entry("broken", &json!({}))});
    let scene = scene(pool, server, tools, &[&[pay(3), pay(4), ("http_broken", json!({"amount": 1}))]]).await;
    let checked = scene.run(&["config", "check"]).await;
    assert!(checked.stdout.contains("tool: asker: http_pay (tactical), "), "{}", checked.stdout);
    assert!(checked.stdout.contains(r#"Pay an amount. {"additionalProperties":false"#), "{}", checked.stdout);
    scene.work().await;

    assert_eq!(scene.server.amounts(), [3, 4, 1]);
    let arrived = scene.server.arrived();
    let key = |n: usize| arrived[n].key.clone();
    assert!((0..3).all(|n| key(n).starts_with(&format!("{}:", scene.job))), "{arrived:?}");
    assert!(key(0) != key(1) && key(1) != key(2), "{arrived:?}");
    for call in &arrived {
        let parts: Vec<usize> = call.traceparent.split('-').map(str::len).collect();
        assert_eq!(parts, [2, 32, 16, 2], "{call:?}");
    }
    assert_eq!((arrived[0].authorization.as_str(), arrived[2].authorization.as_str()), ("secret-of-the-test", ""));
    assert_eq!((arrived[0].path.as_str(), arrived[2].path.as_str()), ("/pay", "/broken"));
    assert!(scene.is_told(r#"{"paid":3}"#) && scene.is_told("HTTP status 422: this amount is not taken"));

    let seen = scene.model.seen();
    let tactical = seen.iter().find(|request| !request.is_strategic()).expect("a phase of work");
    let shown = tool_named(tactical, "http_pay").expect("it is bound");
    assert_eq!(shown["function"]["parameters"]["properties"]["amount"]["type"], "integer");
    let strategic = seen.iter().find(|request| request.is_strategic()).expect("a phase that plans");
    assert!(tool_named(strategic, "http_pay").is_none() && tool_named(strategic, "http_broken").is_some());

    let foreign = foreign_tools(&scene, scene.job).await;
    assert_eq!(foreign[1]["name"], "http_pay");
    assert_eq!(foreign[1]["schema"]["required"], json!(["amount"]));
    assert_eq!(foreign[1]["sha256"].as_str().map(str::len), Some(64));
    let documentation = scene.run(&["cat", &scene.job.to_string(), "tools/http_pay.md"]).await.stdout;
    assert!(documentation.contains("Pay an amount.") && documentation.contains("sent once"), "{documentation}");

    scene.replays(scene.job).await;
    assert_eq!(scene.server.amounts(), [3, 4, 1], "a replay sends nothing");
    scene.finish().await;
}

/// The entries after the operator has changed them: `http_pay` has another address and takes a `sum`, `http_note` is gone.
fn changed(server: &Served<CountingTool>) -> Value {
    let parameters = json!({
        "type": "object", "required": ["sum"], "additionalProperties": false, "properties": {"sum": {"type": "integer"}}
    });
    let pay = server.entry("pay_anew", &json!({"description": "Pay a sum.", "parameters": parameters}));
    json!({"connections": {"http_tools": {"pay": pay}}})
}

#[sqlx::test(migrations = false)]
async fn a_retry_takes_the_present_tools_and_a_replay_those_of_each_step(pool: PgPool) {
    let server = Served::<CountingTool>::start().await;
    let tools = json!({"pay": server.entry("pay", &json!({})), "note": server.entry("note", &json!({}))});
    let (note, anew) = (("http_note", json!({"amount": 2})), ("http_pay", json!({"sum": 4})));
    let keys = json!({"approval": ["http_note"], "connections": {"http_tools": tools}});
    let scene = Scene::of(pool, server, &[&[pay(1)], &[note], &[anew]], keys).await;
    scene.work().await;
    scene.world.becomes(scene.job, "review").await;
    let began_with = foreign_tools(&scene, scene.job).await;
    scene.ask("SELECT cancel_job($1)", scene.job).await.expect("it waits");
    scene.set(&changed(&scene.server));
    scene.ask("SELECT retry_job($1)", scene.job).await.expect("it was cancelled");
    scene.work().await;
    scene.world.becomes(scene.job, "completed").await;
    let arrived = scene.server.arrived();
    let paths: Vec<&str> = arrived.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths, ["/pay", "/pay_anew"], "the call of the tool that is gone is not sent");
    assert_eq!(arrived[1].arguments, json!({"sum": 4}));
    let has = foreign_tools(&scene, scene.job).await;
    assert_eq!((has.as_array().map(Vec::len), &has[0]["description"]), (Some(1), &json!("Pay a sum.")));

    scene.replays(scene.job).await;
    let before = "SELECT fork_job(job_id, min(step))::text FROM messages WHERE job_id = $1 AND content LIKE '{\"paid\"%' GROUP BY job_id";
    let fork = scene.ask(before, scene.job).await.expect("it forks").parse().expect("an id");
    assert_eq!(foreign_tools(&scene, fork).await, began_with, "a fork has the tools of its step");
    scene.ask("SELECT cancel_job($1)", fork).await.expect("it has not begun");
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn changed_arguments_that_do_not_fit_the_schema_are_not_sent(pool: PgPool) {
    let server = Served::<CountingTool>::start().await;
    let tools = json!({"pay": server.entry("pay", &json!({}))});
    let keys = json!({"approval": ["http_pay"], "connections": {"http_tools": tools}});
    let scene = Scene::of(pool, server, &[&[pay(1)]], keys).await;
    scene.work().await;
    let asked = scene.calls(scene.job, "id").await;
    let misfit = r#"{"sum": 7}"#;
    let refused = scene.run(&["edit-call", &asked[0], "--arguments", misfit]).await;
    assert_eq!(refused.code, Some(2), "the command validates first: {}", refused.stderr);
    assert!(refused.stderr.contains("`amount`"), "{}", refused.stderr);
    assert_eq!(scene.calls(scene.job, "state").await, ["pending"]);

    let edit = r#"SELECT edit_call($1, '{"sum": 7}')"#;
    assert_eq!(scene.ask(edit, asked[0].parse().expect("an id")).await.as_deref(), Ok("approved"));
    scene.work().await;
    assert_eq!(scene.calls(scene.job, "state").await, ["void", "pending"]);
    assert!(scene.calls(scene.job, "reason").await[1].contains("`amount`"));
    assert!(scene.server.arrived().is_empty());

    let again = scene.calls(scene.job, "id").await;
    let changed = scene.run(&["edit-call", &again[1], "--arguments", r#"{"amount": 7}"#]).await;
    assert_eq!(changed.code, Some(0), "{}", changed.stderr);
    scene.work().await;
    assert_eq!(scene.server.amounts(), [7]);
    scene.finish().await;
}

async fn foreign_tools(scene: &Scene, job: Uuid) -> Value {
    let tools = sqlx::query_scalar("SELECT foreign_tools FROM job_settings WHERE job_id = $1").bind(job);
    tools.fetch_one(&scene.world.pool).await.expect("the settings are read")
}

/// How often a call arrives whose worker dies at a given place, and the result that the model reads.
async fn killed(pool: PgPool, replay: &str, place: &str, arrives: usize, unknown: bool) {
    let server = Served::<CountingTool>::start().await;
    let tools = json!({"pay": server.entry("pay", &json!({"replay": replay}))});
    let scene = scene(pool, server, tools, &[&[pay(3)]]).await;
    scene.dies_at(place).await;
    scene.work().await;
    assert_eq!(scene.server.amounts(), vec![3; arrives], "{replay} at {place}");
    assert_eq!(scene.is_told("outcome unknown"), unknown);
    let keys: Vec<String> = scene.server.arrived().into_iter().map(|call| call.key).collect();
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    scene.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_call_that_may_not_be_made_twice_is_sent_once_over_a_kill(pool: PgPool) {
    killed(pool, "unsafe", "after_tools/tactical=crash", 1, true).await;
}

#[sqlx::test(migrations = false)]
async fn it_is_in_doubt_when_its_worker_dies_before_it_leaves(pool: PgPool) {
    killed(pool, "unsafe", "before_tools/tactical=crash", 0, true).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_that_is_keyed_is_sent_again_under_its_key(pool: PgPool) {
    killed(pool, "keyed", "after_tools/tactical=crash", 2, false).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_that_is_safe_is_sent_again(pool: PgPool) {
    killed(pool, "safe", "after_tools/tactical=crash", 2, false).await;
}

/// The example of the documentation: a job that a person lets pay, by a server of twenty lines.
#[sqlx::test(migrations = false)]
async fn the_example_of_the_documentation_is_played(pool: PgPool) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/example-http-tool");
    let started = Command::new("python3")
        .args([example.join("server.py").as_os_str(), "0".as_ref()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut server) = started else {
        skipped("there is no python3", "apt-get install python3");
        return;
    };
    let mut port = String::new();
    let said = BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut port);
    let outcome = played(pool, &example, said.map(|_| port.trim().to_owned()).unwrap_or_default()).await;
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!(outcome, r#"{"booked": 12, "total": 12}"#);
}

/// The result of the call as the model reads it.
async fn played(pool: PgPool, example: &Path, port: String) -> String {
    let text = std::fs::read_to_string(example.join("configs/payer/config.json")).expect("the example has a job type");
    let mut keys: Value = serde_json::from_str(&text.replace("8765", &port)).expect("it is JSON");
    keys.as_object_mut().expect("keys").remove("$extends");
    let server = Served::<CountingTool>::start().await;
    let scene = Scene::of(pool, server, &[&[pay(12)]], keys).await;
    scene.work().await;
    let waiting = scene.world.becomes(scene.job, "review").await;
    assert!(
        waiting.reason.as_deref().is_some_and(|reason| reason.contains("waits for approval of http_pay")),
        "{waiting:?}"
    );
    let approve = "SELECT approve_call(id) FROM approvals WHERE job_id = $1 AND state = 'pending'";
    scene.ask(approve, scene.job).await.expect("it is approved");
    scene.work().await;
    let told = scene
        .model
        .seen()
        .iter()
        .flat_map(|request| request.texts().map(str::to_owned).collect::<Vec<_>>())
        .find(|text| text.starts_with("{\"booked"));
    scene.finish().await;
    told.unwrap_or_default()
}
