//! Limits of a model's endpoint, shared by several worker processes on one database.

use plumbline_system_tests::{
    PgPool, Program, Uuid, World, documents, eventually,
    jobs::NewJob,
    limited_model::{Allowance, LimitedModel},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A job type whose model is this one, under these limits.
fn job_type(world: &World, model: &LimitedModel, limits: &Value) {
    let folder = world.folder().join("types/limited");
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    let llm = json!({"base_url": model.base_url(), "model": "limited", "max_retries": 5, "limits": limits});
    let config = json!({"$extends": "creator", "on_complete": null, "llm": llm}).to_string();
    std::fs::write(folder.join("config.json"), config).expect("the world's folder can be written");
}

fn workers(world: &World, count: usize, jobs_each: usize) -> Vec<Program> {
    let jobs_each = jobs_each.to_string();
    let start = |_| {
        let mut command = world.command(&["worker", "--concurrency", &jobs_each]);
        command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("types"));
        world.start(command)
    };
    (0..count).map(start).collect()
}

async fn insert(world: &World, count: usize) -> Vec<Uuid> {
    let policy = documents::policy(2);
    let new = NewJob { job_type: "limited", ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    let mut jobs = Vec::new();
    for _ in 0..count {
        jobs.push(world.insert(&new).await);
    }
    jobs
}

async fn text(world: &World, query: &'static str) -> String {
    sqlx::query_scalar(query).fetch_one(&world.pool).await.expect("rows can be read")
}

async fn count(world: &World, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&world.pool).await.expect("rows can be counted")
}

async fn all_complete(world: &World, jobs: &[Uuid]) {
    for job in jobs {
        world.becomes(*job, "completed").await;
    }
}

/// Stops the workers and ends the test.
async fn finish(world: World, workers: Vec<Program>) {
    for worker in workers {
        worker.stop().await;
    }
    world.finish().await;
}

const FAILED: &str = "SELECT count(*) FROM llm_requests WHERE error IS NOT NULL";
const PARKED: &str = "SELECT count(*) FROM attempts WHERE attempt > 1 OR lease_epoch > 1";
const WAITING: &str =
    "SELECT count(*) FROM jobs WHERE status = 'running' AND status_reason = 'waits for its model''s limit'";
const DRAWS: &str = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'endpoint_limits'";
const RULES: &str = "SELECT concat_ws(' ', key_name, model, tokens_per_minute, source) FROM endpoint_limits";

/// A number from the environment.
fn named(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// Four times as many jobs as workers, whose model halves its limit in mid-run. `PLUMBLINE_LIMIT_WORKERS` says how many
/// workers, `PLUMBLINE_LIMIT_JOBS` how many jobs for each.
async fn a_limit_is_halved(pool: PgPool, is_stated: bool) {
    let many = named("PLUMBLINE_LIMIT_WORKERS").unwrap_or(4);
    let of_each = named("PLUMBLINE_LIMIT_JOBS").unwrap_or(4);
    // As many as the jobs of a few workers are held up by, and the machine still gives the jobs of many.
    let tokens = if many > 4 { 500_000 } else { 800_000 } * many as u64;
    let world = World::new(pool).await;
    let allowance = Allowance { tokens_per_minute: tokens as f64, is_stated, ..Allowance::default() };
    let model = LimitedModel::start(allowance).await;
    job_type(&world, &model, &if is_stated { json!({}) } else { json!({"tokens_per_minute": tokens}) });
    let jobs = insert(&world, of_each * many).await;
    let workers = workers(&world, many, 2);
    let enough = 20 * many as u64;
    eventually("a part of the requests", async || (model.seen().answered >= enough).then_some(())).await;
    model.allows(|allowance| allowance.tokens_per_minute /= 2.0);
    let halved = Instant::now();
    eventually("a job says that it waits", async || (count(&world, WAITING).await > 0).then_some(())).await;
    let lowered = eventually("the lower limit is known", async || {
        let rules = text(&world, RULES).await;
        rules.ends_with("learnt").then_some(rules)
    });
    let lowered = lowered.await;
    if is_stated {
        let half = format!("OPENAI_API_KEY limited {} learnt", tokens / 2);
        eventually("the halved limit is known", async || (text(&world, RULES).await == half).then_some(())).await;
    } else {
        let guess: u64 = lowered.split(' ').nth(2).and_then(|word| word.parse().ok()).expect("a limit of tokens");
        assert!(guess >= tokens / 4 && guess < tokens, "{lowered}");
    }
    all_complete(&world, &jobs).await;
    let seen = model.seen();
    let (refused, steps) = (seen.refused.len(), count(&world, "SELECT sum(step)::bigint FROM jobs").await);
    let rules = text(&world, RULES).await;
    println!(
        "{} answered, {refused} refused, {} draws in {steps} steps; {rules}",
        seen.answered,
        count(&world, DRAWS).await
    );
    // Requests in the seconds after the halving were sent by the earlier limit. One round of refusals has as many as
    // are in flight: two per worker.
    let settled = halved + Duration::from_secs(10);
    let late = seen.refused.iter().filter(|at| !(halved..settled).contains(*at)).count();
    assert!(late as u64 <= (seen.answered / 50).max(2 * many as u64), "{late} of {} refused", seen.answered);
    assert_eq!(count(&world, FAILED).await, seen.refused.len() as i64, "nothing else went wrong");
    assert_eq!(count(&world, PARKED).await, 0, "jobs wait in line, and none is parked for a refusal");
    finish(world, workers).await;
}

#[sqlx::test(migrations = false)]
async fn a_limit_of_tokens_that_is_halved_is_learnt_by_all_workers(pool: PgPool) {
    a_limit_is_halved(pool, true).await;
}

#[sqlx::test(migrations = false)]
async fn a_limit_of_tokens_that_is_halved_without_a_word_is_guessed(pool: PgPool) {
    a_limit_is_halved(pool, false).await;
}

#[sqlx::test(migrations = false)]
async fn parallel_requests_are_shared_by_all_workers(pool: PgPool) {
    let world = World::new(pool).await;
    let model = LimitedModel::start(Allowance { company: u64::MAX, ..Allowance::default() }).await;
    job_type(&world, &model, &json!({"parallel": 2}));
    let jobs = insert(&world, 3).await;
    let workers = workers(&world, 3, 1);
    let took_part = "SELECT count(DISTINCT worker_id) FROM attempts";
    eventually("each worker has a job", async || (count(&world, took_part).await == 3).then_some(())).await;
    model.allows(|allowance| allowance.company = 2);
    all_complete(&world, &jobs).await;
    let seen = model.seen();
    assert_eq!((seen.most_at_once, seen.refused.len()), (2, 0));
    eventually("slots that nobody uses are given back", async || {
        (count(&world, "SELECT count(*) FROM endpoint_slots").await == 0).then_some(())
    })
    .await;
    finish(world, workers).await;
}

#[sqlx::test(migrations = false)]
async fn requests_a_minute_are_shared_by_all_workers(pool: PgPool) {
    let world = World::new(pool).await;
    let model = LimitedModel::start(Allowance::default()).await;
    job_type(&world, &model, &json!({"requests_per_minute": 600}));
    // An operator knows that this server counts over less than a minute.
    let endpoint = model.base_url().trim_end_matches("/v1").to_owned();
    sqlx::query(
        "INSERT INTO endpoint_limits (endpoint, key_name, model, requests_per_minute, burst_s)
         VALUES ($1, 'OPENAI_API_KEY', 'limited', 600, 1)",
    )
    .bind(&endpoint)
    .execute(&world.pool)
    .await
    .expect("a limit can be set");
    let jobs = insert(&world, 4).await;
    let workers = workers(&world, 3, 2);
    all_complete(&world, &jobs).await;
    let seen = model.seen();
    let most = seen.most_within(Duration::from_secs(10));
    assert!(most <= 100, "{most} within 10 s, of {} in all", seen.answered);
    assert_eq!(
        text(&world, "SELECT concat_ws(' ', requests_per_minute, burst_s, source) FROM endpoint_limits").await,
        "600 1 set"
    );
    finish(world, workers).await;
}
