//! A call that must not be repeated is never repeated: its dispatch is committed before it is sent, and without a
//! result it is in doubt for every later claim, however the attempts in between ended. Tests a crash, a drained claim
//! and an outage, each before and after the dispatch.

use super::counting_graph::{CountingGraph, QUERY};
use crate::settings::own_types::{job, job_types, reads};
use plumbline_system_tests::{
    PgPool, Program, Signal, Uuid, World, eventually,
    scripted::{Reply, Request, Scripted},
};
use serde_json::json;
use std::sync::atomic::Ordering;

/// The model's view of a call.
const ANSWER: &str = "\"made\"";
const UNKNOWN: &str = "outcome unknown";
const FAILED: &str = "cannot be reached (HTTP 503)";

/// A job type whose model runs the query once, with its environment.
struct Scene {
    world: World,
    graph: CountingGraph,
    model: Scripted,
    types: std::path::PathBuf,
    job: Uuid,
}

impl Scene {
    async fn of(pool: PgPool) -> Self {
        let world = World::new(pool).await;
        let (graph, model) = (CountingGraph::start().await, Scripted::start(|request, _| work(request)).await);
        let keys = json!({
            "coverage": "off", "on_complete": null, "deliverables": [],
            "tools": {"domain": ["execute_cypher_query"]},
            "llm": {"base_url": model.base_url(), "prices": "free"},
            "connections": {"neo4j": {"uri": format!("http://{}", graph.address), "user": "neo4j", "password_env": "GRAPH_KEY"}},
        });
        let types = job_types(&world, &[("asker", keys)]);
        let job = world.insert(&job("asker", None)).await;
        Self { world, graph, model, types, job }
    }

    fn worker(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Program {
        let mut command = self.world.command(arguments);
        command.env("PLUMBLINE_CONFIG_DIR", &self.types).env("GRAPH_KEY", "secret-of-the-test");
        command.envs(environment.iter().copied());
        self.world.start(command)
    }

    /// Has a worker begin the job that dies at a place.
    async fn dies_at(&self, place: &str) {
        let ended = self.worker(&["worker"], &[("PLUMBLINE_FAIL_POINTS", place)]).ended().await;
        assert_ne!(ended.code, Some(0), "it dies at {place}");
    }

    /// Runs the rest of the job, in which the graph answers; returns how often the query was run, and the result that
    /// the model read.
    async fn finish(self, runs: usize, told: &str) {
        self.graph.keep_silent(false);
        self.world.age_workers().await;
        let ended = self.worker(&["worker", "--until-idle"], &[]).ended().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        self.world.becomes(self.job, "completed").await;
        assert_eq!(self.graph.runs(), runs, "how often the query was run");
        for text in [ANSWER, UNKNOWN, FAILED] {
            let is_told = self.model.seen().iter().any(|request| has(request, text));
            assert_eq!(is_told, text == told, "the model reads {text}");
        }
        self.world.finish().await;
    }
}

fn has(request: &Request, text: &str) -> bool {
    request.texts().any(|line| line.contains(text))
}

/// One phase of work with one query, then the end.
fn work(request: &Request) -> Reply {
    let has = |text: &str| has(request, text);
    match (request.is_strategic(), has("Phase 1: Reading")) {
        (true, false) => reads(),
        (true, true) => Reply::calls(&[(
            "job_complete",
            json!({"summary": "Asked.", "deliverables": ["output/answer.md"], "undelivered": [], "confidence": 0.9}),
        )]),
        (false, _) if ![ANSWER, UNKNOWN, FAILED].into_iter().any(has) => {
            Reply::calls(&[("execute_cypher_query", json!({"query": QUERY}))])
        }
        (false, _) => {
            let file =
                json!({"path": "output/answer.md", "content": "How many business objects there are is in the graph."});
            let mut calls = vec![("write_file", file)];
            calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
            Reply::calls(&calls)
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_call_in_flight_at_a_kill_is_not_made_by_the_claim_after_one_that_was_drained(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.graph.keep_silent(true);
    let first = scene.worker(&["worker"], &[]);
    scene.graph.arrived(1).await;
    first.kill().await;

    // The second claim is held before its first step by a lock on rows that it reads, and stopped there.
    let mut held = scene.world.pool.begin().await.expect("a transaction");
    sqlx::query("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *held)
        .await
        .expect("the table can be locked");
    scene.world.age_workers().await;
    let second = scene.worker(&["worker"], &[]);
    scene.world.until(scene.job, "is claimed again", |job| job.status == "running" && job.attempt == 2).await;
    second.signal(Signal::TERM);
    held.rollback().await.expect("the lock is given back");
    let stopped = second.ended().await;
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    eventually("the job to be given back", async || {
        (scene.world.job(scene.job).await.status == "pending").then_some(())
    })
    .await;
    scene.finish(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_again_after_kills_in_a_row(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.graph.keep_silent(true);
    let first = scene.worker(&["worker"], &[]);
    scene.graph.arrived(1).await;
    first.kill().await;
    scene.finish(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_made_by_the_next_claim_where_a_crash_comes_before_its_dispatch(pool: PgPool) {
    let scene = Scene::of(pool).await;
    // The first commit of the phase is the one that opens it.
    scene.dies_at("before_commit/tactical=crash@2").await;
    assert_eq!(scene.graph.runs(), 0);
    scene.finish(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_where_a_crash_comes_between_its_dispatch_and_itself(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.dies_at("before_tools/tactical=crash").await;
    scene.finish(0, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_is_not_made_again_where_a_crash_loses_its_result(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.dies_at("after_tools/tactical=crash").await;
    scene.finish(1, UNKNOWN).await;
}

#[sqlx::test(migrations = false)]
async fn a_claim_drained_before_the_dispatch_of_a_call_has_it_made_once(pool: PgPool) {
    let scene = Scene::of(pool).await;
    let worker = scene.worker(&["worker"], &[("PLUMBLINE_FAIL_POINTS", "after_model/tactical=delay:2000")]);
    let asked = || scene.model.seen().iter().any(|request| !request.is_strategic());
    eventually("the model to be asked for work", async || asked().then_some(())).await;
    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().await.code, Some(0));
    assert_eq!(scene.world.job(scene.job).await.status, "pending");
    scene.finish(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_drained_claim_makes_a_call_that_it_has_dispatched_before_it_gives_the_job_back(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.graph.keep_silent(true);
    let worker = scene.worker(&["worker"], &[]);
    scene.graph.arrived(1).await;
    worker.signal(Signal::TERM);
    eventually("the worker to drain", async || worker.stderr().contains("draining").then_some(())).await;
    scene.graph.keep_silent(false);
    assert_eq!(worker.ended().await.code, Some(0));
    scene.finish(1, ANSWER).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_service_is_away_before_it_is_an_error_and_not_made(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.graph.state.is_away.store(true, Ordering::SeqCst);
    scene.finish(0, FAILED).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_whose_service_goes_away_behind_it_is_an_error_and_not_made_again(pool: PgPool) {
    let scene = Scene::of(pool).await;
    scene.graph.state.goes_away.store(true, Ordering::SeqCst);
    scene.finish(1, FAILED).await;
}
