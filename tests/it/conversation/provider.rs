//! Failures of the model's server: a job waits, parks or pauses with the reason, and continues where it was.

use plumbline_system_tests::{Answer, PgPool, World, documents, jobs::NewJob, record};

/// Failed calls of all jobs, as `llm_requests` shows them: `class: error`.
async fn failed_calls(world: &World) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT failure_class || ': ' || error FROM llm_requests WHERE error IS NOT NULL ORDER BY created_at",
    )
    .fetch_all(&world.pool)
    .await
    .expect("llm_requests can be read")
}

#[sqlx::test(migrations = false)]
async fn a_short_trouble_is_waited_out_in_place(pool: PgPool) {
    let mut world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.worker();
    for (trouble, class, words) in [
        (None, "transient: ", "no connection"),
        (Some(Answer::Fail(500, None)), "transient: ", "500"),
        (Some(Answer::Fail(429, Some(1))), "rate_limited: ", "429"),
    ] {
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
        let is_it = |error: &String| error.starts_with(class) && error.contains(words);
        assert!(!errors.is_empty() && errors.iter().all(is_it), "{class}{words}: {errors:?}");
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
async fn a_refused_key_parks_jobs_until_a_worker_is_started_with_another(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.worker();
    world.model.hold_from(7);
    let first = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.arrived(7).await;
    let before = world.job(first).await;
    world.model.answers(Answer::Fail(401, None));
    let parked = world.until(first, "is parked", |job| job.status == "pending").await;
    let second = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.until(second, "is parked", |job| job.status == "pending" && job.reason.is_some()).await;
    let reason = parked.reason.expect("a parked job says why");
    assert!(reason.starts_with("the model's key was refused: ") && reason.contains("401"), "{reason}");
    assert!(reason.contains("OPENAI_API_KEY"), "{reason}");
    assert!(parked.step > before.step && parked.attempt == 0, "{before:?}");
    assert_eq!(failed_calls(&world).await.len(), 1, "one refusal speaks for all jobs with the key");
    let second_reason = world.job(second).await.reason.expect("a parked job says why");
    assert!(second_reason.starts_with("the model's key was refused: ") && second_reason.contains("OPENAI_API_KEY"));
    worker.stop().await;

    world.model.answers(Answer::Work);
    let worker = world.worker();
    for job in [first, second] {
        world.becomes(job, "completed").await;
        assert_eq!(record::requirements(&world.pool, job).await.len(), 4);
    }
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_model_that_is_overloaded_is_replaced_by_another(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let busy = axum::Router::new().fallback(async || axum::http::StatusCode::SERVICE_UNAVAILABLE);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move { axum::serve(listener, busy).await });
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::create_dir(folder.path().join("careful")).expect("the folder is new");
    let other = serde_json::json!({"model": plumbline_rehearsal::MODEL, "base_url": world.model.base_url()});
    let file = serde_json::json!({"$extends": "creator", "on_complete": null, "llm": {
        "model": "busy", "base_url": address, "max_retries": 3,
        "fallback": [{"after": 2, "on": ["overloaded"], "llm": other}]
    }});
    std::fs::write(folder.path().join("careful/config.json"), file.to_string()).expect("the folder can be written");
    let mut command = world.command(&["worker", "--concurrency", "1"]);
    command.env("PLUMBLINE_CONFIG_DIR", folder.path());
    let worker = world.start(command);
    let new = NewJob { job_type: "careful", ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    let job = world.insert(&new).await;
    world.becomes(job, "completed").await;
    let rows: Vec<(String, bool, bool)> = sqlx::query_as(
        "SELECT model, fallback, error IS NULL FROM llm_requests WHERE job_id = $1 ORDER BY step, created_at, id",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("llm_requests can be read");
    let row = |model: &str, other: bool, answered: bool| (model.to_owned(), other, answered);
    assert_eq!(
        rows[..3],
        [row("busy", false, false), row("busy", false, false), row(plumbline_rehearsal::MODEL, true, true)]
    );
    assert!(rows.iter().all(|(model, other, _)| *other == (model == plumbline_rehearsal::MODEL)), "{rows:?}");
    let phases = rows.iter().filter(|(model, ..)| model == "busy").count() / 2;
    assert!(phases >= 3, "each phase begins with the job's own model: {rows:?}");
    task.abort();
    worker.stop().await;
    world.finish().await;
}
