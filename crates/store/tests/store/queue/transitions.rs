//! Which changes a plain UPDATE of `jobs.status` may make.

use crate::support::{LEASE_SECS, column, execute, outcomes, pending, running, sentence, store, worker};
use plumbline_store::Store;
use sqlx::PgPool;
use uuid::Uuid;

const STATUSES: [&str; 7] = ["pending", "running", "paused", "review", "completed", "failed", "cancelled"];

/// A job brought into a status by regular transitions.
async fn in_status(store: &Store, pool: &PgPool, status: &str) -> Uuid {
    match status {
        "pending" => pending(store).await,
        "running" => running(store).await.id,
        _ => {
            let id = running(store).await.id;
            execute(pool, format!("UPDATE jobs SET status = '{status}' WHERE id = '{id}'")).await.unwrap();
            id
        }
    }
}

fn allowed(from: &str, to: &str) -> bool {
    let targets: &[&str] = match from {
        "pending" => &["paused", "cancelled"],
        "running" => &["pending", "paused", "review", "completed", "failed", "cancelled"],
        "paused" | "review" => &["pending", "cancelled"],
        _ => &[],
    };
    from == to || targets.contains(&to)
}

#[sqlx::test(migrations = "../../migrations")]
async fn every_pair_is_allowed_or_refused_with_one_sentence(pool: PgPool) {
    let store = store(&pool);
    for from in STATUSES {
        for to in STATUSES {
            let id = in_status(&store, &pool, from).await;
            let updated = execute(&pool, format!("UPDATE jobs SET status = '{to}' WHERE id = '{id}'")).await;
            if allowed(from, to) {
                updated.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
                assert_eq!(column(&pool, id, "status").await.as_deref(), Some(to));
            } else {
                let said = sentence(updated.expect_err(&format!("{from} to {to}")));
                assert!(said.starts_with(&format!("job {id} is {from} and cannot become {to}: ")), "{said}");
            }
            execute(&pool, "DELETE FROM jobs").await.unwrap();
        }
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_plain_cancel_ends_the_job_in_order(pool: PgPool) {
    let store = store(&pool);
    let waiting = pending(&store).await;
    let job = running(&store).await;
    execute(&pool, "UPDATE jobs SET status = 'cancelled'").await.unwrap();
    for id in [waiting, job.id] {
        assert!(column(&pool, id, "completed_at").await.is_some());
        assert_eq!(column(&pool, id, "worker_id").await, None);
    }
    // One of the two was the claimed one.
    let ran = job.id;
    assert_eq!(outcomes(&pool, ran).await, "lost");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_taken_away_by_pausing_comes_back_with_its_attempt(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    execute(&pool, "UPDATE jobs SET status = 'paused'").await.unwrap();
    execute(&pool, "UPDATE jobs SET status = 'pending'").await.unwrap();
    let worker = worker(&store).await;
    let again = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    assert_eq!((again.id, again.attempt), (job.id, 1), "a pause does not use up an attempt");
}
