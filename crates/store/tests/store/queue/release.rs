//! Giving jobs back outside a step.

use crate::support::{column, outcomes, pending, running, store, worker};
use plumbline_engine::JobError;
use plumbline_store::{Error, ReleaseReason};
use serde_json::json;
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn a_release_gives_the_attempt_back(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    store.release(&job.lease(), ReleaseReason::Drain).await.unwrap();
    assert_eq!(column(&pool, job.id, "status || ' ' || attempt").await.as_deref(), Some("pending 0"));
    assert_eq!(outcomes(&pool, job.id).await, "released");
    assert!(matches!(store.release(&job.lease(), ReleaseReason::Drain).await.unwrap_err(), Error::LeaseLost(_)));
    let worker = worker(&store).await;
    let again = store.claim(worker, 1, None).await.unwrap().remove(0);
    assert_eq!((again.attempt, again.lease_epoch), (1, 2));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_in_flight_at_a_release_is_known_to_be_unknown(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    pending(&store).await;
    for reason in [ReleaseReason::Abandoned, ReleaseReason::Orphaned] {
        let job = store.claim(worker, 1, None).await.unwrap().remove(0);
        store.release(&job.lease(), reason).await.unwrap();
        let again = store.claim(worker, 1, None).await.unwrap().remove(0);
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
