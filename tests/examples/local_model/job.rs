//! A worker's job with the server as its model.

use crate::Outcome;
use crate::server::{Program, Server};
use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob, port};
use serde_json::json;
use sqlx::Row as _;

/// A token is a byte or two: the tools and their schemas alone are tens of thousands.
const WINDOW: u32 = 1 << 18;
/// Its limit of requests, after which it pauses.
const ANSWERS: u32 = 12;

/// A job starts while the server loads its model, continues after the server is killed in the middle of an answer and
/// restarted, and pauses at its limit of requests: nonsense completes nothing.
pub(crate) async fn job(program: &Program) -> Outcome {
    let world = World::open().await;
    let port = port::free();
    let server = Server::launch(program, port, WINDOW, &[]);
    let folder = world.folder().join("types/nonsense");
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    let config = json!({"$extends": "creator", "on_complete": null, "limits": {"max_iterations": ANSWERS}, "llm": {
        "base_url": server.base_url(), "model": "nonsense", "tool_choice": "required", "context_window": WINDOW,
        "max_output_tokens": 4_000, "max_retries": 50}});
    std::fs::write(folder.join("config.json"), config.to_string()).expect("the world's folder can be written");
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("types"));
    let worker = world.start(command);
    let new = NewJob { job_type: "nonsense", ..NewJob::with_content("policy.md", b"# Policy\n\nKeys must be kept.\n") };
    let job = world.insert(&new).await;
    world.until(job, "has answers", |job| job.requests >= 3).await;
    server.kill().await;
    let failed = failures(&world.pool, job).await;
    world.until(job, "met a server that is gone", |job| job.requests > 3 + failed).await;
    let _next = Server::launch(program, port, WINDOW, &[]);
    let paused = world.becomes(job, "paused").await;
    let outcome = read(&world.pool, job).await;
    worker.stop().await;
    world.close().await;
    outcome.map(|said| format!("{said}; {}", paused.reason.unwrap_or_default()))
}

async fn failures(pool: &PgPool, job: Uuid) -> i64 {
    let failed = "SELECT count(*) FROM llm_requests WHERE job_id = $1 AND error IS NOT NULL";
    sqlx::query_scalar(failed).bind(job).fetch_one(pool).await.expect("requests can be counted")
}

/// Checks its rows: only transient failures, and a prompt that is read once.
async fn read(pool: &PgPool, job: Uuid) -> Outcome {
    let rows = sqlx::query(
        "SELECT failure_class, error, prompt_tokens::bigint AS prompt, cached_tokens::bigint AS cached
         FROM llm_requests WHERE job_id = $1 ORDER BY step, created_at, id",
    )
    .bind(job)
    .fetch_all(pool)
    .await
    .expect("requests can be read");
    let mut tolerated = 0;
    let mut shares = Vec::new();
    for row in &rows {
        match row.get::<Option<String>, _>("failure_class").as_deref() {
            Some("transient" | "overloaded") => tolerated += 1,
            Some(class) => return Err(format!("{class}: {}", row.get::<String, _>("error"))),
            None => shares.push(100 * row.get::<i64, _>("cached") / row.get::<i64, _>("prompt").max(1)),
        }
    }
    if tolerated == 0 || shares.iter().filter(|share| **share > 50).count() < 3 {
        return Err(format!("{tolerated} failures; cached, in percent: {shares:?}"));
    }
    Ok(format!("{} answers, {tolerated} failures waited out; cached, in percent: {shares:?}", shares.len()))
}
