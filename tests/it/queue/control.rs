//! A user takes hold of a job: cancel, pause, resume, retry, review, and when and in which order jobs run.

use plumbline_system_tests::{Answer, PgPool, Program, Uuid, World, documents, eventually, jobs::NewJob, record};
use serde_json::json;

const CANCEL: &str = "SELECT cancel_job($1)";
const PAUSE: &str = "SELECT pause_job($1)";
const RESUME: &str = "SELECT resume_job($1)";
const RETRY: &str = "SELECT retry_job($1)";
const APPROVE: &str = "SELECT approve_job($1)";
const FEEDBACK: &str = "SELECT send_feedback($1, 'Name the archive in each requirement.')";

/// A worker for one job at a time.
fn single(world: &World) -> Program {
    world.start(world.command(&["worker", "--concurrency", "1"]))
}

/// Runs a job until its `request`-th model call is in flight, and keeps it there.
async fn in_flight(world: &World, new: &NewJob<'_>, request: u64) -> Uuid {
    let request = world.model.requests() + request;
    world.model.hold_from(request);
    let job = world.insert(new).await;
    world.model.arrived(request).await;
    job
}

/// Waits until the worker has let go, though the call that it waits for is still held: its only slot takes another job,
/// which it then completes.
async fn assert_slot_is_free(world: &World) {
    let other = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.until(other, "is claimed", |job| job.status == "running").await;
    world.model.answers(Answer::Work);
    world.becomes(other, "completed").await;
}

#[sqlx::test(migrations = false)]
async fn a_cancelled_job_is_dropped_and_can_be_retried(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let worker = single(&world);
    for (way, request) in [("function", 3), ("update", 7), ("command", 11)] {
        let job = in_flight(&world, &new, request).await;
        match way {
            "function" => assert_eq!(world.call(CANCEL, job).await.expect("it runs"), "cancelled"),
            "command" => assert_eq!(world.run(&["cancel", &job.to_string()]).await.code, Some(0)),
            _ => {
                let update = sqlx::query("UPDATE jobs SET status = 'cancelled' WHERE id = $1");
                update.bind(job).execute(&world.pool).await.expect("a plain update cancels");
            }
        }
        let cancelled = world.becomes(job, "cancelled").await;
        assert_slot_is_free(&world).await;
        assert_eq!(world.job(job).await, cancelled, "by {way}: a cancelled job went on");

        assert_eq!(world.call(RETRY, job).await.expect("a cancelled job can be retried"), "pending");
        world.becomes(job, "completed").await;
        assert_eq!(record::requirements(&world.pool, job).await.len(), 4, "by {way}");
    }
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_paused_job_keeps_its_work_and_hears_the_feedback(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let worker = single(&world);
    let job = in_flight(&world, &new, 9).await;
    assert_eq!(world.call(PAUSE, job).await.expect("it runs"), "paused");
    let paused = world.job(job).await;
    assert_eq!((paused.status.as_str(), paused.reason.as_deref()), ("paused", Some("paused by a user")));
    assert_eq!(paused.attempt, 0, "a pause costs no attempt");
    assert_slot_is_free(&world).await;
    assert_eq!(world.job(job).await, paused, "a paused job went on");

    let words = "Mind the annex.";
    let resumed = world.run(&["resume", &job.to_string(), "--feedback", words]).await;
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    world.becomes(job, "completed").await;
    assert_heard(&world, job, words).await;
    assert_eq!(record::requirements(&world.pool, job).await.len(), 4);
    assert!(world.call(RESUME, job).await.is_err(), "a completed job cannot be resumed");
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_under_review_is_approved_or_reopened_by_feedback(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let review = NewJob {
        config: Some(json!({"autonomy": "review"})),
        ..NewJob::with_content("policy.md", policy.markdown.as_bytes())
    };
    let job = world.insert(&review).await;
    world.work_until_idle().await;
    let in_review = world.becomes(job, "review").await;
    assert!(!in_review.ended && in_review.result.is_some() && in_review.reason.is_some(), "{in_review:?}");

    assert_eq!(world.call(FEEDBACK, job).await.expect("a job in review takes feedback"), "pending");
    world.work_until_idle().await;
    let again = world.becomes(job, "review").await;
    assert!(again.step > in_review.step, "the feedback was not worked on");
    assert_heard(&world, job, "Name the archive in each requirement.").await;
    let resumed: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM phases WHERE job_id = $1 AND kind = 'strategic'
         AND phase_number > (SELECT phase_number FROM checkpoints WHERE job_id = $1 AND step = $2)",
    )
    .bind(job)
    .bind(in_review.step)
    .fetch_one(&world.pool)
    .await
    .expect("phases can be read");
    assert!(resumed >= 1, "feedback opens a strategic phase");

    assert_eq!(world.call(APPROVE, job).await.expect("a job in review can be approved"), "completed");
    let approved = world.job(job).await;
    assert!(approved.ended && approved.result == again.result, "{approved:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_running_job_takes_feedback_in(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let worker = world.worker();
    let job = in_flight(&world, &NewJob::with_content("policy.md", policy.markdown.as_bytes()), 8).await;
    assert_eq!(world.call(FEEDBACK, job).await.expect("a running job takes feedback"), "running");
    world.model.answers(Answer::Work);
    let row = world.becomes(job, "completed").await;
    assert_eq!(row.claims, 1, "feedback does not interrupt a run");
    assert_heard(&world, job, "Name the archive in each requirement.").await;
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn jobs_run_when_they_are_due_and_the_urgent_ones_first(pool: PgPool) {
    let world = World::new(pool).await;
    let prompt = "Say what records are";
    let later = world.insert(&NewJob { prompt, in_seconds: 3600.0, priority: 9, ..NewJob::default() }).await;
    let mut jobs = Vec::new();
    for priority in [0, 10, -5, 5] {
        jobs.push((priority, world.insert(&NewJob { prompt, priority, ..NewJob::default() }).await));
    }
    let worker = world.start(world.command(&["worker", "--concurrency", "1", "--until-idle"])).ended().await;
    assert_eq!(worker.code, Some(0), "{}", worker.stderr);
    let order: Vec<i32> =
        sqlx::query_scalar("SELECT priority FROM jobs WHERE status = 'completed' ORDER BY started_at")
            .fetch_all(&world.pool)
            .await
            .expect("jobs can be read");
    assert_eq!(order, [10, 5, 0, -5]);
    let waiting = world.job(later).await;
    assert_eq!((waiting.status.as_str(), waiting.claims), ("pending", 0), "it ran before its time");

    sqlx::query("UPDATE jobs SET run_at = now() WHERE id = $1").bind(later).execute(&world.pool).await.expect("update");
    world.work_until_idle().await;
    world.becomes(later, "completed").await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn an_idempotency_key_makes_one_job(pool: PgPool) {
    let world = World::new(pool).await;
    let arguments = ["enqueue", "--prompt", "Say what records are", "--key", "monday"];
    let (first, second) = (world.run(&arguments).await, world.run(&arguments).await);
    assert_eq!((first.code, &first.stdout), (Some(0), &second.stdout), "{}", second.stderr);
    let by_function: Uuid =
        sqlx::query_scalar("SELECT enqueue_job(prompt => 'Say what records are', idempotency_key => 'monday')")
            .fetch_one(&world.pool)
            .await
            .expect("a known key gives the job");
    assert_eq!(by_function.to_string(), first.stdout.trim());
    let plain = sqlx::query("INSERT INTO jobs (prompt, idempotency_key) VALUES ('Say what records are', 'monday')");
    let refused = plain.execute(&world.pool).await.expect_err("a plain insert of a known key conflicts");
    assert!(refused.as_database_error().is_some_and(|error| error.is_unique_violation()), "{refused}");
    let jobs: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs").fetch_one(&world.pool).await.expect("a count");
    assert_eq!(jobs, 1);
    world.finish().await;
}

/// The words are in the conversation, once and word for word, and the feedback counts as taken in.
async fn assert_heard(world: &World, job: Uuid, words: &str) {
    eventually("the feedback to be taken in", async || {
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM feedback WHERE job_id = $1 AND taken_step IS NULL")
            .bind(job)
            .fetch_one(&world.pool)
            .await
            .expect("feedback can be read");
        (left == 0).then_some(())
    })
    .await;
    let said: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM messages WHERE job_id = $1 AND kind = 'feedback' AND strpos(content, $2) > 0",
    )
    .bind(job)
    .bind(words)
    .fetch_one(&world.pool)
    .await
    .expect("messages can be read");
    assert_eq!(said, 1, "`{words}` is not in the conversation once");
}
