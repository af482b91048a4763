//! A web search that fails briefly, or never answers: the job's configuration decides how long the job retries.

use crate::script::{Script, Seen, calls};
use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, response::Response};
use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::{Value, json};
use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;

/// A search service: fails this many times, then answers after a delay.
struct Service {
    failures: AtomicU32,
    answers_after: Duration,
}

impl Service {
    /// Serves until the test's runtime ends; returns the address.
    async fn start(failures: u32, answers_after: Duration) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let service = Arc::new(Self { failures: failures.into(), answers_after });
        let router = Router::new().fallback(search).with_state(service);
        tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        format!("http://{address}")
    }
}

async fn search(State(service): State<Arc<Service>>) -> Response {
    let failed = service.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    if failed.is_ok() {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    tokio::time::sleep(service.answers_after).await;
    let found = json!({"title": "Retention", "url": "http://example.org/a", "content": "Invoices are kept ten years."});
    Json(json!({"results": [found]})).into_response()
}

/// The first tactical phase begins in the fourth turn.
fn aside(seen: &Seen) -> Option<Value> {
    (seen.turns == 7).then(|| calls(7, &[("web_search", json!({"query": "retention of invoices"}))]))
}

/// The search result that the model reads under these limits.
async fn searched(world: &World, service: &str, limits: Value) -> String {
    let script = Script::with(20, aside).await;
    world.let_rows_set(&["llm.base_url", "connections.web_search"], &[&script.base_url(), service]);
    world.let_passages_be();
    let config = json!({
        "llm": {"base_url": script.base_url()},
        "connections": {"web_search": {"provider": "searxng", "base_url": service}},
        "limits": limits,
    });
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    world.work_until_idle().await;
    result(world, job).await
}

async fn result(world: &World, job: Uuid) -> String {
    let ended = world.job(job).await;
    assert_eq!((ended.status.as_str(), ended.error.as_deref()), ("completed", None), "{ended:?}");
    let statement = "SELECT r.content FROM messages r JOIN messages m ON m.job_id = r.job_id
                     WHERE r.job_id = $1 AND m.tool_calls::text LIKE '%web_search%'
                       AND r.tool_call_id = m.tool_calls->0->>'id'";
    sqlx::query_scalar(statement).bind(job).fetch_one(&world.pool).await.expect("the search has a result")
}

#[sqlx::test(migrations = false)]
async fn a_search_that_fails_for_a_moment_is_made_again(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", "Invoices must be kept for ten years.\n".repeat(400));
    for (retries, found) in [(0, false), (2, true)] {
        let service = Service::start(2, Duration::ZERO).await;
        let text = searched(&world, &service, json!({"tool_retries": retries})).await;
        assert_eq!(text.contains("Invoices are kept ten years."), found, "{retries} retries: {text}");
        assert_eq!(text.starts_with("Error: SearXNG could not search"), !found, "{retries} retries: {text}");
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_search_without_an_answer_times_out(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", "Invoices must be kept for ten years.\n".repeat(400));
    let never = Service::start(0, Duration::from_secs(3600)).await;
    let given_up = searched(&world, &never, json!({"tool_timeout_s": 10})).await;
    assert!(given_up.starts_with("Error: web_search did not finish within 10 s"), "{given_up}");
    let slow = Service::start(0, Duration::from_secs(2)).await;
    let answered = searched(&world, &slow, json!({"tool_timeout_s": 60})).await;
    assert!(answered.contains("Invoices are kept ten years."), "{answered}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_may_be_stopped_by_a_tool_that_fails(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", "Invoices must be kept for ten years.\n".repeat(400));
    let service = Service::start(u32::MAX, Duration::ZERO).await;
    let script = Script::with(20, aside).await;
    world.let_rows_set(&["llm.base_url", "connections.web_search"], &[&script.base_url(), &service]);
    world.let_passages_be();
    let config = json!({
        "llm": {"base_url": script.base_url()},
        "connections": {"web_search": {"provider": "searxng", "base_url": service}},
        "limits": {"tool_retries": 1, "on_tool_failure": "stop"},
    });
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    world.work_until_idle().await;
    let ended = world.job(job).await;
    assert_eq!(ended.status, "failed", "{ended:?}");
    let details = ended.details.expect("details");
    assert_eq!((&details["kind"], &details["tool"]), (&json!("tool"), &json!("web_search")), "{details}");
    let files = "SELECT count(*) FROM workspace_files WHERE job_id = $1 AND (path = 'error.md' OR path ~ '^archive/')";
    let files: i64 = sqlx::query_scalar(files).bind(job).fetch_one(&world.pool).await.expect("files can be counted");
    assert_eq!(files, 3, "error.md, and the two phases that there were");
    world.finish().await;
}
