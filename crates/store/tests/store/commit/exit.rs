//! A job's exit from its worker with its last step.

use crate::support::{LEASE_SECS, column, commit, execute, outcomes, progress, running, state, store, value, worker};
use chrono::{TimeZone, Utc};
use plumbline_engine::{Change, JobError, JobExit};
use plumbline_store::{Commit, NewJob};
use serde_json::json;
use sqlx::PgPool;

fn left(leave: JobExit) -> [Change; 1] {
    [Change::Exited(leave)]
}

#[sqlx::test(migrations = "../../migrations")]
async fn completed_with_its_result(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let result = json!({"summary": "12 requirements", "deliverables": ["output/report.md"], "confidence": 0.9});
    commit(&store, job.lease(), 0, &left(JobExit::Completed { result: result.clone() })).await.unwrap();
    let detail = store.job_detail(job.id).await.unwrap().unwrap();
    assert_eq!((detail.status.as_str(), detail.step, detail.attempt), ("completed", 1, 1));
    let mut expected = result;
    // Derived from the rows, in addition to what was given.
    expected["counts"] = json!({"files": 0, "requirements": 0, "citations_verified": 0, "pages": 0, "steps": 1,
                                "phases_planned": 0, "phases_done": 0});
    expected["unevidenced_todos"] = json!(0);
    assert_eq!(detail.result, Some(expected));
    assert!(detail.completed_at.is_some() && detail.worker_id.is_none());
    assert_eq!(outcomes(&pool, job.id).await, "ended");
    assert!(commit(&store, job.lease(), 1, &[]).await.is_err(), "an ended job takes no further step");
}

#[sqlx::test(migrations = "../../migrations")]
async fn failed_with_one_sentence_and_the_details(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let error = JobError::new("refused", "the provider refused the content").with("attempts", 3);
    commit(&store, job.lease(), 0, &left(JobExit::Failed(error))).await.unwrap();
    let detail = store.job_detail(job.id).await.unwrap().unwrap();
    assert_eq!(detail.status, "failed");
    assert_eq!(detail.error_message.as_deref(), Some("the provider refused the content"));
    let details = detail.error_details.unwrap();
    assert_eq!((&details["kind"], &details["attempts"]), (&json!("refused"), &json!(3)));
    assert_eq!(details["last_error"], "the provider refused the content");
    let attempt = value(&pool, "SELECT concat_ws(': ', outcome, error) FROM attempts").await;
    assert_eq!(attempt.as_deref(), Some("ended: the provider refused the content"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn paused_by_a_budget_and_resumed_without_losing_an_attempt(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let reason = "cost budget of 5.00 USD reached".to_owned();
    commit(&store, job.lease(), 0, &left(JobExit::Paused { reason: reason.clone() })).await.unwrap();
    assert_eq!(column(&pool, job.id, "status || ': ' || status_reason").await, Some(format!("paused: {reason}")));
    assert_eq!(column(&pool, job.id, "attempt").await.as_deref(), Some("0"));
    let worker = worker(&store).await;
    assert!(store.claim(worker, 1, None, LEASE_SECS).await.unwrap().is_empty());
    execute(&pool, "SELECT resume_job(id) FROM jobs").await.unwrap();
    assert_eq!(column(&pool, job.id, "status_reason").await, None);
    let again = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    assert_eq!((again.attempt, again.lease_epoch, again.step), (1, 2, 1));
    assert_eq!(outcomes(&pool, job.id).await, "ended open");
}

#[sqlx::test(migrations = "../../migrations")]
async fn parked_until_later_by_itself(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let until = Utc.with_ymd_and_hms(2099, 1, 1, 0, 0, 0).unwrap();
    let reason = "the model's provider is away".to_owned();
    commit(&store, job.lease(), 0, &left(JobExit::Parked { until, reason })).await.unwrap();
    let detail = store.job_detail(job.id).await.unwrap().unwrap();
    assert_eq!((detail.status.as_str(), detail.run_at, detail.attempt), ("pending", until, 0));
    assert_eq!(detail.status_reason.as_deref(), Some("the model's provider is away"));
    assert_eq!(outcomes(&pool, job.id).await, "released");
    let worker = worker(&store).await;
    assert!(store.claim(worker, 1, None, LEASE_SECS).await.unwrap().is_empty());
    let counts = store.queue_counts(None).await.unwrap();
    assert_eq!((counts.runnable, counts.later, counts.is_idle()), (0, 1, true));

    execute(&pool, "UPDATE jobs SET run_at = now()").await.unwrap();
    store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    assert_eq!(column(&pool, job.id, "status_reason").await, None, "a reason does not outlive its status");
}

#[sqlx::test(migrations = "../../migrations")]
async fn review_waits_for_a_person_unless_one_has_just_written(pool: PgPool) {
    let store = store(&pool);
    let review = || left(JobExit::Review { result: json!({"summary": "s"}), reason: "ready for review".into() });
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &review()).await.unwrap();
    assert_eq!(
        column(&pool, job.id, "status || ': ' || status_reason").await.as_deref(),
        Some("review: ready for review")
    );
    assert_eq!(column(&pool, job.id, "completed_at").await, None);

    let job = running(&store).await;
    store.send_feedback(job.id, "One more thing").await.unwrap();
    commit(&store, job.lease(), 0, &review()).await.unwrap();
    assert_eq!(column(&pool, job.id, "status").await.as_deref(), Some("pending"));
    assert_eq!(column(&pool, job.id, "status_reason").await, None);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_completion_that_has_not_seen_the_users_words_goes_back_to_work(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    store.send_feedback(job.id, "One more thing").await.unwrap();
    let next = NewJob { parent_job_id: Some(job.id), ..NewJob::new("Validate") };
    let (state, progress) = (state(), progress());
    let completed = left(JobExit::Completed { result: json!({"summary": "s"}) });
    let mut step = Commit {
        lease: job.lease(),
        expected_step: 0,
        changes: &completed,
        state: &state,
        progress: &progress,
        settings: None,
        enqueue_next: Some(&next),
    };
    store.commit(&step).await.unwrap();
    assert_eq!(column(&pool, job.id, "status").await.as_deref(), Some("pending"));
    assert_eq!(column(&pool, job.id, "completed_at").await, None);
    let children = format!("SELECT count(*) FROM jobs WHERE parent_job_id = '{}'", job.id);
    assert_eq!(value(&pool, &children).await.as_deref(), Some("0"), "nothing follows a job that goes on");

    let again = store.claim(worker(&store).await, 1, None, LEASE_SECS).await.unwrap().remove(0);
    let waiting = store.feedback(job.id).await.unwrap();
    step.lease = again.lease();
    step.expected_step = 1;
    let changes =
        [Change::FeedbackTaken(vec![waiting[0].id]), Change::Exited(JobExit::Completed { result: json!({}) })];
    step.changes = &changes;
    store.commit(&step).await.unwrap();
    assert_eq!(column(&pool, job.id, "status").await.as_deref(), Some("completed"));
    assert_eq!(value(&pool, &children).await.as_deref(), Some("1"));
}
