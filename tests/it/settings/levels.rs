//! Levels of keys, at a real worker: a row that sets an operator's key, or exceeds a bound, fails before its first
//! request, and nothing is sent.

use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::net::TcpListener;

/// The number that the operator of this test sets wherever a number has a bound, and a row may not pass.
const BOUND: u64 = 60_000;

/// An address that counts connections.
async fn elsewhere() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = format!("http://{}/v1", listener.local_addr().expect("a bound socket has an address"));
    let came = Arc::new(AtomicU64::new(0));
    let counts = came.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counts.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, came)
}

/// A key with dots, its level, and its part of the schema.
type Key = (String, String, Value);

fn keys(schema: &Value, path: &str, found: &mut Vec<Key>) {
    let mut inner = schema;
    while let Some(alternatives) = inner["anyOf"].as_array() {
        inner = &alternatives[0];
    }
    let Some(properties) = inner["properties"].as_object() else {
        let level = schema["x-level"].as_str().expect("every key has a level").to_owned();
        found.push((path.to_owned(), level, schema.clone()));
        return;
    };
    for (key, property) in properties {
        keys(property, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
    }
}

/// The keys that a row may not set to everything.
fn guarded() -> Vec<Key> {
    let schema: Value = serde_json::from_str(include_str!("../../../configs/schema.json")).expect("the schema is JSON");
    let mut found = Vec::new();
    keys(&schema, "", &mut found);
    found.retain(|(_, level, _)| level != "job");
    found
}

/// `{"a": {"b": value}}` for `a.b`.
fn nested(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |value, key| json!({ key: value }))
}

fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, other) => *into = other,
    }
}

/// Bounds that are not numbers: a row may not change `stop` to `continue`, or keep what must be dropped.
const TOOL_FAILURE: &str = "limits.on_tool_failure";
const CLOSED_TODOS: &str = "limits.closed_todos";

/// Values that the level of a key forbids.
fn forbidden(key: &str, level: &str, schema: &Value, elsewhere: &str) -> Vec<Value> {
    if level == "bounded" {
        // Without its own value, a purpose has the model's, with the same bound.
        let none = (!key.starts_with("llm_by_purpose.")).then_some(Value::Null);
        let (_, beyond) = bounds(key);
        return [beyond].into_iter().chain(none).collect();
    }
    let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    let value = match (key, types[0].as_str()) {
        ("autonomy", _) => json!("full"),
        // A row may add names, and takes none away.
        ("approval", _) => json!([]),
        ("job_type" | "$extends", _) => json!("validator"),
        (_, Some("array")) if schema["items"]["properties"].is_object() => {
            json!([{"on": ["transient"], "llm": {"model": "other"}}])
        }
        (_, Some("array")) => json!(["llm"]),
        _ if schema["additionalProperties"]["properties"].is_object() => json!({"pay": {"url": elsewhere}}),
        (_, Some("boolean")) => json!(true),
        (_, Some("integer")) => json!(schema["minimum"].as_u64().unwrap_or(0).max(7)),
        (_, Some("number")) => json!(0.25),
        _ if schema["enum"].is_array() => schema["enum"][1].clone(),
        _ if key.ends_with("_env") => json!("DATABASE_URL"),
        _ => json!(elsewhere),
    };
    vec![value]
}

/// The operator's value of a bounded key, and a value beyond it.
fn bounds(key: &str) -> (Value, Value) {
    match key {
        TOOL_FAILURE => (json!("stop"), json!("continue")),
        CLOSED_TODOS => (json!("drop"), json!("keep")),
        "coverage_settings.minimum" => (json!(0.6), json!(0.55)),
        "coverage_settings.max_closed" | "coverage_settings.unsupported" => (json!(0.4), json!(0.45)),
        "coverage_settings.style" => (json!("policy"), json!("normative")),
        "coverage_settings.patterns" => (json!(["obliged"]), json!(["bound"])),
        _ => (json!(bound(key)), json!(bound(key) + 1)),
    }
}

/// Bounds that are possible together.
fn bound(key: &str) -> u64 {
    match key.rsplit('.').next().unwrap_or_default() {
        "max_tool_result_tokens" => 8_000,
        "tool_retries" => 9,
        "nudge" => 3,
        "refuse" => 5,
        "replan" => 8,
        "context_window" => 2 * BOUND,
        "max_output_tokens" => 4_000,
        _ => BOUND,
    }
}

/// The operator's configuration: a review at the end, and a bound wherever there can be one.
fn operators() -> Value {
    let shipped = include_str!("../../../configs/creator/config.json");
    let mut config: Value = serde_json::from_str(shipped).expect("the shipped configuration is JSON");
    config["autonomy"] = json!("review");
    config["approval"] = json!(["fetch_page"]);
    for (key, level, _) in guarded() {
        if level == "bounded" {
            let (bound, _) = bounds(&key);
            merge(&mut config, nested(&key, bound));
        }
    }
    config
}

async fn assert_refused(world: &World, job: Uuid, key: &str, level: &str) {
    let row = world.job(job).await;
    assert_eq!((row.status.as_str(), row.step), ("failed", 0), "`{key}`: {:?}", row.error);
    let details = row.details.clone().unwrap_or_default();
    let expected = json!({"kind": "configuration", "stage": "start", "key": key, "level": level});
    for (name, value) in expected.as_object().into_iter().flatten() {
        assert_eq!(&details[name], value, "`{key}`: {details}");
    }
    assert!(details["hint"].as_str().is_some_and(|hint| hint.starts_with("insert the job anew")), "`{key}`: {details}");
    let sentence = row.error.unwrap_or_default();
    assert!(sentence.contains(&format!("`{key}`")) && sentence.contains(level), "{sentence}");
    assert!(!sentence.contains("DATABASE_URL"), "{sentence}");
}

#[sqlx::test(migrations = false)]
async fn a_row_that_sets_what_it_may_not_fails_before_its_first_request(pool: PgPool) {
    let world = World::new(pool).await;
    let (address, came) = elsewhere().await;
    let folder = world.folder().join("files/creator");
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    std::fs::write(folder.join("config.json"), operators().to_string()).expect("the world's folder can be written");
    let mut jobs = Vec::new();
    for (key, level, schema) in guarded() {
        for value in forbidden(&key, &level, &schema, &address) {
            let config = Some(nested(&key, value));
            let job = world.insert(&NewJob { prompt: "Extract the requirements", config, ..NewJob::default() }).await;
            jobs.push((job, key.clone(), level.clone()));
        }
    }
    assert!(jobs.len() > 80, "{} jobs", jobs.len());
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("files"));
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for (job, key, level) in jobs {
        assert_refused(&world, job, &key, &level).await;
    }
    assert_eq!((world.model.requests(), came.load(Ordering::Relaxed)), (0, 0), "nothing was sent anywhere");
    world.finish().await;
}

/// A key that was opened and closed again is also closed for jobs that started in between.
#[sqlx::test(migrations = false)]
async fn a_resumed_job_obeys_the_current_rules_for_rows(pool: PgPool) {
    let world = World::new(pool).await;
    world.let_rows_set(&["llm.max_retries"], &[]);
    let config = Some(json!({"llm": {"max_retries": 1}, "autonomy": "review"}));
    let job = world.insert(&NewJob { prompt: "Say what records are", config, ..NewJob::default() }).await;
    world.work_until_idle().await;
    world.becomes(job, "review").await;
    let requests = world.model.requests();
    world.let_rows_set(&[], &[]);
    world.call("SELECT resume_job($1, 'Once more')", job).await.expect("a job in review can go on");
    world.work_until_idle().await;
    let row = world.becomes(job, "failed").await;
    assert!(row.error.unwrap_or_default().contains("`llm.max_retries` has level operator"));
    assert_eq!(world.model.requests(), requests, "it made no further request");
    world.finish().await;
}
