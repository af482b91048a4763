//! Operations on a job's history: forking at a step, reading it, and deleting it.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, jobs::NewJob, record};
use serde_json::Value;

/// A finished job, and its last step.
async fn completed(world: &World) -> (Uuid, i64) {
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let step = sqlx::query_scalar("SELECT step FROM jobs WHERE id = $1").bind(job).fetch_one(&world.pool).await;
    (job, step.expect("the job's step"))
}

async fn fork(world: &World, job: Uuid, step: i64) -> Uuid {
    let ended = world.run(&["fork", &job.to_string(), "--at", &step.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended.stdout.trim().parse().expect("the new job's id, and nothing else")
}

#[sqlx::test(migrations = false)]
async fn a_fork_at_any_step_comes_to_the_same_results(pool: PgPool) {
    let world = World::new(pool).await;
    let (source, last) = completed(&world).await;
    let expected = record::read(&world.pool, source).await;
    let steps: Vec<i64> = (1..=7).map(|part| 1 + (last - 2) * (part - 1) / 6).collect();
    let mut forks = Vec::new();
    for step in steps {
        forks.push((step, fork(&world, source, step).await));
    }
    world.work_until_idle().await;
    for (step, fork) in forks {
        world.becomes(fork, "completed").await;
        record::assert_same(
            &record::read(&world.pool, fork).await,
            &expected,
            &format!("forked at step {step} of {last}"),
        );
    }
    record::assert_same(&record::read(&world.pool, source).await, &expected, "the source");
    let refused = world.run(&["fork", &source.to_string(), "--at", "99999"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("its steps are 1 to"), "{}", refused.stderr);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_running_job_can_be_forked(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let source = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(12);
    let worker = world.worker();
    world.model.arrived(12).await;
    let fork = fork(&world, source, 6).await;
    world.model.answers(Answer::Work);
    world.becomes(source, "completed").await;
    world.becomes(fork, "completed").await;
    let (one, two) = (record::read(&world.pool, source).await, record::read(&world.pool, fork).await);
    record::assert_same(&two, &one, "the fork of a running job");
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_trace_shows_every_step(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, last) = completed(&world).await;
    let job = job.to_string();
    let text = world.run(&["trace", &job]).await;
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""));
    for words in [
        "step 1 ·",
        &format!("step {last} ·"),
        "phase opened: 1 (strategic)",
        "call      record_passage(",
        "file written: main_plan.md",
    ] {
        assert!(text.stdout.contains(words), "`{words}` is not in the trace: {}", text.stdout);
    }
    let lines = world.run(&["trace", &job, "--json"]).await.stdout;
    let steps: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(steps.len() as i64, last);
    let requests: usize = steps.iter().map(|step| step["requests"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(requests as u64, world.model.requests());
    let one = world.run(&["trace", &job, "--step", "2", "--json"]).await.stdout;
    assert_eq!(serde_json::from_str::<Value>(&one).expect("one object"), steps[1]);
    let none = world.run(&["trace", &job, "--step", "99999"]).await;
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("has no step 99999"), "{}", none.stderr);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_prune_takes_rows_and_folders_of_old_ended_jobs(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, _) = completed(&world).await;
    let waiting = world.insert(&NewJob { in_seconds: 3600.0, ..NewJob::with_path("none.md") }).await;
    let folder = world.workspace().join(format!("job_{job}"));
    assert!(folder.is_dir());
    let young = world.run(&["prune", "--older-than", "1d"]).await;
    assert_eq!(
        (young.code, young.stdout.as_str()),
        (Some(0), "nothing to delete: no prunable job ended that long ago\n")
    );

    // Time passes; a user may not set this column, so the rule that guards it sleeps.
    sqlx::query("UPDATE jobs SET completed_at = now() - interval '2 days' WHERE id = $1")
        .bind(job)
        .execute(&world.pool)
        .await
        .expect("a job can be aged");
    let kept = world.run(&["prune", "--older-than", "1d"]).await.stdout;
    let why =
        "kept 1 job: requirements are pending validation; run a validator, or delete them too with --also-pending\n";
    assert!(kept.starts_with("nothing to delete") && kept.ends_with(why), "{kept}");
    let dry = world.run(&["prune", "--older-than", "1d", "--also-pending", "--dry-run"]).await.stdout;
    assert!(dry.starts_with("would delete 1 job (1 completed) with "), "{dry}");
    let other =
        world.run(&["prune", "--older-than", "1d", "--also-pending", "--status", "failed,cancelled"]).await.stdout;
    assert!(other.starts_with("nothing to delete"), "{other}");
    assert!(folder.is_dir());
    let done = world.run(&["prune", "--older-than", "24h", "--also-pending"]).await.stdout;
    assert_eq!(done, "deleted 1 job and 1 folder\n");
    assert!(!folder.exists());
    let left: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM jobs").fetch_all(&world.pool).await.expect("jobs");
    assert_eq!(left, [waiting]);
    let wrong = world.run(&["prune", "--older-than", "a while"]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("e.g. 30d"), "{}", wrong.stderr);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_doctor_checks_the_invariants(pool: PgPool) {
    let world = World::new(pool).await;
    completed(&world).await;
    let well = world.run(&["doctor", "--invariants"]).await;
    assert_eq!((well.code, well.stdout.as_str()), (Some(0), "ok    invariants: all hold\n"));
    count_a_request_more(&world, 1).await;
    let ill = world.run(&["doctor", "--invariants"]).await;
    assert_eq!(ill.code, Some(1));
    assert!(
        ill.stdout.starts_with("FAIL") && ill.stdout.contains("I8: requests, tokens, cached tokens (job "),
        "{}",
        ill.stdout
    );
    count_a_request_more(&world, -1).await;
    world.finish().await;
}

async fn count_a_request_more(world: &World, more: i64) {
    let sql = "UPDATE jobs SET total_requests = total_requests + $1";
    sqlx::query(sql).bind(more).execute(&world.pool).await.expect("a row can be changed");
}
