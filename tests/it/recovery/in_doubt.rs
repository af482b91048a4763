//! A call that must not be repeated is never repeated: its dispatch is committed before it is sent, and without a
//! result it is in doubt for every later claim, however the attempts in between ended. Tests a crash, a drained claim
//! and an outage, each before and after the dispatch.

use super::{
    counting_graph::{CountingGraph, QUERY},
    double::Served,
    scene::OneJob,
};
use plumbline_system_tests::{PgPool, Program, Signal, eventually};
use serde_json::json;
use std::sync::atomic::Ordering;

/// The model's view of a call.
const ANSWER: &str = "\"made\"";
const UNKNOWN: &str = "outcome unknown";
const FAILED: &str = "cannot be reached (HTTP 503)";

/// A job whose model runs the query once.
type Scene = OneJob<CountingGraph>;

async fn scene(pool: PgPool) -> Scene {
    let graph = Served::<CountingGraph>::start().await;
    let keys = graph.keys();
    Scene::of(pool, graph, &[&[("execute_cypher_query", json!({"query": QUERY}))]], keys).await
}

impl Scene {
    fn worker(&self) -> Program {
        self.world.start(self.command(&["worker"]))
    }

    /// Runs the rest of the job, in which the graph answers; returns how often the query was run, and the result that
    /// the model read.
    async fn ends(self, runs: usize, told: &str) {
        self.server.keep_silent(false);
        self.work().await;
        assert_eq!(self.server.runs(), runs, "how often the query was run");
        for text in [ANSWER, UNKNOWN, FAILED] {
            assert_eq!(self.is_told(text), text == told, "the model reads {text}");
        }
        self.finish().await;
    }
}

#[sqlx::test(migrations = false)]
async fn a_call_in_flight_at_a_kill_is_not_made_by_the_claim_after_one_that_was_drained(pool: PgPool) {
    let scene = scene(pool).await;
    scene.server.keep_silent(true);
    let first = scene.worker();
    scene.server.arrived(1).await;
    first.kill().await;

    // The second claim is held before its first step by a lock on rows that it reads, and stopped there.
    let mut held = scene.world.pool.begin().await.expect("a transaction");
    sqlx::query("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *held)
        .await
        .expect("the table can be locked");
    scene.world.age_workers().await;
    let second = scene.worker();
    scene.world.until(scene.job, "is claimed again", |job| job.status == "running" && job.attempt == 2).await;
    second.signal(Signal::TERM);
    held.rollback().await.expect("the lock is given back");
    let stopped = second.ended().await;
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    eventually("the job to be given back", async || {
        (scene.world.job(scene.job).await.status == "pending").then_some(())
    })
    .await;
    scene.ends(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_again_after_kills_in_a_row(pool: PgPool) {
    let scene = scene(pool).await;
    scene.server.keep_silent(true);
    let first = scene.worker();
    scene.server.arrived(1).await;
    first.kill().await;
    scene.ends(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_made_by_the_next_claim_where_a_crash_comes_before_its_dispatch(pool: PgPool) {
    let scene = scene(pool).await;
    // The first commit of the phase is the one that opens it.
    scene.dies_at("before_commit/tactical=crash@2").await;
    assert_eq!(scene.server.runs(), 0);
    scene.ends(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_where_a_crash_comes_between_its_dispatch_and_itself(pool: PgPool) {
    let scene = scene(pool).await;
    scene.dies_at("before_tools/tactical=crash").await;
    scene.ends(0, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_again_where_a_crash_loses_its_result(pool: PgPool) {
    let scene = scene(pool).await;
    scene.dies_at("after_tools/tactical=crash").await;
    scene.ends(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_claim_drained_before_the_dispatch_of_a_call_has_it_made_once(pool: PgPool) {
    let scene = scene(pool).await;
    let mut command = scene.command(&["worker"]);
    command.env("PLUMBLINE_FAIL_POINTS", "after_model/tactical=delay:2000");
    let worker = scene.world.start(command);
    let asked = || scene.model.seen().iter().any(|request| !request.is_strategic());
    eventually("the model to be asked for work", async || asked().then_some(())).await;
    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().await.code, Some(0));
    assert_eq!(scene.world.job(scene.job).await.status, "pending");
    scene.ends(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_drained_claim_makes_a_call_that_it_has_dispatched_before_it_gives_the_job_back(pool: PgPool) {
    let scene = scene(pool).await;
    scene.server.keep_silent(true);
    let worker = scene.worker();
    scene.server.arrived(1).await;
    worker.signal(Signal::TERM);
    eventually("the worker to drain", async || worker.stderr().contains("draining").then_some(())).await;
    scene.server.keep_silent(false);
    assert_eq!(worker.ended().await.code, Some(0));
    scene.ends(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_service_is_away_before_it_is_an_error_and_not_made(pool: PgPool) {
    let scene = scene(pool).await;
    scene.server.is_away.store(true, Ordering::SeqCst);
    scene.ends(0, FAILED).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_service_then_goes_away_is_an_error_and_is_not_repeated(pool: PgPool) {
    let scene = scene(pool).await;
    scene.server.goes_away.store(true, Ordering::SeqCst);
    scene.ends(1, FAILED).await;
}
