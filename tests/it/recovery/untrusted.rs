//! A job that has read text of others: from which step on, what it may reach then, and who has it from the start.

use super::{
    counting_tool::CountingTool,
    double::Served,
    scene::{self, Call, listed, over},
};
use crate::settings::own_types::job_types;
use plumbline_system_tests::{
    PgPool, Uuid,
    jobs::NewJob,
    scripted::{Reply, Request, one_phase},
};
use serde_json::{Value, json};

const REFUSED: &str = "refused: this job has read text from outside";

type Scene = scene::Scene<CountingTool>;

fn pay(amount: i64) -> Call {
    ("http_pay", json!({"amount": amount}))
}

fn note(amount: i64) -> Call {
    ("http_note", json!({"amount": amount}))
}

async fn scene(pool: PgPool, answers: &[&[Call]], more: Value) -> Scene {
    let answers = listed(answers);
    scripted(pool, &more, move |request| one_phase(request, &answers)).await
}

async fn scripted(pool: PgPool, more: &Value, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Scene {
    let server = Served::<CountingTool>::start().await;
    let keys = over(tools(&server), more);
    Scene::scripted(pool, server, keys, script).await
}

/// The keys for the tools.
fn tools(server: &Served<CountingTool>) -> Value {
    json!({"connections": {"http_tools": {
        "pay": server.entry("pay", &json!({})), "note": server.entry("note", &json!({}))
    }}})
}

/// The rules for jobs that must not pay once they have read what a note gave.
fn deny() -> Value {
    json!({"untrusted": "deny", "untrusted_allowed": ["http_note"]})
}

/// The answers of the phase of work; then the model tries to pay, in each phase that could end its job.
fn pays_last(answers: &[&[Call]]) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let answers = listed(answers);
    move |request| match request.is_strategic() && request.has("Phase 1: Reading") && !request.has(REFUSED) {
        true => Reply::calls(&[pay(9)]),
        false => one_phase(request, &answers),
    }
}

impl Scene {
    async fn since(&self, job: Uuid) -> Option<i64> {
        let since = sqlx::query_scalar("SELECT untrusted_step FROM jobs WHERE id = $1").bind(job);
        since.fetch_one(&self.world.pool).await.expect("the job is read")
    }

    async fn make(&self, statement: &'static str, id: Uuid) -> Uuid {
        self.ask(statement, id).await.expect(statement).parse().expect("an id")
    }
}

#[sqlx::test(migrations = false)]
async fn the_opening_of_a_job_with_a_document_is_a_way_in(pool: PgPool) {
    let scene = scene(pool, &[&[pay(3)]], json!({"untrusted": "deny"})).await;
    let job = scene.insert_with_document(None).await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert!(scene.since(job).await.is_some_and(|step| step > 0));
    assert!(scene.server.amounts().is_empty() && scene.is_told(REFUSED));
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_result_of_a_foreign_tool_is_a_way_in_and_tools_that_are_allowed_go_on(pool: PgPool) {
    let scene = scene(pool, &[&[pay(1), pay(2)], &[pay(3), note(4)]], deny()).await;
    let job = scene.insert().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [1, 2, 4], "the first answer was written before any result was read");
    assert!(scene.is_told(REFUSED));
    // It is the step of the second request of the phase of work.
    let of_request = "SELECT step::text FROM llm_requests WHERE job_id = $1 AND purpose = 'tactical' ORDER BY created_at OFFSET 1 LIMIT 1";
    let step = scene.ask(of_request, job).await.expect("there were two");
    assert_eq!(scene.since(job).await, step.parse().ok());
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn prompt_context_and_feedback_are_none(pool: PgPool) {
    let scene = scene(
        pool,
        &[&[("read_file", json!({"path": "input/context.json"}))], &[pay(1)]],
        json!({"untrusted": "deny"}),
    )
    .await;
    let job = scene.insert().await;
    let with = "UPDATE jobs SET context = '{\"instruction\": \"pay\"}' WHERE id = $1 RETURNING 'done'";
    scene.ask(with, job).await.expect("it has not begun");
    scene.ask("SELECT send_feedback($1, 'Pay at once.')", job).await.expect("it takes feedback");
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [1]);
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn ask_lets_a_person_decide_on_what_reaches_out(pool: PgPool) {
    let scene = scene(pool, &[&[pay(3)]], json!({"untrusted": "ask"})).await;
    let job = scene.insert_with_document(None).await;
    scene.work().await;
    let waiting = scene.world.becomes(job, "review").await;
    assert!(waiting.reason.as_deref().is_some_and(|reason| reason.contains("approval of http_pay")), "{waiting:?}");
    assert!(scene.server.amounts().is_empty());
    let approve = "SELECT approve_call(id) FROM approvals WHERE job_id = $1 AND state = 'pending'";
    assert_eq!(scene.ask(approve, job).await.as_deref(), Ok("approved"));
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert_eq!(scene.server.amounts(), [3]);
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn it_is_never_taken_back_and_passes_on_to_what_is_made_of_the_job(pool: PgPool) {
    let scene = scene(pool, &[&[pay(1)], &[pay(2)]], json!({"untrusted": "deny"})).await;
    let job = scene.insert().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    let since = scene.since(job).await.expect("the server's answer was read");
    let back =
        sqlx::query("UPDATE jobs SET untrusted_step = NULL WHERE id = $1").bind(job).execute(&scene.world.pool).await;
    assert!(back.is_err(), "it is never taken back");

    let before = scene.make("SELECT fork_job(id, untrusted_step - 1)::text FROM jobs WHERE id = $1", job).await;
    let from_then_on = scene.make("SELECT fork_job(id, untrusted_step)::text FROM jobs WHERE id = $1", job).await;
    assert_eq!((scene.since(before).await, scene.since(from_then_on).await), (None, Some(since)));

    let follower = "INSERT INTO jobs (job_type, prompt, parent_job_id) VALUES ('asker', 'Pay what is owed.', $1) RETURNING id::text";
    let version = "INSERT INTO jobs (job_type, prompt, context)
                   VALUES ('asker', 'Pay what is owed.', jsonb_build_object('previous_job_id', $1::uuid)) RETURNING id::text";
    let (follower, version) = (scene.make(follower, job).await, scene.make(version, job).await);
    assert_eq!((scene.since(follower).await, scene.since(version).await), (Some(0), Some(0)));

    let paid = scene.server.amounts().len();
    for made in [before, from_then_on, follower] {
        scene.ask("SELECT cancel_job($1)", made).await.expect("it waits");
    }
    scene.ask("SELECT retry_job($1)", follower).await.expect("it is retried");
    assert_eq!(scene.since(follower).await, Some(0), "a retry has it from its start");
    scene.work().await;
    scene.world.becomes(follower, "completed").await;
    assert_eq!(scene.server.amounts().len(), paid, "neither the follower nor the next version reaches out");
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn workspace_md_carries_it_over_the_end_of_a_conversation(pool: PgPool) {
    let said = json!({"path": "workspace.md", "content": "- The server has paid one.\n", "append": true});
    let keys = over(deny(), &json!({"phase_settings": {"history_at_boundary": "reset"}}));
    let scene = scripted(pool, &keys, pays_last(&[&[note(1)], &[("write_file", said)]])).await;
    let job = scene.insert().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    let through_the_file = |request: &Request| request.has("The server has paid one.") && !request.has("{\"paid\":1}");
    assert!(scene.model.seen().iter().any(|request| request.is_strategic() && through_the_file(request)));
    assert_eq!(scene.server.amounts(), [1], "the payment is refused");
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_summary_carries_it_over(pool: PgPool) {
    let content = "What a long file says of the matter. ".repeat(400);
    let keys = over(deny(), &json!({"limits": {"context_threshold_tokens": 8_000, "max_tool_result_tokens": 3_000}}));
    let scene = scripted(pool, &keys, move |request| {
        if request.is_summary() {
            return Reply::says("The server has paid one.");
        }
        let path = format!("work/part_{}.md", request.answers());
        match (request.is_strategic(), request.has("The server has paid one.")) {
            (false, false) if request.answers() == 0 => Reply::calls(&[note(1)]),
            (false, false) => Reply::calls(&[("write_file", json!({"path": path, "content": content}))]),
            (false, true) if !request.has(REFUSED) => Reply::calls(&[pay(9)]),
            _ => one_phase(request, &[]),
        }
    })
    .await;
    let job = scene.insert().await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    assert!(scene.is_told(REFUSED));
    assert_eq!(scene.server.amounts(), [1], "the payment is refused");
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn feedback_does_not_take_it_back(pool: PgPool) {
    let keys = over(deny(), &json!({"autonomy": "review"}));
    let scene = scripted(pool, &keys, pays_last(&[&[note(1)]])).await;
    let job = scene.insert().await;
    scene.work().await;
    scene.world.becomes(job, "review").await;
    let since = scene.since(job).await;
    scene.ask("SELECT send_feedback($1, 'Pay at once.')", job).await.expect("it is in review");
    scene.work().await;
    scene.world.becomes(job, "review").await;
    let refusals =
        "SELECT count(*)::text FROM messages WHERE job_id = $1 AND content LIKE '%refused: this job has read%'";
    assert_eq!(scene.ask(refusals, job).await.as_deref(), Ok("2"), "before the feedback and after it");
    assert_eq!((scene.server.amounts(), scene.since(job).await), (vec![1], since));
    scene.ask("SELECT approve_job($1)", job).await.expect("it is in review");
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_job_that_on_complete_enqueues_has_it_from_its_start(pool: PgPool) {
    let follows = json!({"tools": {"domain": ["http_*"], "deferred": []}});
    let scene = scripted(pool, &over(deny(), &follows), pays_last(&[&[note(1)]])).await;
    let llm = json!({"base_url": scene.model.base_url(), "prices": "free"});
    let own = json!({"coverage": "off", "on_complete": null, "deliverables": [], "llm": llm});
    job_types(&scene.world, &[("follower", over(over(own, &tools(&scene.server)), &deny()))]);
    let enqueues = json!({"on_complete": {"enqueue": "follower"}});
    let asked = NewJob { config: Some(enqueues), ..scene.new_job() };
    let job = scene.world.insert(&asked).await;
    scene.work().await;
    scene.world.becomes(job, "completed").await;
    let follower = scene.make("SELECT id::text FROM jobs WHERE parent_job_id = $1", job).await;
    scene.world.becomes(follower, "completed").await;
    assert_eq!(scene.since(follower).await, Some(0));
    assert_eq!(scene.server.amounts(), [1, 1], "neither of the two pays");
    scene.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_retry_keeps_it(pool: PgPool) {
    let scene = scene(pool, &[&[pay(3)]], json!({"untrusted": "ask"})).await;
    let job = scene.insert_with_document(None).await;
    scene.work().await;
    scene.world.becomes(job, "review").await;
    let since = scene.since(job).await;
    scene.ask("SELECT cancel_job($1)", job).await.expect("it waits");
    scene.ask("SELECT retry_job($1)", job).await.expect("it was cancelled");
    scene.work().await;
    scene.world.becomes(job, "review").await;
    assert_eq!(
        (scene.since(job).await, scene.calls(job, "state").await),
        (since, vec!["void".into(), "pending".into()])
    );
    assert!(scene.server.amounts().is_empty());
    scene.world.finish().await;
}
