//! Counters that grow with the work do so beyond 32 bits.

use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob, record};
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;

/// More than 32 bits hold, signed or not.
const FAR: i64 = 5_000_000_000;

/// Columns of 32 bits, each bounded independently of the system's run time: people and models write jobs, plans,
/// documents and limits, and requests in flight are at most as many as running jobs.
const BOUNDED: [&str; 40] = [
    "attempt",
    "candidates",
    "candidates_cited",
    "concurrency",
    "crash_count",
    "dimensions",
    "documents_count",
    "feedback_untaken",
    "first_line",
    "first_page",
    "from",
    "last_page",
    "max_attempts",
    "max_running",
    "n_not_judged",
    "n_requirements",
    "n_sentences",
    "number",
    "ordinal",
    "page",
    "page_to",
    "pages",
    "parallel",
    "part",
    "passage",
    "phase_number",
    "phases_done",
    "phases_total",
    "position",
    "priority",
    "refusals",
    "remaining",
    "retry_count",
    "slots",
    "todos_done",
    "todos_total",
    "to",
    "tokens",
    "waiting",
    "wanted",
];

#[sqlx::test(migrations = "../migrations")]
async fn what_grows_with_the_work_has_64_bits(pool: PgPool) {
    let narrow = "SELECT DISTINCT column_name::text FROM information_schema.columns
                  JOIN information_schema.tables USING (table_schema, table_name)
                  WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type IN ('integer', 'smallint')";
    let narrow: BTreeSet<String> =
        sqlx::query_scalar::<_, String>(narrow).fetch_all(&pool).await.expect("a catalogue").into_iter().collect();
    let unknown: Vec<&String> = narrow.iter().filter(|name| !BOUNDED.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "columns of 32 bits that nothing bounds: {unknown:?}");
    let sequences = "SELECT sequencename::text FROM pg_sequences WHERE data_type <> 'bigint'::regtype";
    let sequences: Vec<String> = sqlx::query_scalar(sequences).fetch_all(&pool).await.expect("a catalogue");
    assert!(sequences.is_empty(), "sequences of 32 bits: {sequences:?}");
}

/// Moves all of a job's steps, as if it had made so many before.
async fn move_steps(pool: &PgPool, job: Uuid) {
    let columns = "SELECT table_name::text, column_name::text FROM information_schema.columns
                   JOIN information_schema.tables USING (table_schema, table_name)
                   WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'bigint'
                     AND (column_name = 'step' OR column_name LIKE '%\\_step')";
    let columns: Vec<(String, String)> = sqlx::query_as(columns).fetch_all(pool).await.expect("a catalogue");
    assert!(columns.len() > 8, "{columns:?}");
    // Without triggers: one refuses a later `untrusted_step`.
    let mut tx = pool.begin().await.expect("a transaction");
    sqlx::query("SET LOCAL session_replication_role = replica").execute(&mut *tx).await.expect("the owner may");
    for (table, column) in columns {
        let id = if table == "jobs" { "id" } else { "job_id" };
        let moved = format!("UPDATE {table} SET {column} = {column} + {FAR} WHERE {id} = $1");
        sqlx::query(AssertSqlSafe(moved)).bind(job).execute(&mut *tx).await.expect("steps can be moved");
    }
    // Its first step is no longer the first there is.
    let first = format!("UPDATE jobs SET forked_step = {FAR} + 1 WHERE id = $1");
    sqlx::query(AssertSqlSafe(first)).bind(job).execute(&mut *tx).await.expect("a job can be updated");
    tx.commit().await.expect("the steps are moved");
}

#[sqlx::test(migrations = false)]
async fn a_job_continues_after_five_billion_steps(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let before = world.becomes(job, "completed").await;
    let calm = record::requirements(&world.pool, job).await;
    move_steps(&world.pool, job).await;
    let fork = "SELECT fork_job($1, $2)";
    let fork: Uuid = sqlx::query_scalar(fork)
        .bind(job)
        .bind(FAR + before.step / 2)
        .fetch_one(&world.pool)
        .await
        .expect("a job can be forked");
    world.work_until_idle().await;
    let row = world.becomes(fork, "completed").await;
    assert_eq!(row.step, FAR + before.step);
    assert_eq!(record::requirements(&world.pool, fork).await, calm);
    let shown = world.run(&["trace", &fork.to_string()]).await;
    assert!(shown.code == Some(0) && shown.stdout.contains(&row.step.to_string()), "{}", shown.stdout);
    world.finish().await;
}
