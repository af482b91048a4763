//! A worker of which no thread moves but the lease keeper's: it can do nothing for its jobs, so it must not keep others
//! from them, and it hurts nothing when it moves again.

use plumbline_system_tests::{Command, PgPool, World, documents, eventually, jobs::NewJob};
use std::fs;

/// A lease that no stall of a busy machine outlasts, and how long everything else stands still: longer than the test.
const LEASE: &str = "8";
const BLOCKED_MS: u32 = 600_000;

fn worker(world: &World) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_LEASE_SECS", LEASE);
    command
}

#[sqlx::test(migrations = false)]
async fn a_worker_whose_threads_all_stand_still_lets_its_leases_end(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let trace = world.folder().join("trace");
    let mut command = worker(&world);
    // One thread runs all jobs and the claim loop, and it is the one that stands still.
    command
        .env("TOKIO_WORKER_THREADS", "1")
        .env("PLUMBLINE_FAIL_POINTS", format!("after_tools/tactical=block:{BLOCKED_MS}"))
        .env("PLUMBLINE_FAIL_POINT_TRACE", &trace);
    let starved = world.start(command);
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    let reached = || fs::read_to_string(&trace).unwrap_or_default().lines().any(|line| line == "after_tools/tactical");
    eventually("the thread to stand still", async || reached().then_some(())).await;
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
