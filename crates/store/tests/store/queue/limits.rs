//! Concurrency limits, counted from rows by the claim.

use crate::support::{LEASE_SECS, column, execute, store, value, worker};
use plumbline_store::{ReleaseReason, Store};
use sqlx::PgPool;
use uuid::Uuid;

async fn limit(pool: &PgPool, job_type: &str, key: &str, most: i32) {
    let sql = format!("INSERT INTO concurrency_limits VALUES ('{job_type}', '{key}', {most})");
    execute(pool, sql).await.unwrap();
}

/// This many waiting jobs of a type, with a key unless it is empty.
async fn waiting(pool: &PgPool, count: u32, job_type: &str, key: &str) {
    let context = if key.is_empty() { "{}".into() } else { format!(r#"{{"concurrency_key": "{key}"}}"#) };
    let sql = format!(
        "INSERT INTO jobs (prompt, job_type, context) SELECT 'x', '{job_type}', '{context}' FROM generate_series(1, {count})"
    );
    execute(pool, sql).await.unwrap();
}

/// Claims and returns the number of claimed jobs by type and key.
async fn claim(store: &Store, pool: &PgPool, most: i64) -> Vec<String> {
    let worker = worker(store).await;
    let mut claimed = Vec::new();
    for job in store.claim(worker, most, None, LEASE_SECS).await.unwrap() {
        claimed.push(column(pool, job.id, "job_type || ' ' || concurrency_key").await.unwrap().trim().to_owned());
    }
    claimed.sort();
    claimed
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_type_has_its_limit_and_gets_slots_back(pool: PgPool) {
    let store = store(&pool);
    limit(&pool, "creator", "", 2).await;
    waiting(&pool, 5, "creator", "").await;
    waiting(&pool, 1, "validator", "").await;
    assert_eq!(claim(&store, &pool, 9).await, ["creator", "creator", "validator"]);
    assert!(claim(&store, &pool, 9).await.is_empty());
    // However a job exits, its slot becomes free.
    execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE status = 'running'").await.unwrap();
    assert_eq!(claim(&store, &pool, 9).await.len(), 2);
    execute(&pool, "UPDATE concurrency_limits SET max_running = 3").await.unwrap();
    assert_eq!(claim(&store, &pool, 9).await.len(), 1);
    execute(&pool, "UPDATE concurrency_limits SET max_running = 0").await.unwrap();
    assert!(claim(&store, &pool, 9).await.is_empty());
    execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE status = 'running'").await.unwrap();
    waiting(&pool, 1, "creator", "").await;
    assert!(claim(&store, &pool, 9).await.is_empty());
    assert!(store.queue_counts(None).await.unwrap().is_idle(), "what is stopped keeps nobody waiting for it");
    execute(&pool, "DELETE FROM concurrency_limits").await.unwrap();
    waiting(&pool, 4, "creator", "").await;
    assert_eq!(claim(&store, &pool, 9).await.len(), 5, "without a limit there is none");
}

#[sqlx::test(migrations = "../../migrations")]
async fn keys_have_limits_of_their_own_within_that_of_the_type(pool: PgPool) {
    let store = store(&pool);
    limit(&pool, "creator", "*", 1).await;
    limit(&pool, "creator", "big", 3).await;
    for key in ["a", "b", "big", ""] {
        waiting(&pool, 4, "creator", key).await;
    }
    waiting(&pool, 2, "validator", "a").await;
    assert_eq!(
        claim(&store, &pool, 99).await,
        [
            "creator",
            "creator",
            "creator",
            "creator",
            "creator a",
            "creator b",
            "creator big",
            "creator big",
            "creator big",
            "validator a",
            "validator a"
        ]
    );
    assert!(claim(&store, &pool, 99).await.is_empty());

    // The type's own limit applies to all its keys together.
    execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE status = 'running'").await.unwrap();
    limit(&pool, "creator", "", 2).await;
    assert_eq!(claim(&store, &pool, 99).await.len(), 2);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_full_lane_does_not_delay_the_jobs_after_it(pool: PgPool) {
    let store = store(&pool);
    limit(&pool, "creator", "", 1).await;
    execute(
        &pool,
        "INSERT INTO jobs (prompt, job_type, priority)
         SELECT 'x', CASE WHEN n <= 200 THEN 'creator' ELSE 'validator' END, 1000 - n FROM generate_series(1, 203) n",
    )
    .await
    .unwrap();
    assert_eq!(claim(&store, &pool, 3).await, ["creator", "validator", "validator"]);
    assert_eq!(claim(&store, &pool, 3).await, ["validator"]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn rivals_together_never_exceed_a_limit(pool: PgPool) {
    let store = store(&pool);
    limit(&pool, "creator", "", 7).await;
    limit(&pool, "creator", "*", 3).await;
    for key in ["", "a", "b", "c"] {
        waiting(&pool, 60, "creator", key).await;
    }
    let rivals: Vec<_> = (0..12).map(|_| tokio::spawn(rival(store.clone(), pool.clone()))).collect();
    let mut most = (0, 0);
    for rival in rivals {
        let (of_type, of_key) = rival.await.unwrap();
        most = (most.0.max(of_type), most.1.max(of_key));
    }
    assert_eq!(most.0, 7, "the limit is used and kept");
    assert!(most.1 <= 3, "{most:?}");
    assert_eq!(value(&pool, "SELECT count(*) FROM jobs WHERE status = 'pending'").await.as_deref(), Some("0"));
}

/// Claims, counts running jobs and ends its own, until none waits. Returns the maximum of running jobs.
async fn rival(store: Store, pool: PgPool) -> (i64, i64) {
    let worker: Uuid = worker(&store).await;
    let mut most = (0, 0);
    loop {
        let claimed = store.claim(worker, 5, None, LEASE_SECS).await.unwrap();
        let running: Vec<(String, i64)> =
            sqlx::query_as("SELECT concurrency_key, count(*) FROM jobs WHERE status = 'running' GROUP BY 1")
                .fetch_all(&pool)
                .await
                .unwrap();
        most.0 = most.0.max(running.iter().map(|(_, count)| count).sum());
        most.1 = most.1.max(running.iter().filter(|(key, _)| !key.is_empty()).map(|(_, n)| *n).max().unwrap_or(0));
        for (job, place) in claimed.iter().zip(0..) {
            if place == 4 {
                store.release(&job.lease(), ReleaseReason::Drain).await.unwrap();
            } else {
                execute(&pool, format!("UPDATE jobs SET status = 'cancelled' WHERE id = '{}'", job.id)).await.unwrap();
            }
        }
        let done = "SELECT NOT EXISTS (SELECT FROM jobs WHERE status = 'pending')";
        if value(&pool, done).await.as_deref() == Some("true") {
            return most;
        }
    }
}
