//! Blame for a worker's death: no job, until one was run alone.

use plumbline_system_tests::{Answer, PgPool, World, eventually, jobs::NewJob};

const PROMPT: &str = "Say what records are";

/// Kills three workers in the middle of the same steps of two jobs; both wait for a model that does not answer, so they
/// are indistinguishable.
#[sqlx::test(migrations = false)]
async fn a_bystander_is_not_failed_for_what_another_job_did(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.hold_from(1);
    let jobs = [
        world.insert(&NewJob { prompt: PROMPT, ..NewJob::default() }).await,
        world.insert(&NewJob { prompt: PROMPT, ..NewJob::default() }).await,
    ];
    for round in 1..=2 {
        let worker = world.worker();
        // Each has done its first step and waits: a death before and one after that step are not at the same place.
        world.model.arrived(2 * round).await;
        worker.kill().await;
        world.age_workers().await;
    }
    // Both are suspects now, and a worker runs one of them alone.
    let worker = world.worker();
    let alone = "SELECT job_id FROM attempts WHERE alone AND ended_at IS NULL";
    let suspect: uuid::Uuid = eventually("one that runs alone", async || {
        sqlx::query_scalar(alone).fetch_optional(&world.pool).await.expect("attempts can be read")
    })
    .await;
    let bystander = jobs.into_iter().find(|job| *job != suspect).expect("there are two");
    world.becomes(bystander, "pending").await;
    worker.kill().await;
    world.age_workers().await;
    // The one that ran alone is to blame; the other one runs on.
    world.model.answers(Answer::Work);
    world.work_until_idle().await;
    let blamed = world.job(suspect).await;
    assert_eq!(blamed.status, "failed");
    assert!(blamed.error.unwrap_or_default().contains("killed its worker three times"));
    assert_eq!(world.job(bystander).await.status, "completed");
    world.finish().await;
}

/// A job that met crashes and was not their cause commits a step alone, and is a job like others.
#[sqlx::test(migrations = false)]
async fn a_suspect_that_gets_on_is_none_any_more(pool: PgPool) {
    let world = World::new(pool).await;
    let mut jobs = Vec::new();
    for _ in 0..4 {
        jobs.push(world.insert(&NewJob { prompt: PROMPT, ..NewJob::default() }).await);
    }
    sqlx::query("UPDATE jobs SET crash_count = 2, attempt = 3")
        .execute(&world.pool)
        .await
        .expect("rows can be written");
    world.work_until_idle().await;
    for job in jobs {
        assert_eq!(world.job(job).await.status, "completed");
    }
    let alone = "SELECT count(DISTINCT job_id) FROM attempts WHERE alone";
    let alone: i64 = sqlx::query_scalar(alone).fetch_one(&world.pool).await.expect("attempts can be read");
    assert_eq!(alone, 4);
    world.finish().await;
}
