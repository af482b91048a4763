//! Notices of new jobs and changed statuses.

use crate::support::{LEASE_SECS, commit, execute, running, store, until, value, worker};
use plumbline_store::{JobNotice, NewJob};
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn inserts_and_changes_of_status_are_notified_and_steps_are_not(pool: PgPool) {
    let store = store(&pool);
    let mut listener = store.listen().await.unwrap();
    let id = store.enqueue(&NewJob::new("x")).await.unwrap();
    let worker = worker(&store).await;
    let job = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    execute(&pool, "NOTIFY plumbline_jobs, 'not ours'").await.unwrap();
    commit(&store, job.lease(), 0, &[]).await.unwrap();
    commit(&store, job.lease(), 1, &[]).await.unwrap();
    execute(&pool, "UPDATE jobs SET priority = 4").await.unwrap();
    execute(&pool, "UPDATE jobs SET status = 'cancelled'").await.unwrap();
    for status in ["pending", "running", "cancelled"] {
        let notice = listener.next().await.unwrap();
        assert_eq!(notice, Some(JobNotice { id, status: Some(status.into()) }));
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_broken_connection_is_reported_and_replaced(pool: PgPool) {
    let store = store(&pool);
    let mut listener = store.listen().await.unwrap();
    let listening = "FROM pg_stat_activity
                     WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'";
    let broken = value(&pool, format!("SELECT pid {listening}")).await.expect("somebody listens");
    assert_eq!(value(&pool, format!("SELECT pg_terminate_backend({broken})")).await.as_deref(), Some("true"));
    assert_eq!(listener.next().await.unwrap(), None, "notices may be lost: time to poll");
    let next = tokio::spawn(async move { listener.next().await.unwrap() });
    // The ended session may be visible for a moment longer.
    until(&pool, &format!("SELECT count(*) = 1 {listening} AND pid <> {broken}")).await;
    let job = running(&store).await;
    assert_eq!(next.await.unwrap(), Some(JobNotice { id: job.id, status: Some("pending".into()) }));
}
