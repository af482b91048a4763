//! The SQL functions, through the store and as called by a user.

use crate::support::{LEASE_SECS, column, commit, execute, pending, running, sentence, store, value, worker};
use plumbline_engine::{Change, JobError, JobExit};
use plumbline_store::{Command, Error, Store};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

async fn refused(store: &Store, id: Uuid, command: &Command) -> String {
    match store.command(id, command).await.unwrap_err() {
        Error::Refused(sentence) => sentence,
        other => panic!("{other}"),
    }
}

async fn in_review(store: &Store) -> Uuid {
    let job = running(store).await;
    let leave = JobExit::Review { result: json!({"summary": "s"}), reason: "ready".into() };
    commit(store, job.lease(), 0, &[Change::Exited(leave)]).await.unwrap();
    job.id
}

#[sqlx::test(migrations = "../../migrations")]
async fn pause_resume_cancel_retry(pool: PgPool) {
    let store = store(&pool);
    let id = pending(&store).await;
    assert_eq!(store.command(id, &Command::Pause).await.unwrap(), "paused");
    assert_eq!(column(&pool, id, "status_reason").await.as_deref(), Some("paused by a user"));
    let words = Command::Resume { feedback: Some("Mind the annex".into()), limits: None };
    execute(&pool, "UPDATE jobs SET updated_at = now() - interval '1 hour'").await.unwrap();
    assert_eq!(store.command(id, &words).await.unwrap(), "pending");
    assert_eq!(column(&pool, id, "updated_at > now() - interval '30 minutes'").await.as_deref(), Some("true"));
    assert_eq!(store.feedback(id).await.unwrap()[0].text, "Mind the annex");
    assert_eq!(column(&pool, id, "status_reason").await, None);
    assert_eq!(store.command(id, &Command::Cancel).await.unwrap(), "cancelled");
    assert!(column(&pool, id, "completed_at").await.is_some());
    assert_eq!(store.command(id, &Command::Retry).await.unwrap(), "pending");
    assert_eq!(column(&pool, id, "completed_at").await, None);
    assert_eq!(column(&pool, id, "feedback_untaken").await.as_deref(), Some("1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn retry_resets_the_counts_and_keeps_the_work(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[]).await.unwrap();
    commit(&store, job.lease(), 1, &[Change::Exited(JobExit::Failed(JobError::new("k", "broken")))]).await.unwrap();
    execute(&pool, "UPDATE jobs SET crash_count = 2").await.unwrap();
    store.command(job.id, &Command::Retry).await.unwrap();
    let row = column(&pool, job.id, "concat_ws(' ', status, attempt, crash_count, step, error_message, error_details)");
    assert_eq!(row.await.as_deref(), Some("pending 0 0 2"));
    let worker = worker(&store).await;
    assert_eq!(store.claim(worker, 1, None, LEASE_SECS).await.unwrap()[0].step, 2);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_review_ends_by_approval_or_continues_by_feedback(pool: PgPool) {
    let store = store(&pool);
    let approved = in_review(&store).await;
    assert_eq!(store.command(approved, &Command::Approve).await.unwrap(), "completed");
    assert!(column(&pool, approved, "completed_at").await.is_some());
    assert_eq!(column(&pool, approved, "result ->> 'summary'").await.as_deref(), Some("s"));

    let more = in_review(&store).await;
    assert_eq!(store.send_feedback(more, "Chapter 4 is missing").await.unwrap(), "pending");
    let resumed = in_review(&store).await;
    assert_eq!(store.command(resumed, &Command::Resume { feedback: None, limits: None }).await.unwrap(), "pending");
    assert!(store.feedback(resumed).await.unwrap().is_empty());
}

#[sqlx::test(migrations = "../../migrations")]
async fn each_refusal_names_the_job_and_its_status(pool: PgPool) {
    let store = store(&pool);
    let id = pending(&store).await;
    let resume = Command::Resume { feedback: None, limits: None };
    for (command, said) in [
        (&resume, "is pending: resume_job works on a job that is paused or review"),
        (&Command::Retry, "is pending: retry_job works on a job that is failed or cancelled"),
        (&Command::Approve, "is pending: approve_job works on a job that is review"),
    ] {
        assert_eq!(refused(&store, id, command).await, format!("job {id} {said}"));
    }
    store.command(id, &Command::Cancel).await.unwrap();
    for (command, name) in [(&Command::Cancel, "cancel_job"), (&Command::Pause, "pause_job"), (&resume, "resume_job")] {
        assert!(refused(&store, id, command).await.starts_with(&format!("job {id} is cancelled: {name} works on")));
    }
    let late = store.send_feedback(id, "too late").await.unwrap_err().to_string();
    assert!(late.starts_with(&format!("job {id} is cancelled: send_feedback works on")), "{late}");
    let nobody = Uuid::now_v7();
    assert_eq!(refused(&store, nobody, &Command::Cancel).await, format!("there is no job {nobody}"));
    let open = pending(&store).await;
    for blank in ["", "  ", "\n\t "] {
        let empty = store.send_feedback(open, blank).await.unwrap_err();
        assert_eq!(empty.to_string(), format!("job {open} is pending: send_feedback needs a text"));
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_command_opens_the_way_for_its_own_job_only(pool: PgPool) {
    let store = store(&pool);
    let (one, two) = (pending(&store).await, pending(&store).await);
    execute(&pool, "UPDATE jobs SET status = 'cancelled'").await.unwrap();
    let mut tx = pool.begin().await.unwrap();
    sqlx::query("SELECT retry_job($1)").bind(one).execute(&mut *tx).await.unwrap();
    let other = sqlx::query("UPDATE jobs SET status = 'pending' WHERE id = $1").bind(two).execute(&mut *tx).await;
    assert!(sentence(other.unwrap_err()).contains("use retry_job"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn users_call_them_with_the_documented_names(pool: PgPool) {
    let sql =
        "SELECT enqueue_job(prompt => 'p', job_type => 'creator', context => '{\"a\": 1}', document_name => 'd.md',
               document_content => 'text', priority => 3, run_at => now(), idempotency_key => 'k')";
    let id = value(&pool, sql).await.unwrap();
    for (call, status) in [
        (format!("pause_job(id => '{id}')"), "paused"),
        (format!("resume_job(id => '{id}', feedback => 'go on')"), "pending"),
        (format!("send_feedback(id => '{id}', text => 'and this')"), "pending"),
        (format!("cancel_job('{id}')"), "cancelled"),
        (format!("retry_job('{id}')"), "pending"),
    ] {
        assert_eq!(value(&pool, format!("SELECT {call}")).await.as_deref(), Some(status), "{call}");
    }
    assert_eq!(value(&pool, "SELECT feedback_untaken FROM jobs").await.as_deref(), Some("2"));
}
