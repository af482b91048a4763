//! The database executes a statement, and the answer never arrives.

use plumbline_system_tests::{PgPool, Signal, Uuid, World, eventually, jobs::NewJob, mirror, proxy::Proxy};
use sqlx::ConnectOptions as _;

#[sqlx::test(migrations = false)]
async fn a_claim_whose_answer_is_lost_is_found_at_once(pool: PgPool) {
    let world = World::new(pool).await;
    let server = world.pool.connect_options();
    let proxy = Proxy::start(server.get_port()).await;
    let through = server.as_ref().clone().port(proxy.port).to_url_lossy().to_string();
    let mut command = world.command(&["worker"]);
    // Nothing else makes it reconcile: its next sweep and its next poll would come after this test.
    command
        .env("DATABASE_URL", through)
        .env("PLUMBLINE_HEARTBEAT_SECS", "3600")
        .env("PLUMBLINE_LEASE_SECS", "7200")
        .env("PLUMBLINE_POLL_MS", "3600000");
    // Of the user's input, a claim returns only the lane.
    proxy.lose_answer_with("a-lane-of-its-own");
    let insert = "INSERT INTO jobs (prompt, context, config)
                  VALUES ('Say what records are', '{\"concurrency_key\": \"a-lane-of-its-own\"}',
                          '{\"on_complete\": {\"enqueue\": null}}') RETURNING id";
    let job: Uuid = sqlx::query_scalar(insert).fetch_one(&world.pool).await.expect("a job can be inserted");

    let worker = world.start(command);
    let row = world.becomes(job, "completed").await;

    assert!(proxy.has_lost_answer());
    assert_eq!((row.attempt, row.claims), (1, 2), "the claim that nobody knew of is no attempt");
    worker.stop().await;
    world.finish().await;
}

/// The job ends with its first step, and its worker drops the run before it learns that the step is written.
#[sqlx::test(migrations = false)]
async fn the_folder_of_a_job_whose_only_step_was_not_acknowledged_equals_its_rows(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_FAIL_POINTS", "committed/intake=delay:600000");
    let worker = world.start(command);
    let job = world.insert(&NewJob::with_path("nowhere.pdf")).await;
    world.becomes(job, "failed").await;
    let dropped = "job dropped: this worker no longer holds its lease";
    eventually("the run to be dropped", async || worker.stderr().contains(dropped).then_some(())).await;

    let folder = world.workspace().join(format!("job_{job}"));
    let rows = mirror::rows(&world.pool, job).await;
    assert!(rows.contains_key("error.md"));
    eventually("the folder to equal the rows", async || (mirror::folder(&folder) == rows).then_some(())).await;
    worker.stop().await;
    world.finish().await;
}

/// The worker's time to stop is over while the job's only step is being written: the run is dropped before the step is
/// in the rows.
#[sqlx::test(migrations = false)]
async fn the_folder_of_a_job_that_ended_while_its_worker_stopped_equals_its_rows(pool: PgPool) {
    let world = World::new(pool).await;
    let (place, trace) = ("written/intake", world.folder().join("trace"));
    let mut command = world.command(&["worker"]);
    command
        .env("PLUMBLINE_FAIL_POINTS", format!("{place}=delay:5000"))
        .env("PLUMBLINE_FAIL_POINT_TRACE", &trace)
        .env("PLUMBLINE_DRAIN_SECS", "0");
    let worker = world.start(command);
    let job = world.insert(&NewJob::with_path("nowhere.pdf")).await;
    let traced = || std::fs::read_to_string(&trace).is_ok_and(|text| text.contains(place));
    eventually("the step to be written", async || traced().then_some(())).await;
    worker.signal(Signal::TERM);
    let ended = worker.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.becomes(job, "failed").await;
    world.finish_repaired().await;
}
