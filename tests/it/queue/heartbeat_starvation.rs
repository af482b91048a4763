//! A worker of which no thread moves but the lease keeper's: it can do nothing for its jobs, so it must not keep others
//! from them, and it hurts nothing when it moves again.

use plumbline_system_tests::{Command, PgPool, World, documents, eventually, jobs::NewJob, probe::Probed};
use std::{fs, path::Path, time::Duration};
use tokio::time::timeout;

/// A lease that no stall of a busy machine outlasts, and how long everything else stands still: longer than the test.
const LEASE: &str = "8";
const BLOCKED_MS: u32 = 600_000;

fn worker(world: &World) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_LEASE_SECS", LEASE);
    command
}

/// A worker whose one thread stands still as soon as it has run a tool; it says so in this file.
fn that_stands_still(world: &World, trace: &Path) -> Command {
    let mut command = worker(world);
    // One thread runs all jobs and the claim loop, and it is the one that stands still.
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

/// The probes have threads of their own: a supervisor learns at once that there is something to learn.
#[sqlx::test(migrations = false)]
async fn the_probes_of_a_worker_whose_threads_all_stand_still_answer_and_say_so(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let trace = world.folder().join("trace");
    let starved = Probed::start(&world, that_stands_still(&world, &trace)).await;
    world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    stands_still(&trace).await;
    let ask = async |path| timeout(Duration::from_secs(10), starved.ask(path)).await.expect("a probe answers");
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
async fn a_worker_whose_threads_all_stand_still_lets_its_leases_end(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let trace = world.folder().join("trace");
    let starved = world.start(that_stands_still(&world, &trace));
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    stands_still(&trace).await;
    let rival = world.start(worker(&world));
    for &job in &jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (2, 2), "taken once, from the worker that stood still");
    }
    // It cannot hear a request to stop either.
    starved.kill().await;
    rival.stop().await;
    world.finish().await;
}
