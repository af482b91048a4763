//! A request that is abandoned before its answer is recorded and counted, because the provider may have worked on it.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, eventually, jobs::NewJob};

/// Of a job: recorded requests, abandoned ones, abandoned ones not yet counted, and the tokens of all counted ones.
async fn books(world: &World, job: Uuid) -> (i64, i64, i64, i64) {
    sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE failure_class = 'abandoned'), count(*) FILTER (WHERE NOT counted),
                coalesce(sum(prompt_tokens + completion_tokens) FILTER (WHERE counted), 0)::bigint
         FROM llm_requests WHERE job_id = $1",
    )
    .bind(job)
    .fetch_one(&world.pool)
    .await
    .expect("requests can be counted")
}

async fn totals(world: &World, job: Uuid) -> (i64, i64) {
    sqlx::query_as("SELECT total_requests, total_tokens_used FROM jobs WHERE id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job's row")
}

async fn given_up(world: &World, job: Uuid, number: i64) {
    eventually("the request to be on record", async || (books(world, job).await.1 == number).then_some(())).await;
}

#[sqlx::test(migrations = false)]
async fn a_pause_gives_the_request_up_at_once_and_the_next_claim_counts_it(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    world.model.hold_from(3);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let worker = world.worker();
    world.model.arrived(3).await;
    world.call("SELECT pause_job($1)", job).await.expect("a running job can be paused");
    given_up(&world, job, 1).await;
    let (requests, _, open, tokens) = books(&world, job).await;
    assert_eq!((open, totals(&world, job).await), (1, (requests - 1, tokens)), "the next claim counts it");
    let (prompt, error): (i64, String) =
        sqlx::query_as("SELECT prompt_tokens, error FROM llm_requests WHERE failure_class = 'abandoned'")
            .fetch_one(&world.pool)
            .await
            .expect("the row");
    assert!(prompt > 1_000 && error.contains("given up"), "{prompt} {error}");

    world.model.answers(Answer::Work);
    world.call("SELECT resume_job($1)", job).await.expect("a paused job can go on");
    world.becomes(job, "completed").await;
    let (requests, abandoned, open, tokens) = books(&world, job).await;
    assert_eq!((abandoned, open, totals(&world, job).await), (1, 0, (requests, tokens)));
    worker.stop().await;
    let replay = world.run(&["replay", &job.to_string()]).await;
    assert!(replay.code == Some(0) && replay.stdout.contains("no difference"), "{}", replay.stdout);
    world.finish().await;
}

/// Twice before the first step: there is no checkpoint to count it in.
#[sqlx::test(migrations = false)]
async fn requests_abandoned_before_the_first_step_are_counted(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.hold_from(1);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    let worker = world.worker();
    for number in 1..=2 {
        world.model.arrived(number).await;
        world.call("SELECT cancel_job($1)", job).await.expect("a running job can be cancelled");
        given_up(&world, job, number as i64).await;
        if number == 2 {
            world.model.answers(Answer::Work);
        }
        world.call("SELECT retry_job($1)", job).await.expect("a cancelled job can be run again");
    }
    world.becomes(job, "completed").await;
    let (requests, abandoned, open, tokens) = books(&world, job).await;
    assert_eq!((abandoned, open, totals(&world, job).await), (2, 0, (requests, tokens)));
    worker.stop().await;
    world.finish().await;
}

/// A budget counts abandoned requests, like the bill.
#[sqlx::test(migrations = false)]
async fn a_limit_counts_abandoned_requests(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.hold_from(1);
    let config = Some(serde_json::json!({"limits": {"max_iterations": 1}}));
    let job = world.insert(&NewJob { prompt: "Say what records are", config, ..NewJob::default() }).await;
    let worker = world.worker();
    world.model.arrived(1).await;
    world.call("SELECT pause_job($1)", job).await.expect("a running job can be paused");
    given_up(&world, job, 1).await;
    world.call("SELECT resume_job($1)", job).await.expect("a paused job can go on");
    let paused = world.until(job, "the limit to be reached", |job| {
        job.status == "paused" && job.reason.as_deref().is_some_and(|reason| reason.contains("limit of 1 iterations"))
    });
    paused.await;
    worker.stop().await;
    world.finish().await;
}

/// The step that has the answer is committed, and the run is dropped before the worker learns that: the request is the
/// step's.
#[sqlx::test(migrations = false)]
async fn a_request_whose_step_is_committed_counts_once(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker"]);
    // Its first step is the intake, its second has the first answer.
    command.env("PLUMBLINE_FAIL_POINTS", "committed/strategic=delay:600000@2");
    let worker = world.start(command);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    eventually("the answer to be committed", async || (books(&world, job).await.0 == 1).then_some(())).await;
    world.call("SELECT pause_job($1)", job).await.expect("a running job can be paused");
    let dropped = "job dropped: this worker no longer holds its lease";
    eventually("the run to be dropped", async || worker.stderr().contains(dropped).then_some(())).await;
    world.call("SELECT resume_job($1)", job).await.expect("a paused job can go on");
    world.becomes(job, "completed").await;
    let (requests, abandoned, _, tokens) = books(&world, job).await;
    assert_eq!((abandoned, totals(&world, job).await), (0, (requests, tokens)));
    worker.stop().await;
    world.finish().await;
}
