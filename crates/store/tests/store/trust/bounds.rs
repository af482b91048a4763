//! Bounds: what a login's rows may hold, and what they may cost others.

use super::{Login, refusal};
use crate::support::{LEASE_SECS, column, execute, pending, running, store, value, worker};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool, Row as _, postgres::PgConnectOptions};
use std::slice;

/// Two sessions that do not see each other's rows, each within the bound.
#[sqlx::test(migrations = "../../migrations")]
async fn documents_are_bounded_under_any_isolation_level(pool: PgPool) {
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        for (what, half) in [
            ("count", "SELECT '{job}', {from} + n, 'd' || {from} + n, '' FROM generate_series(1, 600) n"),
            ("bytes", "SELECT '{job}', {from}, 'd{from}', decode(repeat('00', 130 << 20), 'hex')"),
        ] {
            let mut logins = [Login::enqueuer(&pool).await, Login::enqueuer(&pool).await];
            let job = pending(&store(&pool)).await;
            let mut fates = Vec::new();
            for login in &mut logins {
                // The table's owner may add documents to any job, in any number of sessions.
                login.session = PgConnection::connect_with(&pool.connect_options()).await.unwrap();
                login.says(format!("BEGIN ISOLATION LEVEL {level}")).await.unwrap();
                login.says("SELECT count(*) FROM job_documents").await.unwrap();
            }
            for (n, login) in logins.iter_mut().enumerate() {
                let rows = half.replace("{job}", &job.to_string()).replace("{from}", &(n * 1000).to_string());
                let given = login.says(format!("INSERT INTO job_documents {rows}")).await;
                fates.push(match given {
                    Ok(()) => login.says("COMMIT").await,
                    Err(error) => login.says("ROLLBACK").await.and(Err(error)),
                });
            }
            let kept = fates.iter().filter(|fate| fate.is_ok()).count();
            assert_eq!(kept, 1, "{what} under {level}: {fates:?}");
            let counted = "documents_count = (SELECT count(*) FROM job_documents d WHERE d.job_id = jobs.id)
                           AND documents_bytes = (SELECT sum(octet_length(content)) FROM job_documents d WHERE d.job_id = jobs.id)";
            assert_eq!(column(&pool, job, counted).await.as_deref(), Some("true"));
            for login in logins {
                login.leave(&pool).await;
            }
        }
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_row_says_how_many_documents_it_has_and_a_list_is_bounded(pool: PgPool) {
    let store = store(&pool);
    let job = pending(&store).await;
    execute(&pool, "ALTER TABLE job_documents DISABLE TRIGGER USER").await.unwrap();
    let many = format!("INSERT INTO job_documents SELECT '{job}', n, 'd' || n, '' FROM generate_series(1, 5000) n");
    execute(&pool, many).await.unwrap();
    assert_eq!(store.job_documents(job).await.unwrap().len(), 1001, "one more than is allowed, and no further");
    execute(&pool, format!("UPDATE jobs SET documents_bytes = 300 << 20 WHERE id = '{job}'")).await.unwrap();
    let oversized = store.job_input(job).await.unwrap().unwrap().unwrap_err();
    assert_eq!((oversized.column, oversized.bytes), ("documents", 300 << 20));
}

#[sqlx::test(migrations = "../../migrations")]
async fn feedback_is_bounded_by_size_and_number(pool: PgPool) {
    let job = pending(&store(&pool)).await;
    let send = |words: &str| format!("SELECT send_feedback('{job}', {words})");
    for too_long in ["repeat('x ', 40000)", "repeat('ä', 40000)"] {
        let refused = refusal(execute(&pool, send(too_long)).await.map(drop));
        assert!(refused.contains("feedback is larger than 64 KiB"), "{refused}");
    }
    assert_eq!(value(&pool, "SELECT count(*) FROM job_commands").await.as_deref(), Some("0"), "nothing of it is kept");
    for _ in 0..32 {
        execute(&pool, send("repeat('x', 65536)")).await.unwrap();
    }
    let refused = refusal(execute(&pool, send("'x'")).await.map(drop));
    assert!(refused.contains("has 32 messages that it has not read yet"), "{refused}");
    execute(&pool, format!("SELECT pause_job('{job}')")).await.unwrap();
    let refused = refusal(execute(&pool, format!("SELECT resume_job('{job}', 'x')")).await.map(drop));
    assert!(refused.contains("has 32 messages"), "{refused}");
    // Nothing is kept of what is no feedback, nor of a name that is no tool's.
    execute(&pool, format!("SELECT resume_job('{job}', repeat(' ', 1000000))")).await.unwrap();
    let refused = refusal(execute(&pool, format!("SELECT grant_calls('{job}', repeat('x', 2000), 1)")).await.map(drop));
    assert!(refused.contains("grant_calls needs a tool's name"), "{refused}");
    let most = value(&pool, "SELECT max(octet_length(arguments::text)) FROM job_commands").await.unwrap();
    assert!(most.parse::<u32>().unwrap() < 70_000, "{most} bytes of a command");
}

/// Those who judge requirements write texts that workers read.
#[sqlx::test(migrations = "../../migrations")]
async fn a_judgement_is_bounded_by_size(pool: PgPool) {
    let job = pending(&store(&pool)).await;
    let row = format!("INSERT INTO requirement_cache (job_id, text) VALUES ('{job}', 'Records shall be kept.')");
    execute(&pool, row).await.unwrap();
    for column in [
        "validation_result = to_jsonb(repeat('x', 1100000))",
        "rejection_reason = repeat('x', 1100000)",
        "last_error = repeat('x', 600000), graph_node_id = repeat('x', 600000)",
    ] {
        let refused = refusal(execute(&pool, format!("UPDATE requirement_cache SET {column}")).await.map(drop));
        assert!(refused.contains("requirement is larger than 1 MiB"), "{refused}");
    }
    let row = "INSERT INTO requirement_cache (job_id, text, reasoning) SELECT id, 'Records shall be kept.', repeat('x', 1100000) FROM jobs";
    assert!(refusal(execute(&pool, row).await.map(drop)).contains("requirement is larger than 1 MiB"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn unreadable_limits_are_refused_and_refused_ones_are_replaced(pool: PgPool) {
    let job = pending(&store(&pool)).await;
    execute(&pool, format!("SELECT pause_job('{job}')")).await.unwrap();
    for (limits, says) in [
        (r#"{"repeated_calls.nudge": 5}"#, "are given within each other"),
        (r#"{"repeated_calls.": 5}"#, "are given within each other"),
        (r#"{"repeated_calls": null}"#, "are given within each other"),
        (r#"{"repeated_calls": 5}"#, "are given within each other"),
        (r#"{"max_iterations": 50.0}"#, "must be a whole number"),
        (r#"{"repeated_calls": {"refuse": 7.0}}"#, "must be a whole number"),
    ] {
        let refused =
            refusal(execute(&pool, format!("SELECT resume_job('{job}', limits => '{limits}')")).await.map(drop));
        assert!(refused.contains(says), "{limits}: {refused}");
    }
    let refused_by_worker = format!(
        "UPDATE jobs SET raised_limits = '{{\"max_iterations\": 9, \"tool_retries\": 3}}',
                         status_reason = 'the limits given to resume_job cannot be used: too many; resume it with others'
         WHERE id = '{job}'"
    );
    execute(&pool, refused_by_worker).await.unwrap();
    execute(&pool, format!("SELECT resume_job('{job}', limits => '{{\"token_budget\": 5000}}')")).await.unwrap();
    assert_eq!(column(&pool, job, "raised_limits").await.as_deref(), Some(r#"{"token_budget": 5000}"#));
}

/// Pages that the scan of a worker's lanes reads.
async fn pages_of_lanes(pool: &PgPool) -> i64 {
    let mut connection = pool.acquire().await.unwrap();
    connection.execute("SET enable_seqscan = off").await.unwrap();
    let asked = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM waiting_lanes('{creator}')";
    connection.execute(asked).await.unwrap();
    let plan: serde_json::Value = connection.fetch_one(asked).await.unwrap().get(0);
    plan[0]["Plan"]["Shared Hit Blocks"].as_i64().unwrap()
}

#[sqlx::test(migrations = "../../migrations")]
async fn lanes_without_workers_cost_a_claim_nothing(pool: PgPool) {
    let store = store(&pool);
    let worker = worker(&store).await;
    let job = pending(&store).await;
    let alone = pages_of_lanes(&pool).await;
    let types = "INSERT INTO jobs (prompt, job_type) SELECT 'x', 't' || i FROM generate_series(1, 5000) i";
    execute(&pool, types).await.unwrap();
    execute(&pool, "ANALYZE jobs").await.unwrap();
    let beside = pages_of_lanes(&pool).await;
    assert!(beside <= alone + 20, "{alone} pages alone, {beside} beside the lanes of other types");
    // The worker's own type may have many lanes, too: a bounded number of them is scanned, and always the one without a
    // key.
    let keys = "INSERT INTO jobs (prompt, context, priority)
                SELECT 'x', jsonb_build_object('concurrency_key', i), -1 FROM generate_series(1, 5000) i";
    execute(&pool, keys).await.unwrap();
    let lanes = value(&pool, "SELECT count(*) FROM waiting_lanes('{creator}')").await.unwrap();
    assert!(lanes.parse::<u32>().unwrap() <= 1_001, "{lanes}");
    let all = value(&pool, "SELECT count(DISTINCT concurrency_key) FROM waiting_lanes('{creator}', 6000)").await;
    assert_eq!(all.as_deref(), Some("5001"));
    let claimed = store.claim(worker, 1, Some(slice::from_ref(&"creator".to_owned())), LEASE_SECS).await.unwrap();
    assert_eq!(claimed[0].id, job, "the most urgent one");
}

/// The reasons that a sweep writes are bounded too: it examines at most 1,000 types.
#[sqlx::test(migrations = "../../migrations")]
async fn a_sweep_looks_at_a_bounded_number_of_unknown_types(pool: PgPool) {
    let store = store(&pool);
    worker(&store).await;
    let types = "INSERT INTO jobs (prompt, job_type) SELECT 'x', 't' || i FROM generate_series(1, 3000) i";
    execute(&pool, types).await.unwrap();
    execute(&pool, "ANALYZE jobs").await.unwrap();
    let noted = "SELECT count(*) FROM unknown_job_types";
    for _ in 0..2 {
        assert!(!store.note_unknown_types(LEASE_SECS, None).await.unwrap());
        assert_eq!(value(&pool, noted).await.as_deref(), Some("1000"));
    }
    let reasons = "SELECT count(*) FROM jobs WHERE status_reason LIKE 'no live worker knows%'";
    assert_ne!(value(&pool, reasons).await.as_deref(), Some("0"));
    execute(&pool, "UPDATE jobs SET status = 'cancelled'").await.unwrap();
    store.note_unknown_types(LEASE_SECS, None).await.unwrap();
    assert_eq!(value(&pool, noted).await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_operator_bounds_how_many_jobs_of_a_login_wait(pool: PgPool) {
    let (mut bounded, mut free) = (Login::enqueuer(&pool).await, Login::enqueuer(&pool).await);
    execute(&pool, format!("INSERT INTO login_limits (login, waiting) VALUES ('{}', 3)", bounded.name)).await.unwrap();
    let insert = |count: u32| format!("INSERT INTO jobs (prompt) SELECT 'x' FROM generate_series(1, {count})");
    let refused = refusal(bounded.says(insert(4)).await);
    assert!(refused.contains("may have at most 3 jobs waiting"), "{refused}");
    bounded.says(insert(3)).await.unwrap();
    assert!(
        bounded.says("SELECT enqueue_job('x', run_at => now() + interval '1 day')").await.is_err(),
        "a later one waits, too"
    );
    free.says(insert(50)).await.unwrap();
    execute(&pool, format!("UPDATE jobs SET status = 'cancelled' WHERE created_by = '{}'", bounded.name))
        .await
        .unwrap();
    // Sessions that do not see each other's rows conflict.
    let own = PgConnectOptions::clone(&pool.connect_options()).username(&bounded.name).password(&bounded.name);
    let mut again = PgConnection::connect_with(&own).await.unwrap();
    for session in [&mut bounded.session, &mut again] {
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
        session.execute("SELECT count(*) FROM jobs").await.unwrap();
    }
    bounded.says(insert(2)).await.unwrap();
    bounded.says("COMMIT").await.unwrap();
    assert!(again.execute(AssertSqlSafe(insert(2))).await.is_err(), "two and two are more than three");
    again.close().await.unwrap();
    bounded.leave(&pool).await;
    free.leave(&pool).await;
}

/// A fork and a retry add a waiting job as an INSERT does; what a worker gives back, and what goes on after a pause, was
/// counted when it came.
#[sqlx::test(migrations = "../../migrations")]
async fn forks_and_retries_are_waiting_jobs_of_a_login_too(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await.id;
    execute(&pool, "INSERT INTO login_limits (login, waiting) VALUES (current_user, 1)").await.unwrap();
    let ended = pending(&store).await;
    execute(&pool, format!("UPDATE jobs SET status = 'cancelled' WHERE id = '{ended}'")).await.unwrap();
    execute(&pool, "INSERT INTO jobs (prompt) VALUES ('the one that waits')").await.unwrap();
    let checkpoint = "INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)";
    execute(&pool, format!("{checkpoint} VALUES ('{job}', 1, 1, 'strategic', '{{}}', 1)")).await.unwrap();
    for call in [format!("SELECT retry_job('{ended}')"), format!("SELECT fork_job('{job}', 1)")] {
        let refused = refusal(execute(&pool, &call).await.map(drop));
        assert!(refused.contains("may have at most 1 jobs waiting"), "{call}: {refused}");
    }
    execute(&pool, format!("SELECT pause_job('{job}')")).await.unwrap();
    execute(&pool, format!("SELECT resume_job('{job}')")).await.unwrap();
    execute(&pool, "UPDATE login_limits SET waiting = 4").await.unwrap();
    execute(&pool, format!("SELECT retry_job('{ended}')")).await.unwrap();
    execute(&pool, format!("SELECT fork_job('{job}', 1)")).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn limits_of_unused_models_are_forgotten(pool: PgPool) {
    for (model, age) in [("old", "2 days"), ("new", "1 hour")] {
        let row = format!(
            "INSERT INTO endpoint_limits (endpoint, key_name, model, parallel, updated_at, requests_tat, tokens_tat)
             VALUES ('https://a', 'K', '{model}', 1, now() - interval '{age}', now() - interval '{age}', now() - interval '{age}')"
        );
        execute(&pool, row).await.unwrap();
    }
    store(&pool).sweep(45).await.unwrap();
    assert_eq!(value(&pool, "SELECT string_agg(model, ' ') FROM endpoint_limits").await.as_deref(), Some("new"));
}
