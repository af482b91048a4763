//! Retention.

use crate::{
    story,
    support::{CEILING, execute, pending, running, store, value},
};
use plumbline_store::{Retention, Store};
use sqlx::PgPool;
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

fn days(days: u64) -> Retention {
    Retention { older_than: Duration::from_secs(days * 86_400), statuses: Vec::new(), also_pending: false }
}

/// A job that ended with this status, `days` ago.
async fn ended(pool: &PgPool, status: &str, days: u32) -> Uuid {
    let sql = format!(
        "INSERT INTO jobs (prompt, status, completed_at) VALUES ('x', '{status}', now() - interval '{days} days')
         RETURNING id"
    );
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(pool).await.unwrap()
}

async fn prune_all(store: &Store, retention: &Retention) -> Vec<Vec<Uuid>> {
    let mut batches = Vec::new();
    loop {
        let batch = store.prune(retention).await.unwrap();
        if batch.is_empty() {
            return batches;
        }
        batches.push(batch.into_iter().map(|job| job.id).collect());
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn only_ended_jobs_go_and_only_old_ones(pool: PgPool) {
    let store = store(&pool);
    let old =
        [ended(&pool, "failed", 50).await, ended(&pool, "completed", 40).await, ended(&pool, "cancelled", 31).await];
    ended(&pool, "completed", 29).await;
    pending(&store).await;
    running(&store).await;
    for status in ["paused", "review"] {
        execute(&pool, format!("INSERT INTO jobs (prompt, status) VALUES ('x', '{status}')")).await.unwrap();
    }
    execute(&pool, "UPDATE jobs SET created_at = now() - interval '1 year'").await.unwrap();

    let found = store.prunable(&days(30)).await.unwrap();
    let counts: Vec<(&str, i64)> = found.iter().map(|group| (group.status.as_str(), group.jobs)).collect();
    assert_eq!(counts, [("cancelled", 1), ("completed", 1), ("failed", 1)]);
    assert_eq!(value(&pool, "SELECT count(*) FROM jobs").await.as_deref(), Some("8"), "counting deletes nothing");

    let failed = Retention { statuses: vec!["failed".into(), "running".into(), "paused".into()], ..days(30) };
    assert_eq!(prune_all(&store, &failed).await, [vec![old[0]]]);
    let mut gone = prune_all(&store, &days(30)).await.concat();
    gone.sort();
    let mut expected = old[1..].to_vec();
    expected.sort();
    assert_eq!(gone, expected);
    let left = "SELECT string_agg(status, ' ' ORDER BY status) FROM jobs";
    assert_eq!(value(&pool, left).await.as_deref(), Some("completed paused pending review running"));
    assert_eq!(store.prunable(&days(30)).await.unwrap(), []);
}

#[sqlx::test(migrations = "../../migrations")]
async fn everything_that_belongs_to_the_job_goes_and_nothing_else(pool: PgPool) {
    let store = store(&pool);
    let (gone, kept) = (running(&store).await, running(&store).await);
    for job in [&gone, &kept] {
        story::tell(&store, job.lease()).await;
        store.send_feedback(job.id, "a word").await.unwrap();
    }
    execute(&pool, format!("UPDATE jobs SET status = 'cancelled' WHERE id = '{}'", gone.id)).await.unwrap();
    execute(&pool, "UPDATE jobs SET completed_at = now() - interval '2 days' WHERE completed_at IS NOT NULL")
        .await
        .unwrap();
    let (before, untouched) = (rows_by_table(&pool, gone.id).await, rows_by_table(&pool, kept.id).await);
    for table in without_foreign_key(&pool).await {
        assert!(before[&table] > 0, "the story has no row in {table}, which no foreign key empties");
    }
    assert_eq!(prune_all(&store, &days(1)).await, Vec::<Vec<Uuid>>::new(), "its requirements wait for a validator");
    let also_pending = Retention { also_pending: true, ..days(1) };
    assert_eq!(prune_all(&store, &also_pending).await, [vec![gone.id]]);
    assert!(rows_by_table(&pool, gone.id).await.values().all(|rows| *rows == 0));
    assert_eq!(rows_by_table(&pool, kept.id).await, untouched);
}

#[sqlx::test(migrations = "../../migrations")]
async fn nothing_stays_when_all_jobs_are_truncated(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    story::tell(&store, job.lease()).await;
    execute(&pool, "TRUNCATE jobs CASCADE").await.unwrap();
    assert!(rows_by_table(&pool, job.id).await.values().all(|rows| *rows == 0));
}

/// Tables with a job's rows that only the trigger on `jobs` deletes.
async fn without_foreign_key(pool: &PgPool) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
         WHERE c.column_name = 'job_id' AND t.table_type = 'BASE TABLE' AND t.table_schema = 'public'
           AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.table_name::regclass)",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    assert!(tables.len() >= 11, "{tables:?}");
    tables
}

/// The number of the job's rows by table.
async fn rows_by_table(pool: &PgPool, job: Uuid) -> BTreeMap<String, i64> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
         WHERE c.column_name = 'job_id' AND t.table_type = 'BASE TABLE' AND t.table_schema = 'public'",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    let mut rows = BTreeMap::new();
    for table in tables {
        let count = format!("SELECT count(*) FROM {table} WHERE job_id = '{job}'");
        rows.insert(table, sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(pool).await.unwrap());
    }
    rows
}

#[sqlx::test(migrations = "../../migrations")]
async fn batches_are_bounded_and_the_oldest_go_first(pool: PgPool) {
    let store = store(&pool);
    execute(
        &pool,
        "INSERT INTO jobs (prompt, priority, status, completed_at)
         SELECT 'x', n, 'completed', now() - make_interval(days => n, hours => -1) FROM generate_series(1, 45) n",
    )
    .await
    .unwrap();
    let batches = prune_all(&store, &days(3)).await;
    assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 2]);
    let left = "SELECT string_agg(priority::text, ' ' ORDER BY priority) FROM jobs";
    assert_eq!(value(&pool, left).await.as_deref(), Some("1 2 3"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_stays_while_others_need_it(pool: PgPool) {
    let store = store(&pool);
    let (parent, judged, locked) =
        (ended(&pool, "completed", 9).await, ended(&pool, "completed", 9).await, ended(&pool, "completed", 9).await);
    let child = format!("INSERT INTO jobs (prompt, job_type, parent_job_id) VALUES ('x', 'validator', '{parent}')");
    execute(&pool, child).await.unwrap();
    let held = format!(
        "INSERT INTO requirement_cache (job_id, text, status) VALUES ('{judged}', 'Invoices must be kept', 'validating')"
    );
    execute(&pool, held).await.unwrap();
    let mut rival = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM jobs WHERE id = $1 FOR UPDATE").bind(locked).execute(&mut *rival).await.unwrap();
    assert!(prune_all(&store, &days(1)).await.is_empty());

    rival.rollback().await.unwrap();
    execute(&pool, "UPDATE jobs SET status = 'cancelled' WHERE job_type = 'validator'").await.unwrap();
    execute(&pool, "UPDATE requirement_cache SET status = 'integrated'").await.unwrap();
    assert_eq!(prune_all(&store, &days(1)).await.concat().len(), 3);
}

/// A claim in a transaction that is still open is not visible, and the rows look pending.
#[sqlx::test(migrations = "../../migrations")]
async fn a_job_stays_while_an_outside_validator_has_claimed_a_requirement_and_not_committed(pool: PgPool) {
    let store = store(&pool);
    let (claimed, free) = (ended(&pool, "completed", 9).await, ended(&pool, "completed", 8).await);
    let rows = format!(
        "INSERT INTO requirement_cache (job_id, text) SELECT job, text
         FROM unnest('{{{claimed}, {free}}}'::uuid[]) job, unnest('{{It must be kept., It must be signed.}}'::text[]) text"
    );
    execute(&pool, rows).await.unwrap();
    let mut outside = pool.begin().await.unwrap();
    let claim = "UPDATE requirement_cache SET status = 'validating' WHERE id =
                 (SELECT id FROM requirement_cache WHERE job_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED)";
    sqlx::query(claim).bind(claimed).execute(&mut *outside).await.unwrap();
    let also_pending = Retention { also_pending: true, ..days(1) };
    let pruned = tokio::time::timeout(CEILING, prune_all(&store, &also_pending)).await;
    assert_eq!(pruned.expect("prune does not wait for the claim"), [vec![free]]);

    outside.rollback().await.unwrap();
    assert_eq!(prune_all(&store, &also_pending).await, [vec![claimed]]);
}

/// The daily usage of all jobs, deleted or not.
async fn usage(pool: &PgPool) -> Option<String> {
    value(
        pool,
        "SELECT string_agg(concat_ws(' ', day, job_type, model, requests, tokens, trim_scale(cost_usd)), E'\n'
                           ORDER BY day, job_type, model) FROM usage_daily",
    )
    .await
}

#[sqlx::test(migrations = "../../migrations")]
async fn usage_a_day_survives_the_jobs(pool: PgPool) {
    let store = store(&pool);
    let mut jobs = Vec::new();
    for days in [40, 40, 1] {
        let job = ended(&pool, "completed", days).await;
        let rows = format!(
            "UPDATE jobs SET total_requests = 3, lease_epoch = 1 WHERE id = '{job}';
             INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                                       estimated, duration_ms, attempt, created_at, cost_usd)
             VALUES ('{job}', gen_random_uuid(), 1, 'large', 'tactical', 1000, 600, 100, false, 5, 1, '2026-11-20 23:59Z', 0.0021),
                    ('{job}', gen_random_uuid(), 2, 'large', 'tactical', 1000, 0, 0, false, 5, 1, '2026-11-21 00:01Z', 0.002),
                    ('{job}', gen_random_uuid(), 2, 'small', 'summary', 0, 0, 1000, false, 5, 1, '2026-11-21 00:01Z', 0.001)"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(rows)).execute(&pool).await.unwrap();
        jobs.push(job);
    }
    let before = "2026-11-20 creator large 3 3300 0.0063\n2026-11-21 creator large 3 3000 0.006\n2026-11-21 creator small 3 3000 0.003";
    assert_eq!(usage(&pool).await.as_deref(), Some(before));
    assert_eq!(prune_all(&store, &days(30)).await.concat().len(), 2);
    assert_eq!(usage(&pool).await.as_deref(), Some(before));
    execute(&pool, format!("DELETE FROM jobs WHERE id = '{}'", jobs[2])).await.unwrap();
    assert_eq!(usage(&pool).await.as_deref(), Some(before));
}

#[sqlx::test(migrations = "../../migrations")]
async fn workers_learn_of_deleted_jobs_that_may_have_folders(pool: PgPool) {
    let store = store(&pool);
    let (ran, never_ran) = (ended(&pool, "completed", 40).await, ended(&pool, "cancelled", 40).await);
    execute(&pool, format!("UPDATE jobs SET lease_epoch = 1, step = 1 WHERE id = '{ran}'")).await.unwrap();
    let pruned = store.prune(&days(30)).await.unwrap();
    let mut pruned: Vec<_> = pruned.into_iter().map(|job| (job.id, job.ran)).collect();
    pruned.sort_by_key(|job| job.1);
    assert_eq!(pruned, [(never_ran, false), (ran, true)]);
    let told = store.deleted_jobs((chrono::DateTime::UNIX_EPOCH, Uuid::nil()), 10).await.unwrap();
    assert_eq!(told.iter().map(|job| job.job_id).collect::<Vec<_>>(), [ran]);
    assert_eq!(store.deleted_jobs((told[0].deleted_at, told[0].job_id), 10).await.unwrap(), []);

    execute(&pool, "UPDATE deleted_jobs SET deleted_at = now() - interval '91 days'").await.unwrap();
    let other = ended(&pool, "completed", 1).await;
    execute(&pool, format!("DELETE FROM jobs WHERE id = '{other}'")).await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM deleted_jobs").await.as_deref(), Some("0"));
}

/// Without a graph a requirement that passed is pending forever: it is judged, and no longer keeps its job.
#[sqlx::test(migrations = "../../migrations")]
async fn a_job_whose_requirements_are_judged_goes_and_what_stays_says_why(pool: PgPool) {
    let store = store(&pool);
    let (judged, unjudged, undone, held, parent) = (
        ended(&pool, "completed", 9).await,
        ended(&pool, "completed", 9).await,
        ended(&pool, "completed", 9).await,
        ended(&pool, "completed", 9).await,
        ended(&pool, "completed", 9).await,
    );
    let rows = format!(
        "INSERT INTO requirement_cache (job_id, text, validation_result) VALUES ('{judged}', 'It must be kept.', '{{}}');
         INSERT INTO requirement_cache (job_id, text) VALUES ('{unjudged}', 'It must be kept.');
         INSERT INTO requirement_cache (job_id, text, validation_result) VALUES
             ('{unjudged}', 'It must be signed.', 'null'), ('{undone}', 'It must be kept.', '{{}}');
         UPDATE requirement_cache SET validation_result = 'null' WHERE job_id = '{undone}';
         INSERT INTO requirement_cache (job_id, text, status) VALUES ('{held}', 'It must be kept.', 'validating');
         INSERT INTO jobs (prompt, parent_job_id) VALUES ('x', '{parent}')"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(rows)).execute(&pool).await.unwrap();
    let kept = async |retention: &Retention| {
        let kept = store.kept(retention).await.unwrap();
        kept.into_iter().map(|kept| format!("{} {}", kept.reason, kept.jobs)).collect::<Vec<_>>()
    };
    assert_eq!(kept(&days(1)).await, ["followed 1", "pending 2", "validating 1"]);
    assert_eq!(store.prunable(&days(1)).await.unwrap()[0].jobs, 1);
    assert_eq!(prune_all(&store, &days(1)).await, [vec![judged]]);
    let also_pending = Retention { also_pending: true, ..days(1) };
    assert_eq!(kept(&also_pending).await, ["followed 1", "validating 1"]);
    let not_judged = "SELECT count(*) FROM requirement_cache WHERE validation_result IS NULL AND status = 'pending'";
    assert_eq!(value(&pool, not_judged).await.as_deref(), Some("3"), "JSON null is no judgement");
    assert_eq!(prune_all(&store, &also_pending).await.concat().len(), 2);
}
