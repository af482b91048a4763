//! A transaction that stays open elsewhere prevents the removal of dead rows. The pages read by a claim must not grow
//! with the steps made meanwhile, only with the claims, by a few pages each, and shrink again afterwards.

use plumbline_system_tests::{PgPool, Uuid, eventually};
use sqlx::Executor as _;

/// Rounds of claims, and jobs in each.
const ROUNDS: usize = 6;
const JOBS: i64 = 50;
/// Updates of each running job, as its steps make them.
const STEPS: usize = 40;
/// Maximum pages per dead row and claim: three searches of the queue's front read it.
const PAGES_A_CLAIM: u64 = 4;
/// Pages by which two claims in the same situation may differ.
const AIR: u64 = 120;

/// The worker sends one heartbeat, when it is registered.
const LEASE_SECS: f64 = 3_600.0;

const CLAIM: &str = include_str!("../../../crates/store/queries/queue/claim.sql");

async fn claim(pool: &PgPool, worker: Uuid, limit: i64) {
    let claim = sqlx::query(CLAIM).bind(worker).bind(limit).bind(None::<Vec<String>>).bind(LEASE_SECS);
    claim.fetch_all(pool).await.expect("a claim");
}

/// Pages that a claim of one job reads and writes: twice on one connection, and the second counts.
async fn pages(pool: &PgPool, worker: Uuid) -> u64 {
    let mut connection = pool.acquire().await.expect("a connection");
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..2 {
        lines = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("EXPLAIN (ANALYZE, BUFFERS) {CLAIM}")))
            .bind(worker)
            .bind(1_i64)
            .bind(None::<Vec<String>>)
            .bind(LEASE_SECS)
            .fetch_all(&mut *connection)
            .await
            .expect("a claim can be explained");
    }
    let buffers = lines.iter().find(|line| line.contains("Buffers: shared")).expect("the whole statement's pages");
    let number = |word: &str| word.split_once('=').and_then(|(_, number)| number.parse::<u64>().ok());
    buffers.split_whitespace().take_while(|word| !word.starts_with("dirtied")).filter_map(number).sum()
}

async fn insert(pool: &PgPool, jobs: i64) {
    let insert = "INSERT INTO jobs (prompt) SELECT 'x' FROM generate_series(1, $1)";
    sqlx::query(insert).bind(jobs).execute(pool).await.expect("jobs can be inserted");
}

#[sqlx::test(migrations = "../migrations")]
async fn dead_rows_that_cannot_be_removed_cost_a_claim_little_and_steps_none_at_all(pool: PgPool) {
    let worker = Uuid::now_v7();
    let register = "INSERT INTO workers (id, hostname, version, concurrency) VALUES ($1, 'here', '0', 100)";
    sqlx::query(register).bind(worker).execute(&pool).await.expect("a worker can be registered");
    // Runs vacuum explicitly, at known moments.
    for statement in ["SET synchronous_commit = on", "ALTER TABLE jobs SET (autovacuum_enabled = off)"] {
        pool.execute(statement).await.expect("the owner may");
    }
    insert(&pool, 4 * JOBS).await;
    pool.execute("VACUUM ANALYZE jobs").await.expect("the owner may");
    let before = pages(&pool, worker).await;

    let mut elsewhere = pool.begin().await.expect("a connection");
    for statement in ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM jobs"] {
        elsewhere.execute(statement).await.expect("a snapshot can be taken");
    }
    claim(&pool, worker, JOBS).await;
    let claimed = pages(&pool, worker).await;
    for _ in 0..STEPS {
        let step = "UPDATE jobs SET step = step + 1, updated_at = now() WHERE status = 'running'";
        pool.execute(step).await.expect("jobs can be updated");
    }
    let stepped = pages(&pool, worker).await;
    assert!(stepped <= claimed + AIR, "{claimed} pages before the steps, {stepped} after");

    for _ in 0..ROUNDS {
        insert(&pool, JOBS).await;
        claim(&pool, worker, JOBS).await;
        pool.execute("UPDATE jobs SET status = 'completed' WHERE status = 'running'").await.expect("jobs can end");
    }
    pool.execute("VACUUM jobs").await.expect("the owner may");
    let held = pages(&pool, worker).await;
    let dead = (ROUNDS as u64 + 1) * JOBS as u64;
    assert!(held <= before + PAGES_A_CLAIM * dead + AIR, "{before} pages at first, {held} with {dead} dead rows");

    elsewhere.rollback().await.expect("a connection");
    // The server itself may be counting rows of its catalogue in this database.
    eventually("nobody to hold a snapshot", async || {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                      AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL";
        let others: i64 = sqlx::query_scalar(others).fetch_one(&pool).await.expect("sessions can be listed");
        (others == 0).then_some(())
    })
    .await;
    pool.execute("VACUUM jobs").await.expect("the owner may");
    let after = pages(&pool, worker).await;
    assert!(after <= before + AIR, "{before} pages at first, {after} once the transaction is over");
}
