//! Job types that only some workers know, as in the middle of a rollout.

use crate::support::{column, execute, outcomes, running, store, worker};
use plumbline_store::{Error, NewWorker, Store};
use sqlx::PgPool;
use uuid::Uuid;

const LEASE_SECS: u32 = 45;

async fn newer_worker(store: &Store, job_type: &str) -> Uuid {
    let id = Uuid::now_v7();
    let job_types = vec!["creator".into(), job_type.into()];
    let worker = NewWorker { id, hostname: "host".into(), version: "0.2.0".into(), concurrency: 4, job_types };
    store.register_worker(&worker).await.unwrap();
    id
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_waits_for_the_worker_that_knows_its_type(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let newer = newer_worker(&store, &job.job_type).await;
    assert!(store.defer_unknown_type(&job.lease(), LEASE_SECS).await.unwrap());
    let row = column(
        &pool,
        job.id,
        "concat_ws(' ', status, attempt, run_at BETWEEN now() + interval '4 seconds' AND now() + interval '10 seconds')",
    );
    assert_eq!(row.await.as_deref(), Some("pending 0 t"));
    let reason = column(&pool, job.id, "status_reason").await.unwrap();
    assert_eq!(reason, format!("its worker does not know the job type `{}`; it waits for one that does", job.job_type));
    assert_eq!(outcomes(&pool, job.id).await, "released");
    assert!(matches!(store.defer_unknown_type(&job.lease(), LEASE_SECS).await.unwrap_err(), Error::LeaseLost(_)));

    execute(&pool, "UPDATE jobs SET run_at = now()").await.unwrap();
    let again = store.claim(newer, 1, None).await.unwrap().remove(0);
    assert_eq!((again.id, again.attempt, again.interrupted), (job.id, 1, false));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_type_that_no_living_worker_knows_is_not_deferred(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    worker(&store).await;
    assert!(!store.defer_unknown_type(&job.lease(), LEASE_SECS).await.unwrap());
    let dead = newer_worker(&store, &job.job_type).await;
    execute(&pool, format!("UPDATE workers SET heartbeat_at = now() - interval '1 minute' WHERE id = '{dead}'"))
        .await
        .unwrap();
    assert!(!store.defer_unknown_type(&job.lease(), LEASE_SECS).await.unwrap());
    assert_eq!(column(&pool, job.id, "status").await.as_deref(), Some("running"), "it is still held, to be failed");
}
