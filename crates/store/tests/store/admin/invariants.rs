//! The checker finds exactly the violations.

use crate::{
    story,
    support::{execute, running, store},
};
use sqlx::PgPool;
use std::time::Duration;

const GRACE: Duration = Duration::from_secs(60);

/// A statement that breaks a job's rows, and the invariant that detects it.
const BREAKS: [(&str, &str); 26] = [
    ("ALTER TABLE jobs DROP CONSTRAINT jobs_ended_has_completed_at; UPDATE jobs SET completed_at = now()", "I1: ended"),
    ("DELETE FROM checkpoints WHERE step = 2", "I2: steps without a gap"),
    ("UPDATE jobs SET step = 9", "I2: jobs.step is the last step"),
    ("UPDATE checkpoints SET state = NULL WHERE step = 4", "I2: the last step has its state"),
    ("UPDATE checkpoints SET lease_epoch = 0 WHERE step = 3", "I2: epochs never decrease"),
    ("DELETE FROM attempts", "I2: a step has its attempt"),
    ("SET LOCAL session_replication_role = replica; DELETE FROM jobs", "I2: a row has its job"),
    ("UPDATE passages SET candidates = 9", "a passage's candidates are its sentences"),
    ("UPDATE passages SET read_step = 99", "a passage is answered after it was read"),
    (
        "SET LOCAL session_replication_role = replica; UPDATE jobs SET status = 'completed', completed_at = now(), worker_id = NULL,
         result = '{\"coverage\": 0.25}'",
        "a completed job's coverage is that of its passages",
    ),
    ("DELETE FROM messages WHERE seq = 6", "I3: messages without a gap"),
    ("UPDATE messages SET tool_call_id = 'other' WHERE seq = 4", "I3: a call's result follows it"),
    ("UPDATE messages SET tool_calls = NULL WHERE seq = 3", "I3: no result without its call"),
    ("UPDATE requirement_cache SET step = 99", "I4: a requirement is of a step"),
    ("UPDATE blobs SET content = 'else'", "I6: a content equals its hash and size"),
    ("DELETE FROM blobs", "I6: a file has its content"),
    ("UPDATE shared_files SET content = 'else'", "I6: a shared content equals its hash and size"),
    ("DELETE FROM shared_files", "I6: a job's shared files are there"),
    (
        "UPDATE file_versions SET path = 'tools/cite.md' WHERE path = 'input/policy.md'",
        "I6: a shared file is no file of the job's own",
    ),
    ("UPDATE job_shared_files SET step = 99", "shared files are of a step"),
    ("DELETE FROM llm_requests WHERE step = 3", "I8: requests, tokens, cached tokens"),
    ("UPDATE llm_requests SET failure_class = 'quota' WHERE step = 3", "I8: a request that failed has its class"),
    ("UPDATE workers SET heartbeat_at = now() - interval '2 minutes'", "I9: a running job has a live worker"),
    ("DELETE FROM phases WHERE phase_number = 1", "phases without a gap"),
    (
        "UPDATE jobs SET phase = CASE phase WHEN 'tactical' THEN 'strategic' ELSE 'tactical' END",
        "jobs.phase is the last phase's",
    ),
    ("UPDATE todos SET position = 5 WHERE phase_number = 2", "todos without a gap"),
];

#[sqlx::test(migrations = "../../migrations")]
async fn a_sound_database_has_no_violation(pool: PgPool) {
    let store = store(&pool);
    assert_eq!(store.invariants(GRACE).await.unwrap(), []);
    let job = running(&store).await;
    for step in 0..story::STEPS {
        story::commit(&store, job.lease(), step).await;
        assert_eq!(store.invariants(GRACE).await.unwrap(), [], "after step {}", step + 1);
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn each_broken_rule_is_found(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    story::tell(&store, job.lease()).await;
    // Long enough ago to count as silence of a worker.
    execute(&pool, "ALTER TABLE jobs DISABLE TRIGGER jobs_touch").await.unwrap();
    execute(&pool, "UPDATE jobs SET updated_at = now() - interval '1 hour'").await.unwrap();
    for (sql, rule) in BREAKS {
        let mut broken = pool.begin().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut *broken).await.unwrap();
        let found: Vec<String> = sqlx::query_scalar(concat!(
            "SELECT \"rule!\" FROM (",
            include_str!("../../../queries/admin/invariants.sql"),
            ") AS violations"
        ))
        .bind(GRACE.as_secs_f64())
        .fetch_all(&mut *broken)
        .await
        .unwrap();
        assert!(found.iter().any(|found| found.starts_with(rule)), "{rule}: {found:?}");
        broken.rollback().await.unwrap();
    }
    assert_eq!(store.invariants(GRACE).await.unwrap(), []);
}
