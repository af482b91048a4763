//! The model's server in trouble: a job waits, parks or pauses with the reason, and goes on where it was.

use plumbline_system_tests::{Answer, PgPool, World, documents, jobs::NewJob, record};

/// Failed calls of all jobs, as `llm_requests` shows them.
async fn failed_calls(world: &World) -> Vec<String> {
    sqlx::query_scalar("SELECT error FROM llm_requests WHERE error IS NOT NULL ORDER BY created_at")
        .fetch_all(&world.pool)
        .await
        .expect("llm_requests can be read")
}

#[sqlx::test(migrations = false)]
async fn a_short_trouble_is_waited_out_in_place(pool: PgPool) {
    let mut world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.worker();
    for (trouble, words) in
        [(None, "no connection"), (Some(Answer::Fail(500, None)), "500"), (Some(Answer::Fail(429, Some(1))), "429")]
    {
        match trouble {
            Some(trouble) => world.model.answers(trouble),
            None => world.model.close().await,
        }
        let known = failed_calls(&world).await.len();
        let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
        let waiting = world.until(job, "has a failed call", |job| job.requests >= 1).await;
        assert_eq!((waiting.status.as_str(), waiting.claims), ("running", 1));
        match trouble {
            Some(_) => world.model.answers(Answer::Work),
            None => world.model.open().await,
        }
        let row = world.becomes(job, "completed").await;
        assert_eq!(row.claims, 1, "{words}: it was waited for in place");
        let errors = failed_calls(&world).await.split_off(known);
        assert!(!errors.is_empty() && errors.iter().all(|error| error.contains(words)), "{words}: {errors:?}");
        assert_eq!(record::requirements(&world.pool, job).await.len(), 4);
    }
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_long_trouble_parks_the_job(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.start(world.command(&["worker", "--concurrency", "1"]));
    for status in [503, 429] {
        world.model.answers(Answer::Fail(status, Some(600)));
        let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
        let parked = world.until(job, "is parked", |job| job.status == "pending" && job.claims == 1).await;
        let reason = parked.reason.expect("a parked job says why");
        assert!(reason.contains("model unavailable") && reason.contains(&status.to_string()), "{reason}");
        assert_eq!((parked.attempt, parked.error), (0, None), "waiting for a provider costs no attempt");
        let due: bool = sqlx::query_scalar(
            "SELECT run_at BETWEEN now() + interval '590 s' AND now() + interval '601 s' FROM jobs WHERE id = $1",
        )
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job can be read");
        assert!(due, "Retry-After is when it comes back");

        world.model.answers(Answer::Work);
        sqlx::query("UPDATE jobs SET run_at = now() WHERE id = $1")
            .bind(job)
            .execute(&world.pool)
            .await
            .expect("update");
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 2));
        assert_eq!(row.reason, None, "a reason does not outlive its status");
    }
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_refused_key_pauses_the_job_with_what_to_do(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.worker();
    world.model.hold_from(7);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.arrived(7).await;
    let before = world.job(job).await;
    world.model.answers(Answer::Fail(401, None));
    let paused = world.becomes(job, "paused").await;
    let reason = paused.reason.expect("a paused job says why");
    assert!(reason.contains("401") && reason.contains("OPENAI_API_KEY"), "{reason}");
    assert!(paused.step > before.step && paused.attempt == 0, "{before:?}");
    assert_eq!(failed_calls(&world).await.len(), 1, "a refused key is not tried again");

    world.model.answers(Answer::Work);
    assert_eq!(world.call("SELECT resume_job($1)", job).await.expect("a paused job can be resumed"), "pending");
    world.becomes(job, "completed").await;
    assert_eq!(record::requirements(&world.pool, job).await.len(), 4);
    worker.stop().await;
    world.finish().await;
}
