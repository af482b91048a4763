//! Jobs of a type that no live worker knows.

use crate::support::{LEASE_SECS, column, execute, outcomes, pending, sentence, store, value, worker};
use plumbline_engine::JobError;
use plumbline_store::{Knowing, NewJob, NewWorker, Store};
use sqlx::PgPool;
use std::time::Duration;
use uuid::Uuid;

const DAY: Duration = Duration::from_secs(86_400);
const REASON: &str = "no live worker knows the job type `comparison`; it waits for one that does";

async fn comparing_worker(store: &Store) -> Uuid {
    worker_with(store, &["creator", "comparison"], serde_json::Map::new()).await
}

async fn worker_with(
    store: &Store,
    job_types: &[&str],
    broken_types: serde_json::Map<String, serde_json::Value>,
) -> Uuid {
    let id = Uuid::now_v7();
    let job_types = job_types.iter().map(ToString::to_string).collect();
    let worker = NewWorker {
        id,
        hostname: "host".into(),
        version: "0.2.0".into(),
        concurrency: 4,
        job_types,
        broken_types,
        limits_ceilings: serde_json::json!({}),
    };
    store.register_worker(&worker).await.unwrap();
    id
}

async fn comparison(store: &Store) -> Uuid {
    store.enqueue(&NewJob { job_type: "comparison".into(), ..NewJob::new("Compare the contracts") }).await.unwrap()
}

async fn reason(pool: &PgPool, job: Uuid) -> Option<String> {
    column(pool, job, "status_reason").await
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_of_an_unknown_type_has_the_reason_until_a_worker_knows_the_type(pool: PgPool) {
    let store = store(&pool);
    worker(&store).await;
    let (unknown, known) = (comparison(&store).await, pending(&store).await);
    assert!(!store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap());
    assert_eq!((reason(&pool, unknown).await.as_deref(), reason(&pool, known).await), (Some(REASON), None));
    assert_eq!(
        store.workers_knowing("comparison", LEASE_SECS).await.unwrap(),
        Knowing { live: 1, knowing: 0, broken: None }
    );

    let newer = comparing_worker(&store).await;
    assert_eq!(
        store.workers_knowing("comparison", LEASE_SECS).await.unwrap(),
        Knowing { live: 2, knowing: 1, broken: None }
    );
    for _ in 0..2 {
        store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap();
    }
    assert_eq!(reason(&pool, unknown).await, None);
    assert_eq!(value(&pool, "SELECT count(*) FROM unknown_job_types").await.as_deref(), Some("0"));

    // Its heartbeat stops: the wait starts again.
    execute(&pool, format!("UPDATE workers SET heartbeat_at = now() - interval '1 hour' WHERE id = '{newer}'"))
        .await
        .unwrap();
    store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap();
    assert_eq!(reason(&pool, unknown).await.as_deref(), Some(REASON));
    assert_eq!(column(&pool, unknown, "concat_ws(' ', status, attempt)").await.as_deref(), Some("pending 0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_has_waited_long_enough_can_be_failed_and_nothing_else(pool: PgPool) {
    let store = store(&pool);
    let sweeper = worker(&store).await;
    let (old, young, later) = (comparison(&store).await, comparison(&store).await, comparison(&store).await);
    store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap();
    execute(&pool, format!("UPDATE jobs SET created_at = now() - interval '3 days', run_at = now() - interval '3 days' WHERE id IN ('{old}', '{later}')"))
        .await
        .unwrap();
    execute(&pool, format!("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = '{later}'")).await.unwrap();
    let take = async || store.take_unknown(sweeper, DAY, LEASE_SECS).await.unwrap();
    assert_eq!(take().await, [], "the type was known until a moment ago");

    execute(&pool, "UPDATE unknown_job_types SET since = now() - interval '2 days'").await.unwrap();
    assert!(!store.note_unknown_types(LEASE_SECS, None).await.unwrap(), "there is no end to it");
    assert!(store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap());
    let taken = take().await;
    assert_eq!(taken.iter().map(|job| job.lease.job_id).collect::<Vec<_>>(), [old]);
    store.reject(&taken[0].lease, &JobError::new("configuration", "nobody knows it")).await.unwrap();
    assert_eq!(column(&pool, old, "status").await.as_deref(), Some("failed"));
    assert_eq!(outcomes(&pool, old).await, "ended");
    for waiting in [young, later] {
        assert_eq!(column(&pool, waiting, "status").await.as_deref(), Some("pending"));
    }

    // After a retry, it waits as long again.
    sqlx::query("SELECT retry_job($1)").bind(old).execute(&pool).await.unwrap();
    assert_eq!(take().await, []);
    comparing_worker(&store).await;
    execute(&pool, "UPDATE jobs SET created_at = now() - interval '9 days', run_at = now() - interval '9 days'")
        .await
        .unwrap();
    assert_eq!(take().await, [], "somebody knows the type");
}

/// An error in a type's files is shown to its jobs verbatim, and the timeout of unknown types does not run.
#[sqlx::test(migrations = "../../migrations")]
async fn a_type_whose_files_a_live_worker_cannot_use_waits_without_an_end(pool: PgPool) {
    const MISTAKE: &str = "comparison/config.json:2: unknown key `autonomie`";
    let store = store(&pool);
    let sweeper = worker(&store).await;
    let job = comparison(&store).await;
    store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap();
    assert_eq!(reason(&pool, job).await.as_deref(), Some(REASON));
    let broken = serde_json::Map::from_iter([("comparison".to_owned(), MISTAKE.into())]);
    let having = worker_with(&store, &["creator"], broken).await;
    execute(&pool, "UPDATE unknown_job_types SET since = since - interval '2 days'").await.unwrap();
    execute(&pool, "UPDATE jobs SET created_at = now() - interval '3 days', run_at = now() - interval '3 days'")
        .await
        .unwrap();
    assert!(!store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap());
    assert_eq!(reason(&pool, job).await.as_deref(), Some(MISTAKE));
    assert_eq!(store.take_unknown(sweeper, DAY, LEASE_SECS).await.unwrap(), []);
    let knowing = store.workers_knowing("comparison", LEASE_SECS).await.unwrap();
    assert_eq!(knowing, Knowing { live: 2, knowing: 0, broken: Some(MISTAKE.to_owned()) });

    // Its worker exits: no live worker has the files, and the timeout starts.
    execute(&pool, format!("UPDATE workers SET heartbeat_at = now() - interval '1 hour' WHERE id = '{having}'"))
        .await
        .unwrap();
    assert!(!store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap(), "it has just begun");
    assert_eq!(reason(&pool, job).await.as_deref(), Some(REASON));
    let runs = "SELECT isfinite(since) AND since > now() - interval '1 hour' FROM unknown_job_types";
    assert_eq!(value(&pool, runs).await.as_deref(), Some("true"));
    comparing_worker(&store).await;
    for _ in 0..2 {
        store.note_unknown_types(LEASE_SECS, Some(DAY)).await.unwrap();
    }
    assert_eq!(reason(&pool, job).await, None);
}

/// A type that no worker can ever know is a slip of the caller; it is not left to wait.
#[sqlx::test(migrations = "../../migrations")]
async fn an_empty_type_is_refused_and_an_absent_one_is_the_default(pool: PgPool) {
    for blank in ["", " "] {
        let enqueued = execute(&pool, format!("SELECT enqueue_job('x', job_type => '{blank}')")).await;
        let refused = sentence(enqueued.expect_err("there is no such type"));
        assert!(refused.contains("job_type is empty; leave it out for creator"), "{refused}");
    }
    execute(&pool, "SELECT enqueue_job('x', job_type => NULL)").await.unwrap();
    assert_eq!(value(&pool, "SELECT string_agg(job_type, ' ') FROM jobs").await.as_deref(), Some("creator"));
}
