//! Secrets stay where the operator put them: searches for a planted one everywhere a worker writes.

use crate::{
    client::{ask, serving},
    collector::Collector,
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use plumbline_rehearsal::{ChatRequest, answer_by_todo};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::json;
use sqlx::Row;
use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::net::TcpListener;

/// The planted secrets and their variables.
const PLANTED: [(&str, &str); 6] = [
    ("OPENAI_API_KEY", "canary-model-71f3c0de"),
    ("PLUMBLINE_HTTP_TOKEN", "canary-token-5a1ab0de"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=canary-header-0ff1ce"),
    // The first belongs to a different host than the one it is named for, and the others are not requested.
    ("GRAPH_PASSWORD", "canary-graph-ba5e11"),
    ("CLOUD_SECRET_KEY", "canary-cloud-c10ad5"),
    ("SOME_VARIABLE", "canary-other-facade"),
];
const CANARY: &str = "canary-";

/// A model that requires the key, and repeats it in its refusal: some providers do.
async fn telltale() -> (SocketAddr, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let app = Router::new().route("/v1/chat/completions", post(reply)).with_state(asked.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, asked)
}

async fn reply(State(asked): State<Arc<AtomicU64>>, headers: HeaderMap, Json(request): Json<ChatRequest>) -> Response {
    let shown = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(shown, format!("Bearer {}", PLANTED[0].1), "the key is used");
    if asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) {
        let said = json!({"error": {"message": format!("overloaded; your request came with {shown}"), "code": shown}});
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")], Json(said)).into_response();
    }
    Json(answer_by_todo(&request)).into_response()
}

/// Connections whose secret belongs to another host.
fn graph(elsewhere: SocketAddr) -> String {
    json!({"neo4j": {"uri": format!("http://{elsewhere}"), "user": "neo4j", "password_env": "GRAPH_PASSWORD"}})
        .to_string()
}

/// Every row of every table as text, with decoded bytes.
async fn rows(pool: &PgPool) -> Vec<(String, String)> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
            .fetch_all(pool)
            .await
            .expect("tables can be listed");
    let mut found = Vec::new();
    for table in tables {
        let statement = format!("SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM {table} AS t");
        let text: String = sqlx::query(sqlx::AssertSqlSafe(statement))
            .fetch_one(pool)
            .await
            .and_then(|row| row.try_get(0))
            .unwrap_or_else(|error| panic!("{table}: {error}"));
        found.push((table, text));
    }
    found
}

fn files(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("the workspace can be listed") {
        let path = entry.expect("the workspace can be listed").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let bytes = std::fs::read(&path).expect("a file of the workspace can be read");
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// A server that records its input, for services other than the model.
async fn bystander() -> (SocketAddr, Arc<Mutex<String>>) {
    let heard = Arc::new(Mutex::new(String::new()));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    let app = Router::new().fallback(hear).with_state(heard.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, heard)
}

async fn hear(State(heard): State<Arc<Mutex<String>>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let said = format!("{headers:?} {}\n", String::from_utf8_lossy(&body));
    heard.lock().expect("nobody panicked").push_str(&said);
    StatusCode::NOT_FOUND
}

/// A row names every planted variable, with its own address.
async fn asks_for_secrets(world: &World, elsewhere: SocketAddr) -> Vec<Uuid> {
    let mut jobs = Vec::new();
    for (name, _) in PLANTED {
        let config = json!({"llm": {"base_url": format!("http://{elsewhere}/v1"), "api_key_env": name}});
        jobs.push(
            world.insert(&NewJob { prompt: "Say what records are", config: Some(config), ..NewJob::default() }).await,
        );
    }
    jobs
}

#[sqlx::test(migrations = "../migrations")]
async fn a_planted_secret_is_found_nowhere(pool: PgPool) {
    let (world, collector) = (World::new(pool).await, Collector::start().await);
    let (model, asked) = telltale().await;
    let (elsewhere, heard) = bystander().await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let mut command = world.command(&["worker", "--http", "127.0.0.1:0"]);
    command
        .envs(PLANTED)
        .env("OPENAI_BASE_URL", format!("http://{model}/v1"))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", collector.address))
        .env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
        .env("PLUMBLINE_SECRETS", format!("OPENAI_API_KEY@{model},GRAPH_PASSWORD@graph.example"))
        .env("PLUMBLINE_CONNECTIONS", graph(elsewhere))
        .env("RUST_LOG", "trace");
    let (program, address) = serving(world.start(command)).await;
    world.becomes(job, "completed").await;
    for job in asks_for_secrets(&world, elsewhere).await {
        let row = world.becomes(job, "failed").await;
        assert!(row.error.unwrap_or_default().contains("has level operator"));
    }
    assert!(asked.load(Ordering::Relaxed) > 7, "the model was refused more than once");

    let mut found = rows(&world.pool).await;
    let errors: i64 = sqlx::query_scalar("SELECT count(*) FROM llm_requests WHERE error IS NOT NULL")
        .fetch_one(&world.pool)
        .await
        .expect("requests can be counted");
    assert!(errors > 1, "refusals are recorded");
    files(&world.workspace(), &mut found);
    let token = format!("Authorization: Bearer {}\r\n", PLANTED[1].1);
    for view in ["", "/timeline", "/plan", "/files", "/requirements"] {
        let path = format!("/jobs/{job}{view}");
        let answer = ask(address, "GET", &path, &token).await;
        assert_eq!(answer.status, 200, "{path}");
        found.push((path, answer.head + &answer.body));
    }
    for path in ["/metrics".to_owned(), "/api/jobs".to_owned(), format!("/api/jobs/{job}")] {
        let answer = ask(address, "GET", &path, &token).await;
        assert_eq!(answer.status, 200, "{path}");
        found.push((path, answer.body));
    }
    found.push(("the log".into(), program.stderr()));
    program.stop().await;
    let sent = collector.bodies();
    assert!(sent.contains("gen_ai.input.messages"), "contents were captured");
    assert_eq!(collector.header("x-tenant").as_deref(), Some("canary-header-0ff1ce"), "the header is used");
    found.push(("telemetry".into(), sent));
    found.push(("what another host was sent".into(), heard.lock().expect("nobody panicked").clone()));
    let file = world.folder().join("export.json").display().to_string();
    assert_eq!(world.run(&["trace", &job.to_string(), "--export", &file]).await.code, Some(0));
    found.push(("the export".into(), std::fs::read_to_string(file).expect("the export is a file")));

    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    for (place, text) in found {
        let line = text.lines().find(|line| line.contains(CANARY) || line.contains(&hex));
        assert_eq!(line, None, "a secret is in {place}");
    }
    world.finish().await;
}
