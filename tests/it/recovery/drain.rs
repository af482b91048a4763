//! SIGTERM and SIGINT: the worker stops claiming, gives its jobs back, and is gone within the grace.

use plumbline_system_tests::{
    Answer, PgPool, Program, Signal, World, documents, eventually, jobs::NewJob, probe::Probed,
};

/// A grace, in seconds, that no test waits for.
const LONG: u64 = 3600;

fn worker_with_grace(world: &World, seconds: u64) -> Program {
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_DRAIN_SECS", seconds.to_string());
    world.start(command)
}

/// Waits until the worker reports that it drains.
async fn draining(worker: &Program) {
    eventually("the worker to drain", async || worker.stderr().contains("draining").then_some(())).await;
}

async fn live_workers(world: &World) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM workers").fetch_one(&world.pool).await.expect("workers can be counted")
}

#[sqlx::test(migrations = false)]
async fn a_call_in_flight_is_abandoned_when_the_grace_is_over(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = worker_with_grace(&world, 1);
    world.model.hold_from(9);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.arrived(9).await;
    let before = world.job(job).await;

    worker.signal(Signal::TERM);
    let ended = worker.ended().await;

    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let released = world.job(job).await;
    assert_eq!((released.status.as_str(), released.attempt, released.step), ("pending", 0, before.step));
    let outcome: String = sqlx::query_scalar("SELECT outcome FROM attempts WHERE job_id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("one attempt");
    assert_eq!(outcome, "lost", "what became of the call in flight is not known");
    assert_eq!(live_workers(&world).await, 0, "a stopped worker leaves no row behind");

    world.model.answers(Answer::Work);
    world.work_until_idle().await;
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 2));
    assert_eq!(world.model.requests(), row.requests as u64, "the request that was given up counts, and was made again");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_step_that_ends_within_the_grace_is_kept(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = worker_with_grace(&world, LONG);
    world.model.hold_from(9);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.arrived(9).await;
    let before = world.job(job).await;

    worker.signal(Signal::INT);
    draining(&worker).await;
    let late = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.model.answers(Answer::Work);
    let ended = worker.ended().await;

    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let released = world.job(job).await;
    assert_eq!((released.status.as_str(), released.attempt), ("pending", 0));
    assert!(released.step > before.step, "the step in flight was thrown away");
    assert_eq!(world.job(late).await.claims, 0, "a draining worker claimed a job");

    world.work_until_idle().await;
    let row = world.becomes(job, "completed").await;
    let other = world.becomes(late, "completed").await;
    assert_eq!(world.model.requests(), (row.requests + other.requests) as u64, "no call was made twice");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_second_signal_ends_it_at_once(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker_with_grace(&world, LONG);
    world.model.hold_from(2);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.model.arrived(2).await;

    worker.signal(Signal::TERM);
    draining(&worker).await;
    worker.signal(Signal::TERM);
    worker.ended().await;

    world.model.answers(Answer::Work);
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_successor_continues_when_it_is_notified_of_the_release(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = worker_with_grace(&world, 1);
    world.model.hold_from(9);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.arrived(9).await;
    // The successor comes while the job is in work, and finds nothing. Its next poll and its next sweep would come after
    // this test: nothing but the notification makes it look.
    let mut command = world.command(&["worker"]);
    command
        .env("PLUMBLINE_POLL_MS", "3600000")
        .env("PLUMBLINE_HEARTBEAT_SECS", "3600")
        .env("PLUMBLINE_LEASE_SECS", "7200");
    let successor = Probed::start(&world, command).await;
    successor.listens().await;

    worker.signal(Signal::TERM);
    assert_eq!(worker.ended().await.code, Some(0));
    world.model.answers(Answer::Work);
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 2), "it was released, not taken back");
    successor.program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_closed_terminal_is_a_wish_to_stop(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker_with_grace(&world, 1);
    world.model.hold_from(2);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.model.arrived(2).await;

    worker.signal(Signal::HUP);
    let ended = worker.ended().await;

    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let row = world.job(job).await;
    assert_eq!((row.status.as_str(), row.attempt), ("pending", 0), "the attempt is given back");
    world.model.answers(Answer::Work);
    world.work_until_idle().await;
    world.finish().await;
}

/// A reader of the first lines of the log that then exits, like `head`.
#[sqlx::test(migrations = false)]
async fn a_reader_of_the_log_that_goes_away_takes_no_job_along(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let told = world.command(&["worker", "--until-idle"]);
    let mut command = plumbline_system_tests::Command::new("sh");
    command.args(["-c", "\"$0\" worker --until-idle 2>&1 | head -n 1"]).arg(plumbline_system_tests::program::path());
    command.env_clear().envs(told.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = world.start(command).ended().await;

    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 1));
    world.finish().await;
}
