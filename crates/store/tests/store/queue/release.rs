//! Releasing jobs outside a step.

use crate::support::{LEASE_SECS, column, outcomes, pending, running, store, worker};
use plumbline_engine::JobError;
use plumbline_store::{Error, ReleaseReason};
use serde_json::json;
use sqlx::PgPool;
use std::time::Duration;

#[sqlx::test(migrations = "../../migrations")]
async fn a_release_gives_the_attempt_back(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    store.release(&job.lease(), ReleaseReason::Drain).await.unwrap();
    assert_eq!(column(&pool, job.id, "status || ' ' || attempt").await.as_deref(), Some("pending 0"));
    assert_eq!(outcomes(&pool, job.id).await, "released");
    assert!(matches!(store.release(&job.lease(), ReleaseReason::Drain).await.unwrap_err(), Error::LeaseLost(_)));
    let worker = worker(&store).await;
    let again = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    assert_eq!((again.attempt, again.lease_epoch), (1, 2));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_in_flight_at_a_release_is_known_to_be_unknown(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    pending(&store).await;
    for reason in [ReleaseReason::Abandoned, ReleaseReason::Orphaned] {
        let job = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
        store.release(&job.lease(), reason).await.unwrap();
        let again = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
        assert_eq!(again.attempt, 1, "{reason:?}");
        store.release(&again.lease(), ReleaseReason::Drain).await.unwrap();
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_cannot_run_fails_with_the_reason(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let error = JobError::new("configuration", "there is no job type `kreator`, did you mean `creator`?");
    store.reject(&job.lease(), &error).await.unwrap();
    let detail = store.job_detail(job.id).await.unwrap().unwrap();
    assert_eq!((detail.status.as_str(), detail.error_message), ("failed", Some(error.message.clone())));
    let details = detail.error_details.unwrap();
    assert_eq!((&details["kind"], &details["first_error"]), (&json!("configuration"), &json!(error.message)));
    assert_eq!(outcomes(&pool, job.id).await, "ended");
    assert!(matches!(store.reject(&job.lease(), &error).await.unwrap_err(), Error::LeaseLost(_)));
}

/// The server's error with this SQLSTATE.
async fn raised(pool: &PgPool, code: &str) -> Error {
    let raise = format!("DO $$ BEGIN RAISE EXCEPTION 'trouble' USING ERRCODE = '{code}'; END $$");
    let source = sqlx::query(sqlx::AssertSqlSafe(raise)).execute(pool).await.unwrap_err();
    Error::Database { doing: "try", source }
}

/// One code of each class in the PostgreSQL manual's appendix A.
#[sqlx::test(migrations = "../../migrations")]
async fn of_all_classes_of_errors_four_are_the_jobs_fault(pool: PgPool) {
    for code in ["22021", "23505", "54000", "P0001"] {
        assert!(raised(&pool, code).await.is_of_the_job(), "{code}");
    }
    for code in [
        "03000", "08006", "09000", "0A000", "0B000", "0F000", "0L000", "0P000", "0Z000", "10608", "20000", "21000",
        "24000", "25P02", "25P04", "26000", "27000", "28000", "2B000", "2D000", "2F000", "34000", "38000", "39000",
        "3B000", "3D000", "3F000", "40001", "40003", "42P01", "42501", "44000", "53400", "55000", "57P05", "58030",
        "58P01", "72000", "F0000", "HV000", "P0002", "XX000",
    ] {
        let error = raised(&pool, code).await;
        assert!(!error.is_of_the_job(), "{code}");
        assert_eq!((error.kind().as_str(), error.wants_new_connections()), (code, ["26000", "0A000"].contains(&code)));
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn trouble_that_is_not_the_jobs_gives_it_back_with_a_growing_wait_and_fails_it_after_a_day(pool: PgPool) {
    const DAY: Duration = Duration::from_secs(86_400);
    let store = store(&pool);
    let worker = worker(&store).await;
    let id = pending(&store).await;
    let say = async |sql: &str| {
        sqlx::query(sqlx::AssertSqlSafe(format!("UPDATE jobs SET {sql} WHERE id = '{id}'")))
            .execute(&pool)
            .await
            .unwrap()
    };
    let give_back = async |reason: &str, code: &str| {
        say("run_at = now()").await;
        let job = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
        assert_eq!(job.attempt, 1, "an attempt that met trouble does not count");
        store.give_back(&job.lease(), reason, code, DAY).await.unwrap()
    };
    let waits = "status || ' ' || round(extract(epoch FROM run_at - updated_at))";
    for (reason, code, wait) in [("one", "XX000", 1), ("two", "XX000", 2), ("three", "XX000", 4), ("other", "58P01", 1)]
    {
        assert!(!give_back(reason, code).await);
        assert_eq!(column(&pool, id, waits).await, Some(format!("pending {wait}")), "{reason}");
        assert_eq!(column(&pool, id, "status_reason").await.as_deref(), Some(reason));
    }
    let times = "(error_details ->> 'first_error') || ' ' || (error_details ->> 'last_error') || ' ' ||
                 ((error_details ->> 'first_error_at')::timestamptz < (error_details ->> 'last_error_at')::timestamptz)";
    assert!(!give_back("once more", "58P01").await);
    assert_eq!(column(&pool, id, times).await.as_deref(), Some("other once more true"));
    // A job that made progress starts again.
    say("step = step + 1").await;
    assert!(!give_back("later", "58P01").await);
    assert_eq!(column(&pool, id, waits).await.as_deref(), Some("pending 1"));
    say("error_details = jsonb_set(error_details, '{first_error_at}', to_jsonb(now() - interval '25 hours'))").await;
    assert!(give_back("the last", "58P01").await);
    let detail = store.job_detail(id).await.unwrap().unwrap();
    assert_eq!((detail.status.as_str(), &detail.error_details.unwrap()["kind"]), ("failed", &json!("internal")));
    let message = detail.error_message.unwrap();
    assert!(message.contains("first \"later\"") && message.contains("last \"the last\""), "{message}");
}
