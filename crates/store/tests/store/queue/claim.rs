//! Claims: order, races, results.

use crate::support::{CEILING, LEASE_SECS, column, execute, outcomes, pending, store, value, worker};
use plumbline_store::{ClaimedJob, NewJob, ReleaseReason, Store};
use sqlx::PgPool;
use std::collections::HashSet;
use uuid::Uuid;

/// The prompts of these jobs.
async fn prompts(store: &Store, jobs: Vec<ClaimedJob>) -> Vec<String> {
    let mut prompts = Vec::new();
    for job in jobs {
        prompts.push(store.job_input(job.id).await.unwrap().unwrap().unwrap().prompt);
    }
    prompts
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_opens_an_attempt_and_returns_the_job(pool: PgPool) {
    let store = store(&pool);
    let id = pending(&store).await;
    let worker = worker(&store).await;
    let claimed = store.claim(worker, 10, None, LEASE_SECS).await.unwrap();
    assert_eq!(claimed.len(), 1);
    let job = &claimed[0];
    assert_eq!((job.id, job.attempt, job.lease_epoch, job.step), (id, 1, 1, 0));
    assert!(!job.has_settings && !job.is_suspect && !job.feedback_pending);
    assert_eq!(column(&pool, id, "status").await.as_deref(), Some("running"));
    assert_eq!(column(&pool, id, "worker_id").await, Some(worker.to_string()));
    assert!(column(&pool, id, "started_at").await.is_some());
    assert_eq!(outcomes(&pool, id).await, "open");
    assert_eq!(store.held(worker).await.unwrap(), vec![job.lease()]);
    assert!(store.claim(worker, 10, None, LEASE_SECS).await.unwrap().is_empty());
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
    let first = prompts(&store, store.claim(worker, 2, None, LEASE_SECS).await.unwrap()).await;
    let rest = prompts(&store, store.claim(worker, 9, None, LEASE_SECS).await.unwrap()).await;
    assert_eq!((first, rest), (vec!["urgent".to_owned(), "first in".to_owned()], vec!["low".to_owned()]));
}

#[sqlx::test(migrations = "../../migrations")]
async fn job_types_filter_and_a_stranger_gets_nothing(pool: PgPool) {
    let store = store(&pool);
    pending(&store).await;
    let validator = NewJob { job_type: "validator".into(), ..NewJob::new("validate") };
    let id = store.enqueue(&validator).await.unwrap();
    assert!(store.claim(Uuid::now_v7(), 9, None, LEASE_SECS).await.unwrap().is_empty());
    let worker = worker(&store).await;
    let claimed = store.claim(worker, 9, Some(&["validator".to_owned()]), LEASE_SECS).await.unwrap();
    assert_eq!(claimed.iter().map(|job| job.id).collect::<Vec<_>>(), [id]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_worker_whose_lease_ended_claims_again_after_its_next_heartbeat(pool: PgPool) {
    let store = store(&pool);
    let id = pending(&store).await;
    let worker = worker(&store).await;
    // As after the machine was suspended: the worker's own clock shows no gap.
    execute(&pool, "UPDATE workers SET heartbeat_at = now() - interval '1 hour'").await.unwrap();
    assert!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap().is_empty());
    assert!(store.heartbeat(worker).await.unwrap());
    assert_eq!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap()[0].id, id);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_another_claim_holds_locked_is_skipped_without_waiting(pool: PgPool) {
    let store = store(&pool);
    let taken = pending(&store).await;
    let free = pending(&store).await;
    let worker = worker(&store).await;
    let mut rival = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM jobs WHERE id = $1 FOR UPDATE").bind(taken).execute(&mut *rival).await.unwrap();
    let claim = tokio::time::timeout(CEILING, store.claim(worker, 9, None, LEASE_SECS));
    let claimed = claim.await.expect("the claim waits for nobody").unwrap();
    assert_eq!(claimed.iter().map(|job| job.id).collect::<Vec<_>>(), [free]);
    rival.rollback().await.unwrap();
    assert_eq!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap()[0].id, taken);
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
                let claimed = store.claim(worker, 3, None, LEASE_SECS).await.unwrap();
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
    // A claim may return no jobs while rivals hold the rest locked, but no job is claimed twice or lost.
    let last = worker(&store).await;
    all.extend(store.claim(last, 40, None, LEASE_SECS).await.unwrap().into_iter().map(|job| job.id));
    assert_eq!(all.len(), 40);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len(), 40);
}

/// Vacuums the table, claims, and returns how many pages of the database the claim read and wrote.
/// Twice on one connection, and the second one counts: the first must read the catalog.
async fn pages_of_a_claim(pool: &PgPool, limit: i64) -> u64 {
    let mut connection = pool.acquire().await.unwrap();
    // VACUUM marks only rows whose commit has reached the disk, and a background analyze would hold a snapshot
    // meanwhile.
    for statement in
        ["SET synchronous_commit = on", "ALTER TABLE jobs SET (autovacuum_enabled = off)", "VACUUM ANALYZE jobs"]
    {
        sqlx::query(statement).execute(&mut *connection).await.unwrap();
    }
    drop(connection);
    let mut connection = pool.acquire().await.unwrap();
    let worker = worker(&store(pool)).await;
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..2 {
        lines = sqlx::query_scalar(concat!(
            "EXPLAIN (ANALYZE, BUFFERS) ",
            include_str!("../../../queries/queue/claim.sql")
        ))
        .bind(worker)
        .bind(limit)
        .bind(None::<Vec<String>>)
        .bind(f64::from(LEASE_SECS))
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    }
    let explained = lines.join("\n");
    assert!(!explained.contains("JIT"), "compiling a claim takes longer than any claim: {explained}");
    let buffers = lines.iter().find(|line| line.contains("Buffers: shared")).expect("the whole statement's pages");
    let number = |word: &str| word.split_once('=').and_then(|(_, number)| number.parse::<u64>().ok());
    buffers.split_whitespace().take_while(|word| !word.starts_with("dirtied")).filter_map(number).sum()
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_costs_the_same_however_many_jobs_wait_or_have_ended(pool: PgPool) {
    for _ in 0..30 {
        pending(&store(&pool)).await;
    }
    let few = pages_of_a_claim(&pool, 5).await;
    for others in [
        "SELECT 'x', -1, now(), 'pending', NULL FROM generate_series(1, 10000) n",
        "SELECT 'x', 0, now(), 'completed', now() FROM generate_series(1, 10000) n",
        // More urgent, but not due.
        "SELECT 'x', 9, now() + interval '1 year', 'pending', NULL FROM generate_series(1, 50000) n",
    ] {
        let sql = format!("INSERT INTO jobs (prompt, priority, run_at, status, completed_at) {others}");
        execute(&pool, sql).await.unwrap();
    }
    let many = pages_of_a_claim(&pool, 5).await;
    assert!(many < few + 60, "{few} pages with few jobs, {many} with many");
    assert_eq!(store(&pool).queue_counts(None).await.unwrap().running, 20);
}

#[sqlx::test(migrations = "../../migrations")]
async fn lanes_of_jobs_for_later_cost_a_claim_nothing(pool: PgPool) {
    for _ in 0..30 {
        pending(&store(&pool)).await;
    }
    let few = pages_of_a_claim(&pool, 5).await;
    let later = "INSERT INTO jobs (prompt, run_at, context)
                 SELECT 'x', '2099-01-01', json_build_object('concurrency_key', n) FROM generate_series(1, 5000) n";
    execute(&pool, later).await.unwrap();
    let many = pages_of_a_claim(&pool, 5).await;
    assert!(many < few + 60, "{few} pages without, {many} with keys of their own");
    // They are claimed when they are due, regardless of how they were rescheduled.
    for time in ["run_at = now()", "priority = 9", "run_at = '2099-01-01'", "run_at = now() - interval '1 s'"] {
        execute(&pool, format!("UPDATE jobs SET {time} WHERE context ->> 'concurrency_key' = '7'")).await.unwrap();
    }
    let counts = store(&pool).queue_counts(None).await.unwrap();
    assert_eq!((counts.runnable, counts.later), (11, 4999));
    let store = store(&pool);
    let claimed = store.claim(worker(&store).await, 1, None, LEASE_SECS).await.unwrap();
    assert_eq!(claimed[0].concurrency_key, "7");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_is_claimed_once_its_time_has_come(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    execute(&pool, "INSERT INTO jobs (prompt, run_at) VALUES ('soon', now() + interval '1 hour')").await.unwrap();
    assert!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap().is_empty());
    let counts = store.queue_counts(None).await.unwrap();
    assert_eq!((counts.runnable, counts.later), (0, 1));
    // The hour passes: the job's row is not updated, so no trigger runs.
    execute(&pool, "ALTER TABLE jobs DISABLE TRIGGER jobs_schedule").await.unwrap();
    execute(&pool, "UPDATE jobs SET run_at = now() - interval '1 hour'").await.unwrap();
    execute(&pool, "ALTER TABLE jobs ENABLE TRIGGER jobs_schedule").await.unwrap();
    assert_eq!(store.queue_counts(None).await.unwrap().runnable, 1, "nobody has taken it into the queue yet");
    assert_eq!(value(&pool, "SELECT count(*) FROM runnable_jobs").await.as_deref(), Some("1"));
    assert!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap().is_empty(), "this claim takes it into the queue");
    let claimed = store.claim(worker, 9, None, LEASE_SECS).await.unwrap();
    assert_eq!(claimed.len(), 1);
    // Parked again, it waits again.
    execute(&pool, "UPDATE jobs SET status = 'pending', run_at = now() + interval '1 hour'").await.unwrap();
    assert!(store.claim(worker, 9, None, LEASE_SECS).await.unwrap().is_empty());
}

#[sqlx::test(migrations = "../../migrations")]
async fn jobs_of_one_insert_are_claimed_in_the_order_in_which_they_came(pool: PgPool) {
    let store = store(&pool);
    insert_many(&pool, 700).await;
    let worker = worker(&store).await;
    let mut claimed = Vec::new();
    for _ in 0..70 {
        claimed.extend(store.claim(worker, 10, None, LEASE_SECS).await.unwrap());
    }
    let ids: Vec<Uuid> = claimed.iter().map(|job| job.id).collect();
    assert_eq!(prompts(&store, claimed).await, (1..=700).map(|n| format!("x{n}")).collect::<Vec<_>>());
    assert!(!ids.is_sorted(), "ids say nothing about the order");
}

#[sqlx::test(migrations = "../../migrations")]
async fn times_that_no_worker_can_read_stop_no_claim(pool: PgPool) {
    execute(&pool, "ALTER TABLE jobs DROP CONSTRAINT jobs_times_are_in_years_1_to_9999").await.unwrap();
    for at in ["-infinity", "infinity"] {
        let values = format!("VALUES ('x', '-infinity', '{at}', '{at}')");
        execute(&pool, format!("INSERT INTO jobs (prompt, run_at, created_at, started_at) {values}")).await.unwrap();
    }
    let (store, worker) = (store(&pool), worker(&store(&pool)).await);
    let claimed = store.claim(worker, 9, None, LEASE_SECS).await.unwrap();
    assert_eq!(claimed.len(), 2);
    assert!(claimed.iter().all(|job| job.waited_secs >= 0.0 && job.waited_secs.is_finite()));
}

#[sqlx::test(migrations = "../../migrations")]
async fn json_that_no_worker_can_hold_stops_no_claim(pool: PgPool) {
    let store = store(&pool);
    let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(300), "]".repeat(300));
    for (column, text) in [("context", r#"{"a": 1e400}"#), ("config", deep.as_str())] {
        execute(&pool, format!("INSERT INTO jobs (prompt, {column}) VALUES ('{column}', '{text}')")).await.unwrap();
    }
    pending(&store).await;
    let claimed = store.claim(worker(&store).await, 9, None, LEASE_SECS).await.unwrap();
    let mut unreadable = Vec::new();
    for job in &claimed {
        let input = store.job_input(job.id).await.unwrap().unwrap().unwrap();
        unreadable.push((input.context.unreadable().is_some(), input.config.unreadable().is_some()));
    }
    assert_eq!(unreadable, [(true, false), (false, true), (false, false)]);
    for job in &claimed {
        assert!(store.job_detail(job.id).await.unwrap().is_some());
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn one_by_one_each_claim_takes_the_most_urgent_of_all(pool: PgPool) {
    let store = store(&pool);
    insert_many(&pool, 50).await;
    let worker = worker(&store).await;
    for priority in 1..40 {
        execute(&pool, format!("INSERT INTO jobs (prompt, priority) VALUES ('now', {priority})")).await.unwrap();
        let claimed = store.claim(worker, 1, None, LEASE_SECS).await.unwrap();
        assert_eq!(claimed.iter().map(|job| job.priority).collect::<Vec<_>>(), [priority]);
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_more_urgent_job_that_comes_among_many_is_taken_with_them(pool: PgPool) {
    let store = store(&pool);
    insert_many(&pool, 1000).await;
    let worker = worker(&store).await;
    for _ in 0..8 {
        assert_eq!(store.claim(worker, 100, None, LEASE_SECS).await.unwrap().len(), 100);
    }
    execute(&pool, "INSERT INTO jobs (prompt, priority) VALUES ('now', 1)").await.unwrap();
    execute(&pool, "INSERT INTO jobs (prompt, job_type) VALUES ('now', 'validator')").await.unwrap();
    execute(&pool, "INSERT INTO jobs (prompt, run_at) VALUES ('now', '-infinity')").await.unwrap();
    // The marks lead to 200 jobs; the same call finds the rest of the claim.
    let rest = store.claim(worker, 300, None, LEASE_SECS).await.unwrap();
    let rest = prompts(&store, rest).await;
    assert_eq!((rest.len(), rest.iter().filter(|prompt| *prompt == "now").count()), (203, 3));
}

#[sqlx::test(migrations = "../../migrations")]
async fn no_job_is_missed_while_many_are_claimed(pool: PgPool) {
    let store = store(&pool);
    execute(&pool, "INSERT INTO concurrency_limits VALUES ('creator', 'b', 100)").await.unwrap();
    insert_mixed(&pool, 1500).await;
    let worker = worker(&store).await;
    for round in 0..60 {
        let claimed = store.claim(worker, 40, None, LEASE_SECS).await.unwrap();
        if round % 3 == 0 {
            give_back(&store, claimed.iter().take(5)).await;
            insert_mixed(&pool, 20).await;
        }
        if round % 20 == 19 {
            execute(&pool, "UPDATE jobs SET priority = 4 - priority WHERE status = 'pending'").await.unwrap();
        }
    }
    loop {
        let held = "SELECT (count(*) <= 100)::text FROM jobs
                    WHERE status = 'running' AND job_type = 'creator' AND concurrency_key = 'b'";
        assert_eq!(value(&pool, held).await.as_deref(), Some("true"));
        execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE status = 'running'").await.unwrap();
        if store.claim(worker, 40, None, LEASE_SECS).await.unwrap().is_empty() {
            break;
        }
    }
    assert_eq!(store.queue_counts(None).await.unwrap().runnable, 0);
}

async fn give_back(store: &Store, jobs: impl Iterator<Item = &ClaimedJob>) {
    for job in jobs {
        store.release(&job.lease(), ReleaseReason::Drain).await.unwrap();
    }
}

/// In one INSERT, so that all are runnable since the same time; with user-defined ids, which imply no order.
async fn insert_many(pool: &PgPool, count: usize) {
    let insert = format!(
        "INSERT INTO jobs (id, prompt) SELECT gen_random_uuid(), 'x' || n FROM generate_series(1, {count}) AS n"
    );
    execute(pool, insert).await.unwrap();
}

/// With mixed priorities, times, types and keys, distributed by a hash.
async fn insert_mixed(pool: &PgPool, count: usize) {
    let insert = format!(
        "INSERT INTO jobs (prompt, priority, run_at, job_type, context)
         SELECT 'x', dealt & 3, now() - (dealt >> 4 & 1023) * interval '1 second',
                (ARRAY['creator', 'validator'])[1 + (dealt >> 14 & 1)],
                json_build_object('concurrency_key', (ARRAY['a', 'b', '', 'c'])[1 + (dealt >> 15 & 3)])
         FROM (SELECT hashint8(n + (SELECT count(*) FROM jobs)) AS dealt FROM generate_series(1, {count}) AS n) AS hashed"
    );
    execute(pool, insert).await.unwrap();
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

/// The planner assumes that no job waits: the table was last analyzed when there was none.
#[sqlx::test(migrations = "../../migrations")]
async fn a_burst_into_an_empty_queue_is_claimed_from_its_front(pool: PgPool) {
    let rows =
        "INSERT INTO jobs (prompt, status, completed_at) SELECT n, 'failed', now() FROM generate_series(1, 2000) n";
    execute(&pool, rows).await.unwrap();
    execute(&pool, "ANALYZE jobs").await.unwrap();
    execute(&pool, "INSERT INTO jobs (prompt) SELECT n FROM generate_series(1, 20000) n").await.unwrap();
    let mut connection = pool.acquire().await.unwrap();
    // With the planner settings of the worker's sessions.
    sqlx::query("SET enable_seqscan = off").execute(&mut *connection).await.unwrap();
    for asked in [
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT *
         FROM front_of_lane('creator', '', 0, '-infinity'::timestamptz, '-infinity'::timestamptz, 100)",
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM waiting_lanes('{creator}')",
    ] {
        // The first statement of a session also reads the catalog.
        sqlx::query(asked).execute(&mut *connection).await.unwrap();
        let plan: serde_json::Value = sqlx::query_scalar(asked).fetch_one(&mut *connection).await.unwrap();
        let read = plan[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap();
        assert!(read < 400, "{asked} looked at {read} pages: {plan}");
    }
}

/// A text of this many bytes, written by the server.
fn text_of(bytes: u32) -> String {
    format!("repeat('x', {bytes})")
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_is_too_large_is_refused_where_it_is_inserted(pool: PgPool) {
    let (mib, kib) = (1 << 20, 1 << 10);
    let json = |bytes: u32| format!("jsonb_build_object('a', {})", text_of(bytes - 9));
    let name = |bytes: u32| format!("jsonb_build_object('document_name', {})", text_of(bytes));
    for (column, most, value) in [
        ("prompt", mib, &text_of as &dyn Fn(u32) -> String),
        ("context", mib, &json),
        ("config", mib, &json),
        ("document_path", kib, &text_of),
        ("idempotency_key", kib, &text_of),
        ("context", kib, &name),
    ] {
        let prompt = if column == "prompt" { "" } else { ", prompt" };
        let insert = |bytes: u32| {
            let words = if column == "prompt" { "" } else { ", 'x'" };
            format!("INSERT INTO jobs ({column}{prompt}) VALUES ({}{words})", value(bytes))
        };
        execute(&pool, insert(most)).await.unwrap_or_else(|error| panic!("{column} of {most} bytes: {error}"));
        let error = execute(&pool, insert(most + 1)).await.expect_err(column);
        let refused = error.as_database_error().unwrap();
        let bound = if most == mib { "at_most_1_mib" } else { "at_most_1_kib" };
        let constraint = refused.constraint().unwrap();
        assert!(constraint.contains(bound) && refused.is_check_violation(), "{constraint}");
        assert!(refused.message().starts_with(&format!("the job's {column}")), "{}", refused.message());
    }
    let (store, large) = (store(&pool), "x".repeat(mib as usize + 1));
    let error = store.enqueue(&NewJob::new(large)).await.unwrap_err().to_string();
    assert!(error.contains("the job's prompt is larger than 1 MiB; give long text as a document"), "{error}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_too_large_before_there_were_bounds_stays_where_it_is(pool: PgPool) {
    execute(&pool, "ALTER TABLE jobs DISABLE TRIGGER USER").await.unwrap();
    execute(&pool, "INSERT INTO jobs (prompt) VALUES (repeat('x', 3000000))").await.unwrap();
    execute(&pool, "ALTER TABLE jobs ENABLE TRIGGER USER").await.unwrap();
    let store = store(&pool);
    let job = store.claim(worker(&store).await, 9, None, LEASE_SECS).await.unwrap().remove(0);
    let oversized = store.job_input(job.id).await.unwrap().unwrap().unwrap_err();
    assert_eq!((oversized.column, oversized.bytes), ("prompt", 3_000_000));
    // Its status is not among the bounded columns.
    store.reject(&job.lease(), &plumbline_engine::JobError::new("input", "too large")).await.unwrap();
    assert_eq!(column(&pool, job.id, "status").await.as_deref(), Some("failed"));
}
