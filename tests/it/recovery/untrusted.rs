//! A job that has read text of others: from which step on, what it may reach then, and who has it from the start.

use super::{counting_tool::CountingTool, http_tools::work};
use crate::settings::own_types::{job, job_types};
use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob, scripted::Scripted};
use serde_json::{Value, json};
use std::path::PathBuf;

const REFUSED: &str = "refused: this job has read text from outside";

struct Scene {
    world: World,
    server: CountingTool,
    model: Scripted,
    types: PathBuf,
}

fn pay(amount: i64) -> (&'static str, Value) {
    ("http_pay", json!({"amount": amount}))
}

impl Scene {
    async fn of(pool: PgPool, answers: &[&[(&'static str, Value)]], more: Value) -> Self {
        let answers: Vec<Vec<(&str, Value)>> = answers.iter().map(|answer| answer.to_vec()).collect();
        let (world, server) = (World::new(pool).await, CountingTool::start().await);
        let model = Scripted::start(move |request, _| work(request, &answers)).await;
        let tools = json!({"pay": server.entry("pay", &json!({})), "note": server.entry("note", &json!({}))});
        let mut keys = json!({
            "coverage": "off", "on_complete": null, "deliverables": [],
            "llm": {"base_url": model.base_url(), "prices": "free"},
            "connections": {"http_tools": tools},
        });
        keys.as_object_mut().expect("keys").extend(more.as_object().expect("keys").clone());
        let types = job_types(&world, &[("reader", keys)]);
        Self { world, server, model, types }
    }

    async fn work(&self) {
        self.world.age_workers().await;
        let mut command = self.world.command(&["worker", "--until-idle"]);
        command.env("PLUMBLINE_CONFIG_DIR", &self.types);
        let ended = self.world.start(command).ended().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }

    /// A job without a document.
    async fn asked(&self) -> Uuid {
        let asked = NewJob { job_type: "reader", prompt: "Pay what is owed.", ..NewJob::default() };
        self.world.insert(&asked).await
    }

    /// A job with one.
    async fn given_a_document(&self) -> Uuid {
        self.world.insert(&job("reader", None)).await
    }

    async fn since(&self, job: Uuid) -> Option<i64> {
        sqlx::query_scalar("SELECT untrusted_step FROM jobs WHERE id = $1")
            .bind(job)
            .fetch_one(&self.world.pool)
            .await
            .expect("the job is read")
    }

    fn is_told(&self, text: &str) -> bool {
        self.model.seen().iter().any(|request| request.texts().any(|line| line.contains(text)))
    }

    async fn ask(&self, statement: &'static str, id: Uuid) -> Uuid {
        self.world.call(statement, id).await.expect(statement).parse().expect("an id")
    }
}

#[sqlx::test(migrations = false)]
async fn the_opening_of_a_job_with_a_document_is_a_way_in(pool: PgPool) {
    let scene = Scene::of(pool, &[&[pay(3)]], json!({"untrusted": "deny"})).await;
    let job = scene.given_a_document().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert!(scene.since(job).await.is_some_and(|step| step > 0));
    assert!(scene.server.amounts().is_empty() && scene.is_told(REFUSED));
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_result_of_a_foreign_tool_is_a_way_in_and_tools_that_are_allowed_go_on(pool: PgPool) {
    let note = |amount: i64| ("http_note", json!({"amount": amount}));
    let rules = json!({"untrusted": "deny", "untrusted_allowed": ["http_note"]});
    let scene = Scene::of(pool, &[&[pay(1), pay(2)], &[pay(3), note(4)]], rules).await;
    let job = scene.asked().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [1, 2, 4], "the first answer was written before any result was read");
    assert!(scene.is_told(REFUSED));
    // It is the step of the second request of the phase of work.
    let of_request = "SELECT step::text FROM llm_requests WHERE job_id = $1 AND purpose = 'tactical' ORDER BY created_at OFFSET 1 LIMIT 1";
    let step = scene.world.call(of_request, job).await.expect("there were two");
    assert_eq!(scene.since(job).await, step.parse().ok());
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn prompt_context_and_feedback_are_none(pool: PgPool) {
    let scene = Scene::of(
        pool,
        &[&[("read_file", json!({"path": "input/context.json"}))], &[pay(1)]],
        json!({"untrusted": "deny"}),
    )
    .await;
    let job = scene.asked().await;
    let with = "UPDATE jobs SET context = '{\"instruction\": \"pay\"}' WHERE id = $1 RETURNING 'done'";
    scene.world.call(with, job).await.expect("it has not begun");
    scene.world.call("SELECT send_feedback($1, 'Pay at once.')", job).await.expect("it takes feedback");
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [1]);
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn ask_lets_a_person_decide_on_what_reaches_out(pool: PgPool) {
    let scene = Scene::of(pool, &[&[pay(3)]], json!({"untrusted": "ask"})).await;
    let job = scene.given_a_document().await;
    scene.work().await;
    let waiting = scene.world.becomes(job, "review").await;
    assert!(waiting.reason.as_deref().is_some_and(|reason| reason.contains("approval of http_pay")), "{waiting:?}");
    assert!(scene.server.amounts().is_empty());
    let approve = "SELECT approve_call(id) FROM approvals WHERE job_id = $1 AND state = 'pending'";
    assert_eq!(scene.world.call(approve, job).await.as_deref().ok(), Some("approved"));
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [3]);
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn it_is_never_taken_back_and_passes_on_to_what_is_made_of_the_job(pool: PgPool) {
    let scene = Scene::of(pool, &[&[pay(1)], &[pay(2)]], json!({"untrusted": "deny"})).await;
    let job = scene.asked().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    let since = scene.since(job).await.expect("the server's answer was read");
    let back =
        sqlx::query("UPDATE jobs SET untrusted_step = NULL WHERE id = $1").bind(job).execute(&scene.world.pool).await;
    assert!(back.is_err(), "it is never taken back");

    let before = scene.ask("SELECT fork_job(id, untrusted_step - 1)::text FROM jobs WHERE id = $1", job).await;
    let from_then_on = scene.ask("SELECT fork_job(id, untrusted_step)::text FROM jobs WHERE id = $1", job).await;
    assert_eq!((scene.since(before).await, scene.since(from_then_on).await), (None, Some(since)));

    let follower = "INSERT INTO jobs (job_type, prompt, parent_job_id) VALUES ('reader', 'Pay what is owed.', $1) RETURNING id::text";
    let version = "INSERT INTO jobs (job_type, prompt, context)
                   VALUES ('reader', 'Pay what is owed.', jsonb_build_object('previous_job_id', $1::uuid)) RETURNING id::text";
    let (follower, version) = (scene.ask(follower, job).await, scene.ask(version, job).await);
    assert_eq!((scene.since(follower).await, scene.since(version).await), (Some(0), Some(0)));

    let paid = scene.server.amounts().len();
    for made in [before, from_then_on, follower] {
        scene.world.call("SELECT cancel_job($1)", made).await.expect("it waits");
    }
    scene.world.call("SELECT retry_job($1)", follower).await.expect("it is retried");
    assert_eq!(scene.since(follower).await, Some(0), "a retry has it from its start");
    scene.work().await;
    scene.world.becomes(follower, "completed").await;
    assert_eq!(scene.server.amounts().len(), paid, "neither the follower nor the next version reaches out");
    scene.world.finish().await;
}
