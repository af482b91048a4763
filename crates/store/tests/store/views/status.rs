//! The views for people.

use crate::support::{commit, execute, pending, running, store, value};
use plumbline_engine::{Change, FileWrite, Product};
use plumbline_store::{ConnectOptions, Error, JobFilter, NewJob, READ_ONLY, Store};
use sqlx::{PgPool, postgres::PgConnectOptions};
use uuid::Uuid;

#[sqlx::test(migrations = "../../migrations")]
async fn the_overview_lists_the_newest_first(pool: PgPool) {
    let store = store(&pool);
    let first = pending(&store).await;
    execute(&pool, "UPDATE jobs SET created_at = now() - interval '1 day'").await.unwrap();
    running(&store).await;
    let listed = store.job_page(&JobFilter::default(), 10).await.unwrap();
    assert_eq!(listed.len(), 2);
    let ids: Vec<Uuid> = listed.iter().map(|job| job.id).collect();
    assert_eq!(ids[1], first);
    assert_ne!(ids[0], first);
    assert_eq!(store.job_page(&JobFilter::default(), 1).await.unwrap().len(), 1);
    let json = serde_json::to_value(&listed[0]).unwrap();
    assert_eq!(json["todos_total"], 0);
}

#[sqlx::test(migrations = "../../migrations")]
async fn nobody_is_nobody(pool: PgPool) {
    let store = store(&pool);
    let nobody = Uuid::now_v7();
    assert!(store.job_detail(nobody).await.unwrap().is_none());
    assert!(store.watch(nobody).await.unwrap().is_none());
    assert!(store.todos_of(nobody).await.unwrap().is_empty());
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_server_and_the_queue_answer(pool: PgPool) {
    let store = store(&pool);
    let health = store.health().await.unwrap();
    assert!(health.server_version_num >= 150_000 && !health.read_only);
    let apart = (health.server_time - chrono::Utc::now()).num_seconds().abs();
    assert!(apart < 60, "the same machine's clock");

    let read_only = PgConnectOptions::clone(&pool.connect_options()).options([("default_transaction_read_only", "on")]);
    let standby = Store::from_pool(PgPool::connect_with(read_only).await.unwrap());
    assert!(standby.health().await.unwrap().read_only);
    let refused = standby.enqueue(&NewJob::new("Merge")).await.unwrap_err();
    assert!(refused.is_transient() && refused.to_string().ends_with(READ_ONLY), "{refused}");

    let counts = store.queue_counts(None).await.unwrap();
    assert!(counts.is_idle());
    running(&store).await;
    pending(&store).await;
    execute(&pool, "UPDATE jobs SET run_at = now() - interval '90 seconds' WHERE status = 'pending'").await.unwrap();
    let counts = store.queue_counts(None).await.unwrap();
    assert_eq!((counts.runnable, counts.running, counts.live_workers, counts.is_idle()), (1, 1, 1, false));
    assert!((90..600).contains(&counts.oldest_wait_secs));
    let other = store.queue_counts(Some(&["validator".to_owned()])).await.unwrap();
    assert!(other.is_idle());
}

#[sqlx::test(migrations = "../../migrations")]
async fn deleting_a_job_takes_all_that_belongs_to_it(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    store.send_feedback(job.id, "words").await.unwrap();
    let file = Change::Product(Product::WriteFile(FileWrite::text("a.md", "a")));
    commit(&store, job.lease(), 0, &[file]).await.unwrap();
    execute(&pool, "DELETE FROM jobs").await.unwrap();
    let left = "SELECT (SELECT count(*) FROM blobs) + (SELECT count(*) FROM file_versions)
                + (SELECT count(*) FROM checkpoints) + (SELECT count(*) FROM feedback) + (SELECT count(*) FROM attempts)";
    assert_eq!(value(&pool, left).await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_absent_server_is_reported_at_once(pool: PgPool) {
    drop(pool);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://nobody@{free}/none");
    let error = Store::connect(&url, ConnectOptions::default()).await.unwrap_err();
    assert!(matches!(error, Error::Database { .. }) && error.is_transient(), "{error}");
    assert!(error.to_string().contains("check DATABASE_URL"), "{error}");
    let malformed = Store::connect("nonsense", ConnectOptions::default()).await.unwrap_err();
    assert!(!malformed.is_transient(), "{malformed}");
}
