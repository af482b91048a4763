//! Memory of a worker for large rows, documents and answers.

use axum::{Router, http::header, response::IntoResponse};
use plumbline_system_tests::{PgPool, Program, World, documents, eventually, jobs::NewJob, probe::Probed};
use serde_json::json;
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicUsize, Ordering},
};
use tokio::net::TcpListener;
use uuid::Uuid;

/// Maximum memory of a worker at default settings, in MiB, for any input.
const MOST_MIB: u64 = 1024;

fn assert_small(worker: &Program) {
    let peak = worker.peak_memory_mib();
    println!("the worker had {peak} MiB at most");
    assert!(peak < MOST_MIB, "the worker had {peak} MiB at most");
}

/// With any job content, the probes answer, and report that the event loop moves.
async fn assert_answers(worker: &Probed) {
    let (status, said) = worker.ask("/healthz").await;
    assert_eq!(status, 200, "{said}");
}

/// An answer of 30 MB, most of it in an unrequested field with as many values as possible.
static LARGE: LazyLock<String> = LazyLock::new(|| {
    let details = vec!["{\"a\":0}"; 3_800_000].join(",");
    format!(
        "{{\"choices\":[{{\"index\":0,\"finish_reason\":\"stop\",\"message\":{{\"role\":\"assistant\",\"content\":\"\",\
         \"reasoning_details\":[{details}]}}}}]}}"
    )
});

/// A model that says nothing else; how often it was asked.
async fn verbose_model() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = format!("http://{}/v1", listener.local_addr().expect("a bound socket has an address"));
    let asked = Arc::<AtomicUsize>::default();
    let counts = Arc::clone(&asked);
    let answer = move || {
        counts.fetch_add(1, Ordering::Relaxed);
        let headers = [(header::CONTENT_TYPE, "application/json")];
        async move { (headers, LARGE.as_str()).into_response() }
    };
    tokio::spawn(async move { drop(axum::serve(listener, Router::new().fallback(answer)).await) });
    (address, asked)
}

/// Three such answers at once, and again.
#[sqlx::test(migrations = false)]
async fn answers_of_thirty_megabytes_take_no_memory_and_no_time_of_others(pool: PgPool) {
    let world = World::new(pool).await;
    let (address, asked) = verbose_model().await;
    world.let_rows_set(&["llm.base_url"], &[&address]);
    let worker = Probed::start(&world, world.command(&["worker"])).await;
    for _ in 0..3 {
        let config = Some(json!({"llm": {"base_url": address}}));
        world.insert(&NewJob { prompt: "Say much", config, ..NewJob::default() }).await;
    }
    eventually("each of them to be asked again", async || (asked.load(Ordering::Relaxed) >= 6).then_some(())).await;
    assert_answers(&worker).await;
    let policy = documents::policy(2);
    let bystander = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.becomes(bystander, "completed").await;
    assert_answers(&worker).await;
    assert_small(&worker.program);
    worker.program.stop().await;
    world.finish().await;
}

/// The three jobs that are too large.
async fn others_than(world: &World, bystander: Uuid) -> Vec<Uuid> {
    let others = "SELECT id FROM jobs WHERE id <> $1";
    let others: Vec<Uuid> =
        sqlx::query_scalar(others).bind(bystander).fetch_all(&world.pool).await.expect("jobs can be read");
    assert_eq!(others.len(), 3);
    others
}

/// Rows from before there were bounds: each fails alone.
#[sqlx::test(migrations = false)]
async fn a_row_of_half_a_gigabyte_fails_alone(pool: PgPool) {
    let world = World::new(pool).await;
    let before = [
        "ALTER TABLE jobs DISABLE TRIGGER USER",
        "INSERT INTO jobs (prompt) VALUES (repeat('x ', 250000000))",
        "INSERT INTO jobs (prompt, context) VALUES ('x', jsonb_build_object('a', repeat('x', 200000000)))",
        "INSERT INTO jobs (prompt, config) VALUES ('x', jsonb_build_object('a', repeat('x', 200000000)))",
        "ALTER TABLE jobs ENABLE TRIGGER USER",
    ];
    for statement in before {
        sqlx::query(statement).execute(&world.pool).await.expect("a row can be inserted");
    }
    let policy = documents::policy(2);
    let bystander = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let worker = Probed::start(&world, world.command(&["worker"])).await;
    eventually("a job to run", async || (world.model.requests() > 0).then_some(())).await;
    assert_answers(&worker).await;
    world.becomes(bystander, "completed").await;
    for large in others_than(&world, bystander).await {
        world.becomes(large, "failed").await;
        let error: String = sqlx::query_scalar("SELECT error_message FROM jobs WHERE id = $1")
            .bind(large)
            .fetch_one(&world.pool)
            .await
            .expect("a job that failed says why");
        assert!(error.contains("a worker reads 1048576 at most"), "{error}");
    }
    assert_answers(&worker).await;
    assert_small(&worker.program);
    worker.program.stop().await;
    world.finish().await;
}

/// Three at once, each nearly of the size that is allowed, and none a document.
#[sqlx::test(migrations = false)]
async fn large_documents_wait_for_each_other(pool: PgPool) {
    let world = World::new(pool).await;
    let insert = "INSERT INTO jobs (prompt, document_content, context)
                  SELECT 'Extract the requirements',
                         decode(repeat(encode(gen_random_uuid()::text::bytea, 'hex'), 7000000), 'hex'),
                         '{\"document_name\": \"large.pdf\"}'
                  FROM generate_series(1, 3)";
    sqlx::query(insert).execute(&world.pool).await.expect("rows can be inserted");
    let policy = documents::policy(2);
    let bystander = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let worker = Probed::start(&world, world.command(&["worker"])).await;
    eventually("a job to run", async || (world.model.requests() > 0).then_some(())).await;
    assert_answers(&worker).await;
    world.becomes(bystander, "completed").await;
    for large in others_than(&world, bystander).await {
        world.becomes(large, "failed").await;
    }
    assert_answers(&worker).await;
    assert_small(&worker.program);
    worker.program.stop().await;
    world.finish().await;
}
