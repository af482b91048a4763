//! Tools of an operator's own, over HTTP, at the real binary: what is sent, what is stored, and what a kill does to a call.

use super::counting_tool::CountingTool;
use crate::settings::own_types::{job, job_types, reads};
use plumbline_system_tests::{
    Ended, PgPool, Uuid, World,
    scripted::{Reply, Request, Scripted},
    skipped,
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A job whose model makes these answers in its phase of work, with the tools of an operator.
struct Scene {
    world: World,
    model: Scripted,
    types: PathBuf,
    job: Uuid,
}

impl Scene {
    async fn of(pool: PgPool, tools: Value, answers: &[&[(&'static str, Value)]]) -> Self {
        let answers: Vec<Vec<(&str, Value)>> = answers.iter().map(|answer| answer.to_vec()).collect();
        let world = World::new(pool).await;
        let model = Scripted::start(move |request, _| work(request, &answers)).await;
        let keys = json!({
            "coverage": "off", "on_complete": null, "deliverables": [],
            "llm": {"base_url": model.base_url(), "prices": "free"},
            "connections": {"http_tools": tools},
        });
        let types = job_types(&world, &[("payer", keys)]);
        let job = world.insert(&job("payer", None)).await;
        Self { world, model, types, job }
    }

    fn command(&self, arguments: &[&str]) -> plumbline_system_tests::Command {
        let mut command = self.world.command(arguments);
        command.env("PLUMBLINE_CONFIG_DIR", &self.types).env("PAY_KEY", "secret-of-the-test");
        command
    }

    async fn run(&self, arguments: &[&str]) -> Ended {
        self.world.start(self.command(arguments)).ended().await
    }

    async fn work(&self) {
        self.world.age_workers().await;
        let ended = self.run(&["worker", "--until-idle"]).await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }

    async fn dies_at(&self, place: &str) {
        let mut command = self.command(&["worker"]);
        command.env("PLUMBLINE_FAIL_POINTS", place);
        assert_ne!(self.world.start(command).ended().await.code, Some(0), "it dies at {place}");
    }

    fn is_told(&self, text: &str) -> bool {
        self.model.seen().iter().any(|request| request.texts().any(|line| line.contains(text)))
    }

    async fn finish(self) {
        self.world.becomes(self.job, "completed").await;
        self.world.finish().await;
    }
}

fn pay(amount: i64) -> (&'static str, Value) {
    ("http_pay", json!({"amount": amount}))
}

/// One phase of work with the answers of the test, then the end.
pub(super) fn work(request: &Request, answers: &[Vec<(&str, Value)>]) -> Reply {
    let has = |text: &str| request.texts().any(|line| line.contains(text));
    match (request.is_strategic(), has("Phase 1: Reading")) {
        (true, false) => reads(),
        (true, true) => Reply::calls(&[(
            "job_complete",
            json!({"summary": "Paid.", "deliverables": ["output/answer.md"], "undelivered": [], "confidence": 0.9}),
        )]),
        (false, _) => match answers.get(request.answers()) {
            Some(answer) => Reply::calls(answer),
            None => {
                let content = "What was paid stands in the books of the server.";
                let mut calls = vec![("write_file", json!({"path": "output/answer.md", "content": content}))];
                calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
                Reply::calls(&calls)
            }
        },
    }
}

fn tool_named<'a>(request: &'a Request, name: &str) -> Option<&'a Value> {
    request.0["tools"].as_array()?.iter().find(|tool| tool["function"]["name"] == name)
}

#[sqlx::test(migrations = false)]
async fn a_tool_of_ones_own_is_called_with_its_key_and_stored_with_the_job(pool: PgPool) {
    let server = CountingTool::start().await;
    let headers = json!({"headers_env": {"authorization": "PAY_KEY"}, "phases": ["tactical"]});
    let tools = json!({"pay": server.entry("pay", &headers), "broken": server.entry("broken", &json!({}))});
    let scene = Scene::of(pool, tools, &[&[pay(3), pay(4), ("http_broken", json!({"amount": 1}))]]).await;
    let checked = scene.run(&["config", "check"]).await;
    assert!(checked.stdout.contains("tool: payer: http_pay (tactical), "), "{}", checked.stdout);
    assert!(checked.stdout.contains(r#"Pay an amount. {"additionalProperties":false"#), "{}", checked.stdout);
    scene.work().await;

    assert_eq!(server.amounts(), [3, 4, 1]);
    let arrived = server.arrived();
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

    let foreign: Value = sqlx::query_scalar("SELECT foreign_tools FROM job_settings WHERE job_id = $1")
        .bind(scene.job)
        .fetch_one(&scene.world.pool)
        .await
        .expect("the settings are read");
    assert_eq!(foreign[1]["name"], "http_pay");
    assert_eq!(foreign[1]["schema"]["required"], json!(["amount"]));
    assert_eq!(foreign[1]["sha256"].as_str().map(str::len), Some(64));
    let documentation = scene.run(&["cat", &scene.job.to_string(), "tools/http_pay.md"]).await.stdout;
    assert!(documentation.contains("Pay an amount.") && documentation.contains("sent once"), "{documentation}");

    let replayed = scene.run(&["replay", &scene.job.to_string()]).await;
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
    assert_eq!(server.amounts(), [3, 4, 1], "a replay sends nothing");
    scene.finish().await;
}

/// How often a call arrives whose worker dies at a place, and what the model is told.
async fn killed(pool: PgPool, replay: &str, place: &str, arrives: usize, unknown: bool) {
    let server = CountingTool::start().await;
    let tools = json!({"pay": server.entry("pay", &json!({"replay": replay}))});
    let scene = Scene::of(pool, tools, &[&[pay(3)]]).await;
    scene.dies_at(place).await;
    scene.work().await;
    assert_eq!(server.amounts(), vec![3; arrives], "{replay} at {place}");
    assert_eq!(scene.is_told("outcome unknown"), unknown);
    let keys: Vec<String> = server.arrived().into_iter().map(|call| call.key).collect();
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

/// What the model reads of its call.
async fn played(pool: PgPool, example: &Path, port: String) -> String {
    let text = std::fs::read_to_string(example.join("configs/payer/config.json")).expect("the example has a job type");
    let mut keys: Value = serde_json::from_str(&text.replace("8765", &port)).expect("it is JSON");
    let world = World::new(pool).await;
    let model = Scripted::start(move |request, _| work(request, &[vec![pay(12)]])).await;
    keys["llm"] = json!({"base_url": model.base_url(), "prices": "free"});
    let types = job_types(&world, &[("payer", keys)]);
    let job = world.insert(&job("payer", None)).await;
    let scene = Scene { world, model, types, job };
    scene.work().await;
    let waiting = scene.world.becomes(job, "review").await;
    assert!(
        waiting.reason.as_deref().is_some_and(|reason| reason.contains("waits for approval of http_pay")),
        "{waiting:?}"
    );
    let approve = "SELECT approve_call(id) FROM approvals WHERE job_id = $1 AND state = 'pending'";
    scene.world.call(approve, job).await.expect("it is approved");
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
