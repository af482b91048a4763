//! Claims: order, races, what they return.

use crate::support::{column, execute, outcomes, pending, store, worker};
use plumbline_store::NewJob;
use sqlx::PgPool;
use std::{collections::HashSet, time::Duration};
use uuid::Uuid;

#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_opens_an_attempt_and_returns_the_job(pool: PgPool) {
    let store = store(&pool);
    let id = pending(&store).await;
    let worker = worker(&store).await;
    let claimed = store.claim(worker, 10, None).await.unwrap();
    assert_eq!(claimed.len(), 1);
    let job = &claimed[0];
    assert_eq!((job.id, job.attempt, job.lease_epoch, job.step), (id, 1, 1, 0));
    assert!(!job.interrupted && !job.has_settings && !job.has_document_content && !job.feedback_pending);
    assert_eq!(column(&pool, id, "status").await.as_deref(), Some("running"));
    assert_eq!(column(&pool, id, "worker_id").await, Some(worker.to_string()));
    assert!(column(&pool, id, "started_at").await.is_some());
    assert_eq!(outcomes(&pool, id).await, "open");
    assert_eq!(store.held(worker).await.unwrap(), vec![job.lease()]);
    assert!(store.claim(worker, 10, None).await.unwrap().is_empty());
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_most_urgent_come_first_and_later_ones_wait(pool: PgPool) {
    let store = store(&pool);
    for (prompt, priority, run_at) in [
        ("low", -1, "now()"),
        ("first in", 0, "now() - interval '1 hour'"),
        ("urgent", 5, "now()"),
        ("later", 9, "now() + interval '1 hour'"),
    ] {
        let sql = format!("INSERT INTO jobs (prompt, priority, run_at) VALUES ('{prompt}', {priority}, {run_at})");
        execute(&pool, sql).await.unwrap();
    }
    let worker = worker(&store).await;
    let first: Vec<String> = store.claim(worker, 2, None).await.unwrap().into_iter().map(|job| job.prompt).collect();
    let rest: Vec<String> = store.claim(worker, 9, None).await.unwrap().into_iter().map(|job| job.prompt).collect();
    assert_eq!((first, rest), (vec!["urgent".to_owned(), "first in".to_owned()], vec!["low".to_owned()]));
}

#[sqlx::test(migrations = "../../migrations")]
async fn job_types_filter_and_a_stranger_gets_nothing(pool: PgPool) {
    let store = store(&pool);
    pending(&store).await;
    let validator = NewJob { job_type: "validator".into(), ..NewJob::new("validate") };
    let id = store.enqueue(&validator).await.unwrap();
    assert!(store.claim(Uuid::now_v7(), 9, None).await.unwrap().is_empty());
    let worker = worker(&store).await;
    let claimed = store.claim(worker, 9, Some(&["validator".to_owned()])).await.unwrap();
    assert_eq!(claimed.iter().map(|job| job.id).collect::<Vec<_>>(), [id]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_another_claim_holds_locked_is_skipped_without_waiting(pool: PgPool) {
    let store = store(&pool);
    let taken = pending(&store).await;
    let free = pending(&store).await;
    let worker = worker(&store).await;
    let mut rival = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM jobs WHERE id = $1 FOR UPDATE").bind(taken).execute(&mut *rival).await.unwrap();
    let claim = tokio::time::timeout(Duration::from_secs(30), store.claim(worker, 9, None));
    let claimed = claim.await.expect("the claim waits for nobody").unwrap();
    assert_eq!(claimed.iter().map(|job| job.id).collect::<Vec<_>>(), [free]);
    rival.rollback().await.unwrap();
    assert_eq!(store.claim(worker, 9, None).await.unwrap()[0].id, taken);
}

#[sqlx::test(migrations = "../../migrations")]
async fn rivals_never_get_the_same_job(pool: PgPool) {
    let store = store(&pool);
    for _ in 0..40 {
        pending(&store).await;
    }
    let mut rivals = Vec::new();
    for _ in 0..4 {
        let (store, worker) = (store.clone(), worker(&store).await);
        rivals.push(tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let claimed = store.claim(worker, 3, None).await.unwrap();
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed.into_iter().map(|job| job.id));
            }
        }));
    }
    let mut all = Vec::new();
    for rival in rivals {
        all.extend(rival.await.unwrap());
    }
    // A claim may come back empty while rivals hold the rest locked, but nothing is claimed twice or forgotten.
    let last = worker(&store).await;
    all.extend(store.claim(last, 40, None).await.unwrap().into_iter().map(|job| job.id));
    assert_eq!(all.len(), 40);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), 40);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_claim_reads_its_index_from_the_front(pool: PgPool) {
    execute(
        &pool,
        "INSERT INTO jobs (prompt, status, completed_at, priority)
         SELECT 'x', CASE WHEN n % 10 = 0 THEN 'pending' ELSE 'completed' END,
                CASE WHEN n % 10 = 0 THEN NULL ELSE now() END, n % 7
         FROM generate_series(1, 20000) n",
    )
    .await
    .unwrap();
    execute(&pool, "ANALYZE jobs").await.unwrap();
    let worker = worker(&store(&pool)).await;
    let lines: Vec<String> = sqlx::query_scalar(concat!("EXPLAIN ", include_str!("../../queries/claim.sql")))
        .bind(worker)
        .bind(5_i64)
        .bind(None::<Vec<String>>)
        .fetch_all(&pool)
        .await
        .unwrap();
    let explained = lines.join("\n");
    assert!(explained.contains("Index Scan using jobs_claim"), "{explained}");
    assert!(!explained.contains("Seq Scan on jobs"), "{explained}");
    let picked = explained.split("CTE ").find(|part| part.starts_with("picked")).unwrap();
    assert!(!picked.contains("Sort"), "{explained}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_heartbeat_says_whether_the_worker_still_counts(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    execute(&pool, "UPDATE workers SET heartbeat_at = now() - interval '1 hour'").await.unwrap();
    assert!(store.heartbeat(worker).await.unwrap());
    assert_eq!(store.queue_counts(None).await.unwrap().live_workers, 1);
    store.unregister_worker(worker).await.unwrap();
    assert!(!store.heartbeat(worker).await.unwrap());
}
