//! One queue, two workers: each job is run once.

use plumbline_system_tests::{Answer, PgPool, World, documents, eventually, jobs::NewJob, probe::Probed, record};

#[sqlx::test(migrations = false)]
async fn thirty_jobs_are_each_run_once(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let start = || world.start(world.command(&["worker", "--concurrency", "4"]));
    let workers = [start(), start()];
    world.model.hold_from(1);
    let mut jobs = Vec::new();
    for _ in 0..30 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    // As many wait for the model as both together may run: whichever claimed first, the other has jobs too.
    world.model.arrived(8).await;
    world.model.answers(Answer::Work);
    for &job in &jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 1));
        assert_eq!(record::requirements(&world.pool, job).await.len(), 2);
    }
    let (attempts, by): (i64, i64) = sqlx::query_as("SELECT count(*), count(DISTINCT worker_id) FROM attempts")
        .fetch_one(&world.pool)
        .await
        .expect("attempts can be read");
    assert_eq!((attempts, by), (30, 2), "attempts, and workers that took part");
    for worker in workers {
        worker.stop().await;
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_worker_that_seldom_polls_takes_back_what_a_dead_one_held(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.hold_from(2);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    let dead = world.worker();
    world.model.arrived(2).await;
    dead.kill().await;
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_POLL_MS", "3600000");
    let successor = Probed::start(&world, command).await;
    successor.listens().await;
    // A heartbeat after its start: its first sweep is done, and found the dead worker's lease valid.
    let heartbeat = async || -> String {
        let latest = "SELECT max(heartbeat_at)::text FROM workers WHERE id NOT IN (SELECT worker_id FROM jobs WHERE status = 'running')";
        sqlx::query_scalar(latest).fetch_one(&world.pool).await.expect("heartbeats can be read")
    };
    let first = heartbeat().await;
    eventually("another heartbeat", async || (heartbeat().await != first).then_some(())).await;
    assert_eq!(world.job(job).await.claims, 1, "the lease was alive");

    sqlx::query(
        "UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour' FROM jobs WHERE worker_id = workers.id",
    )
    .execute(&world.pool)
    .await
    .expect("the dead worker can be aged");
    world.model.answers(Answer::Work);

    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (2, 2));
    successor.program.stop().await;
    world.finish().await;
}
