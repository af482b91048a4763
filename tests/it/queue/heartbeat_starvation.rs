//! A worker whose threads are all blocked except the heartbeat's: it can do nothing for its jobs, so it must not keep
//! others from them, and it does no harm when it moves again.

use plumbline_system_tests::{
    Command, PgPool, World, documents, eventually, jobs::NewJob, probe::Probed, wait::CEILING,
};
use std::{fs, path::Path};
use tokio::time::timeout;

/// How long everything except the heartbeat is blocked: longer than the test.
const BLOCKED_MS: u32 = 3_600_000;
/// Seconds without a heartbeat, at an interval of one second, after which it counts as stopped.
const SILENCE: f64 = 10.0;

/// A worker whose only thread blocks as soon as it has run a tool; it reports that in this file.
fn that_stands_still(world: &World, trace: &Path) -> Command {
    let mut command = world.command(&["worker"]);
    // One thread runs all jobs and the claim loop, and it is the blocked one.
    command
        .env("TOKIO_WORKER_THREADS", "1")
        .env("PLUMBLINE_FAIL_POINTS", format!("after_tools/tactical=block:{BLOCKED_MS}"))
        .env("PLUMBLINE_FAIL_POINT_TRACE", trace);
    command
}

async fn stands_still(trace: &Path) {
    let reached = || fs::read_to_string(trace).unwrap_or_default().lines().any(|line| line == "after_tools/tactical");
    eventually("the thread to stand still", async || reached().then_some(())).await;
}

/// The probes have their own threads: a supervisor learns of it at once.
#[sqlx::test(migrations = false)]
async fn the_probes_of_a_worker_with_stalled_threads_answer_and_report_it(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let trace = world.folder().join("trace");
    let starved = Probed::start(&world, that_stands_still(&world, &trace)).await;
    world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    stands_still(&trace).await;
    let ask = async |path| timeout(CEILING, starved.ask(path)).await.expect("a probe answers");
    assert!(ask("/healthz").await.1["loop_delay_ms"].is_u64());
    let said = eventually("/healthz to say that nothing moves", async || {
        let (status, said) = ask("/healthz").await;
        (status == 503).then_some(said)
    })
    .await;
    assert_eq!(said["alive"], false, "{said}");
    assert_eq!(ask("/readyz").await.0, 503);
    starved.program.kill().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_worker_whose_threads_are_all_stalled_lets_its_leases_expire(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let trace = world.folder().join("trace");
    let starved = world.start(that_stands_still(&world, &trace));
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    stands_still(&trace).await;
    // It renews its lease no more. The rest of the lease is not waited for: the row is aged, and nothing renews that.
    eventually("the heartbeat to stop", async || {
        let silent = "SELECT extract(epoch FROM now() - heartbeat_at)::float8 > $1 FROM workers";
        let silent: bool =
            sqlx::query_scalar(silent).bind(SILENCE).fetch_one(&world.pool).await.expect("a worker has a row");
        silent.then_some(())
    })
    .await;
    world.age_workers().await;
    let rival = world.worker();
    for &job in &jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (2, 2), "taken once, from the worker that stood still");
    }
    // It cannot hear a request to stop either.
    starved.kill().await;
    rival.stop().await;
    world.finish().await;
}
