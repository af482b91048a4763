//! Jobs of dead workers.

use crate::support::{LEASE_SECS, column, commit, execute, outcomes, pending, running, store, value, worker};
use plumbline_store::{ClaimedJob, NewJob, Store};
use sqlx::PgPool;

/// The worker dies: its last heartbeat was an hour ago.
async fn age(pool: &PgPool) {
    execute(pool, "UPDATE workers SET heartbeat_at = now() - interval '1 hour'").await.unwrap();
}

/// Another worker claims the job.
async fn claim(store: &Store) -> ClaimedJob {
    let worker = worker(store).await;
    store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0)
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_dead_workers_job_is_pending_again_and_a_living_ones_is_not(pool: PgPool) {
    let store = store(&pool);
    let dead = running(&store).await;
    age(&pool).await;
    let alive = running(&store).await;
    let rescued = store.sweep(LEASE_SECS).await.unwrap();
    assert_eq!(rescued.iter().map(|job| (job.lease(), job.failed)).collect::<Vec<_>>(), [(dead.lease(), false)]);
    assert_eq!(column(&pool, dead.id, "status || ' ' || crash_count").await.as_deref(), Some("pending 1"));
    assert_eq!(column(&pool, alive.id, "status").await.as_deref(), Some("running"));
    assert_eq!(outcomes(&pool, dead.id).await, "crashed");
    assert!(store.sweep(LEASE_SECS).await.unwrap().is_empty());

    let again = claim(&store).await;
    assert_eq!((again.id, again.attempt), (dead.id, 2));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_worker_whose_row_is_gone_is_dead(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    execute(&pool, "DELETE FROM workers").await.unwrap();
    assert_eq!(store.sweep(LEASE_SECS).await.unwrap()[0].job_id, job.id);
}

#[sqlx::test(migrations = "../../migrations")]
async fn three_crashes_at_one_step_are_enough(pool: PgPool) {
    let store = store(&pool);
    let id = store.enqueue(&NewJob::new("kills its worker")).await.unwrap();
    execute(&pool, "UPDATE jobs SET max_attempts = 99").await.unwrap();
    let mut failed = Vec::new();
    for suspected in [false, false, true] {
        let job = claim(&store).await;
        assert_eq!(job.is_suspect, suspected, "after {} crashes", failed.len());
        if suspected {
            store.run_alone(&job.lease()).await.unwrap();
        }
        age(&pool).await;
        failed.push(store.sweep(LEASE_SECS).await.unwrap()[0].failed);
    }
    assert_eq!(failed, [false, false, true]);
    let detail = store.job_detail(id).await.unwrap().unwrap();
    assert_eq!(detail.status, "failed");
    assert_eq!(
        detail.error_message.as_deref(),
        Some("the job killed its worker three times at step 0 and is not run again by itself")
    );
    assert_eq!(outcomes(&pool, id).await, "crashed crashed crashed");
}

#[sqlx::test(migrations = "../../migrations")]
async fn no_job_fails_for_what_another_job_did(pool: PgPool) {
    let store = store(&pool);
    let (one, two) = (pending(&store).await, pending(&store).await);
    for crash in 1..=5 {
        let worker = worker(&store).await;
        let claimed = store.claim(worker, 2, None, LEASE_SECS).await.unwrap();
        assert_eq!(claimed.iter().filter(|job| job.is_suspect).count(), if crash > 2 { 2 } else { 0 }, "crash {crash}");
        age(&pool).await;
        assert!(store.sweep(LEASE_SECS).await.unwrap().iter().all(|job| !job.failed), "crash {crash}");
    }
    for id in [one, two] {
        assert_eq!(column(&pool, id, "status").await.as_deref(), Some("pending"));
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_count_at_its_columns_end_keeps_no_sweep_from_its_work(pool: PgPool) {
    let store = store(&pool);
    let (odd, other) = (running(&store).await, running(&store).await);
    sqlx::query("UPDATE jobs SET crash_count = 2147483647 WHERE id = $1").bind(odd.id).execute(&pool).await.unwrap();
    store.run_alone(&odd.lease()).await.unwrap();
    age(&pool).await;
    let mut swept: Vec<_> =
        store.sweep(LEASE_SECS).await.unwrap().into_iter().map(|job| (job.job_id, job.failed)).collect();
    swept.sort_unstable();
    let mut expected = [(odd.id, true), (other.id, false)];
    expected.sort_unstable();
    assert_eq!(swept, expected);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_gets_on_outlives_any_number_of_workers(pool: PgPool) {
    let store = store(&pool);
    pending(&store).await;
    for step in 0..6 {
        let job = claim(&store).await;
        commit(&store, job.lease(), step, &[]).await.unwrap();
        age(&pool).await;
        assert!(!store.sweep(LEASE_SECS).await.unwrap()[0].failed, "step {step}");
    }
    assert_eq!(claim(&store).await.step, 6);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_users_bound_on_attempts_holds(pool: PgPool) {
    let store = store(&pool);
    execute(&pool, "INSERT INTO jobs (prompt, max_attempts) VALUES ('once', 1)").await.unwrap();
    let job = claim(&store).await;
    age(&pool).await;
    assert!(store.sweep(LEASE_SECS).await.unwrap()[0].failed);
    let message = column(&pool, job.id, "error_message").await;
    assert_eq!(message.as_deref(), Some("the job's worker died in attempt 1 of 1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_large_workers_jobs_are_all_taken_back_and_only_once(pool: PgPool) {
    let store = store(&pool);
    execute(&pool, "INSERT INTO jobs (prompt) SELECT 'x' FROM generate_series(1, 450)").await.unwrap();
    let worker = worker(&store).await;
    assert_eq!(store.claim(worker, 450, None, LEASE_SECS).await.unwrap().len(), 450);
    age(&pool).await;
    let (one, two) = tokio::join!(store.sweep(LEASE_SECS), store.sweep(LEASE_SECS));
    let (mut one, two) = (one.unwrap(), two.unwrap());
    one.extend(two);
    one.extend(store.sweep(LEASE_SECS).await.unwrap());
    assert_eq!(one.len(), 450);
    assert_eq!(value(&pool, "SELECT count(*) FROM jobs WHERE crash_count = 1").await.as_deref(), Some("450"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn rows_of_long_dead_workers_go(pool: PgPool) {
    let store = store(&pool);
    worker(&store).await;
    worker(&store).await;
    execute(&pool, "UPDATE workers SET heartbeat_at = now() - interval '2 days' WHERE id = (SELECT min(id::text)::uuid FROM workers)")
        .await
        .unwrap();
    store.sweep(LEASE_SECS).await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM workers").await.as_deref(), Some("1"));
}
