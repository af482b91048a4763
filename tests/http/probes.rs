//! Alive, ready, measured.

use crate::client::{ask, get, value, worker};
use plumbline_system_tests::{Answer, PgPool, World, documents, eventually, jobs::NewJob};
use rustix::process::Signal;
use std::collections::BTreeSet;

#[sqlx::test(migrations = "../migrations")]
async fn a_worker_is_ready_until_it_shuts_down_and_alive_to_the_end(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    world.model.hold_from(1);
    world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let (program, address) = worker(&world).await;
    world.model.arrived(1).await;
    let alive = get(address, "/healthz").await;
    assert_eq!((alive.status, alive.json()["claim_loop"].as_str()), (200, Some("turning")), "{}", alive.body);
    assert_eq!(get(address, "/readyz").await.json()["ready"], true);

    program.signal(Signal::TERM);
    eventually("the worker to be not ready", async || {
        let ready = get(address, "/readyz").await;
        (ready.status == 503 && ready.body.contains("shutting down")).then_some(())
    })
    .await;
    let alive = get(address, "/healthz").await;
    assert_eq!((alive.status, alive.json()["claim_loop"].as_str()), (200, Some("draining")), "{}", alive.body);
    world.model.answers(Answer::Work);
    assert_eq!(program.ended().await.code, Some(0));
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_schema_that_is_not_understood_makes_it_not_ready_but_leaves_it_alive(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    sqlx::query("INSERT INTO _sqlx_migrations VALUES (99990101000000, 'later', now(), true, '', 0)")
        .execute(&world.pool)
        .await
        .expect("a later migration can be noted");
    let ready = get(address, "/readyz").await;
    assert_eq!(ready.status, 503, "{}", ready.body);
    assert!(ready.body.contains("newer"), "{}", ready.body);
    assert_eq!(get(address, "/healthz").await.status, 200);
    sqlx::query("DELETE FROM _sqlx_migrations WHERE version = 99990101000000")
        .execute(&world.pool)
        .await
        .expect("it can be taken back");
    assert_eq!(get(address, "/readyz").await.status, 200);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn the_metrics_count_what_the_rows_say(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let (program, address) = worker(&world).await;
    world.becomes(job, "completed").await;
    let counted = eventually("the completed job in the metrics", async || {
        let text = get(address, "/metrics").await.body;
        let done = text.contains("plumbline_jobs{status=\"completed\"} 1") && text.contains("plumbline_worker_jobs 0");
        done.then_some(text)
    })
    .await;
    let value = |series: &str| value(&counted, series);
    let (fresh, output, steps): (i64, i64, i64) = sqlx::query_as(
        "SELECT sum(prompt_tokens - cached_tokens)::bigint, sum(completion_tokens)::bigint,
                (SELECT count(*) FROM checkpoints) FROM llm_requests",
    )
    .fetch_one(&world.pool)
    .await
    .expect("the requests can be summed up");
    let model = plumbline_rehearsal::MODEL;
    assert_eq!(value(&format!("plumbline_tokens_total{{bucket=\"fresh\",model=\"{model}\"}}")), fresh as f64);
    assert_eq!(value(&format!("plumbline_tokens_total{{bucket=\"output\",model=\"{model}\"}}")), output as f64);
    assert_eq!(value("plumbline_commit_duration_seconds_count"), steps as f64);
    assert_eq!(value("plumbline_jobs_claimed_total{job_type=\"creator\"}"), 1.0);
    assert_eq!(value("plumbline_jobs{status=\"running\"}"), 0.0);
    assert!(value("plumbline_mirror_lag_seconds_count") > 0.0);
    assert_eq!(value("plumbline_jobs_pickup_seconds_count"), 1.0);
    let passages: i64 =
        sqlx::query_scalar("SELECT count(*) FROM passages").fetch_one(&world.pool).await.expect("rows can be counted");
    let recorded = value("plumbline_tool_duration_seconds_count{outcome=\"done\",tool=\"record_passage\"}");
    assert_eq!(recorded, passages as f64);
    let mut families: BTreeSet<String> =
        counted.lines().filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned())).collect();
    assert!(families.remove("target_info"), "the process describes itself");
    assert_eq!(families, published(), "what /metrics has and METRICS.md promises");
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn nothing_can_be_changed_from_here(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for path in ["/", "/healthz", "/api/jobs", "/nowhere"] {
            let refused = ask(address, method, path, "Content-Length: 0\r\n").await;
            assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
    assert_eq!(ask(address, "HEAD", "/", "").await.status, 200);
    assert_eq!(get(address, "/nowhere").await.status, 404);
    program.stop().await;
    world.finish().await;
}

/// The names of METRICS.md as Prometheus has them.
fn published() -> BTreeSet<String> {
    let table = include_str!("../../crates/telemetry/src/METRICS.md");
    let rows = table.lines().filter(|line| line.starts_with("| `") && !line.contains("(latest only)"));
    let named = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].split('`').nth(1).expect("a row begins with a name").replace('.', "_");
        let unit = if cells[3] == "s" { "_seconds" } else { "" };
        let total = if cells[2] == "counter" { "_total" } else { "" };
        format!("{name}{unit}{total}")
    });
    named.collect()
}
