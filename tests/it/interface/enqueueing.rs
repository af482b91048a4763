//! The inputs of enqueueing: a default type, an earliest run time, its own configuration; and the notifications.

use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::{Value, json};
use sqlx::postgres::PgListener;

async fn type_of(world: &World, id: Uuid) -> String {
    sqlx::query_scalar("SELECT job_type FROM jobs WHERE id = $1")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the job can be read")
}

/// Enqueues with the command and these additional variables.
async fn enqueue(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Uuid {
    let mut command = world.command(&[&["enqueue", "--prompt", "Say what records are"], arguments].concat());
    command.envs(variables.iter().copied());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout.trim().parse().expect("the command prints the id alone")
}

#[sqlx::test(migrations = false)]
async fn the_default_job_type_is_the_operators(pool: PgPool) {
    let world = World::new(pool).await;
    let by_sql = ["INSERT INTO jobs (prompt) VALUES ('x') RETURNING id", "SELECT enqueue_job('x')"];
    let enqueued = async |statement: &'static str| -> Uuid {
        sqlx::query_scalar(statement).fetch_one(&world.pool).await.expect("a job can be enqueued")
    };
    for statement in by_sql {
        assert_eq!(type_of(&world, enqueued(statement).await).await, "creator");
    }
    assert_eq!(type_of(&world, enqueue(&world, &[], &[]).await).await, "creator");

    for _ in 0..2 {
        let mut migrate = world.command(&["migrate"]);
        migrate.env("PLUMBLINE_DEFAULT_JOB_TYPE", "answers of 'ours'");
        assert_eq!(world.start(migrate).ended().await.code, Some(0));
    }
    for statement in by_sql {
        assert_eq!(type_of(&world, enqueued(statement).await).await, "answers of 'ours'");
    }
    assert_eq!(type_of(&world, enqueue(&world, &[], &[]).await).await, "answers of 'ours'");
    let asked = [("PLUMBLINE_DEFAULT_JOB_TYPE", "validator")];
    assert_eq!(type_of(&world, enqueue(&world, &[], &asked).await).await, "validator");
    assert_eq!(type_of(&world, enqueue(&world, &["--type", "creator"], &asked).await).await, "creator");

    // Without the variable the default is unchanged.
    assert_eq!(world.run(&["migrate"]).await.code, Some(0));
    assert_eq!(type_of(&world, enqueued(by_sql[0]).await).await, "answers of 'ours'");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_is_to_run_later_runs_later_after_a_pause(pool: PgPool) {
    let world = World::new(pool).await;
    let job = NewJob { prompt: "Say what records are", in_seconds: 3_600.0, ..NewJob::default() };
    for way in ["SELECT resume_job($1)", "UPDATE jobs SET status = 'pending' WHERE id = $1 RETURNING status"] {
        let id = world.insert(&job).await;
        world.call("SELECT pause_job($1)", id).await.expect("a job that waits can be paused");
        assert_eq!(world.call(way, id).await.expect("a paused job can go on"), "pending");
        let left: f64 = sqlx::query_scalar("SELECT extract(epoch FROM run_at - now())::float8 FROM jobs WHERE id = $1")
            .bind(id)
            .fetch_one(&world.pool)
            .await
            .expect("the job can be read");
        assert!((3_000.0..=3_600.0).contains(&left), "{way}: {left} s");
        world.work_until_idle().await;
        assert_eq!(world.job(id).await.claims, 0, "{way}: it was not taken before its time");
    }
    let due = world.insert(&NewJob { in_seconds: -3_600.0, ..job }).await;
    world.call("SELECT pause_job($1)", due).await.expect("a job that waits can be paused");
    world.call("SELECT resume_job($1)", due).await.expect("a paused job can go on");
    let is_now: bool = sqlx::query_scalar("SELECT run_at > now() - interval '10 minutes' FROM jobs WHERE id = $1")
        .bind(due)
        .fetch_one(&world.pool)
        .await
        .expect("the job can be read");
    assert!(is_now, "one that was due takes its place in the queue anew");
    world.work_until_idle().await;
    world.becomes(due, "completed").await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn notices_name_the_job_type(pool: PgPool) {
    let world = World::new(pool).await;
    let mut listener = PgListener::connect_with(&world.pool).await.expect("a listener can connect");
    listener.listen("plumbline_jobs").await.expect("the channel can be listened to");
    let odd = "a \"type\" \\ of\nours";
    let waits = NewJob { job_type: odd, prompt: "x", in_seconds: 3_600.0, ..NewJob::default() };
    let waiting = world.insert(&waits).await;
    world.call("SELECT cancel_job($1)", waiting).await.expect("a job that waits can be cancelled");
    let runs = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.work_until_idle().await;
    for (id, status, job_type) in [
        (waiting, "pending", odd),
        (waiting, "cancelled", odd),
        (runs, "pending", "creator"),
        (runs, "running", "creator"),
        (runs, "completed", "creator"),
    ] {
        let notice = listener.recv().await.expect("a notice comes");
        let payload: Value = serde_json::from_str(notice.payload()).expect("a payload is JSON");
        assert_eq!(payload, json!({"id": id, "status": status, "job_type": job_type}));
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_command_takes_a_configuration(pool: PgPool) {
    let world = World::new(pool).await;
    let id = enqueue(&world, &["--config", "{\"limits\": {\"max_iterations\": 3}}"], &[]).await;
    world.work_until_idle().await;
    let row = world.becomes(id, "paused").await;
    let reason = row.reason.unwrap_or_default();
    assert!(reason.starts_with("limit of 3 iterations reached; "), "{reason}");
    for (text, words) in [("[]", "--config must be a JSON object"), ("{", "--config is not valid JSON")] {
        let refused = world.run(&["enqueue", "--prompt", "x", "--config", text]).await;
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    world.finish().await;
}
