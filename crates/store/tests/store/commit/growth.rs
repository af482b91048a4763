//! The cost of a step and a claim does not depend on existing rows: neither on the job's age nor on other jobs. The
//! measures, WAL bytes and blocks touched, are the same on a busy machine.

use crate::support::{LEASE_SECS, commit, execute, message, pending, running, store, until, worker};
use plumbline_engine::{Change, FileWrite, MessageKind, Product, Role, Todo, TodoStatus};
use plumbline_store::{ClaimedJob, Store};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Row};

/// The cost of a statement.
#[derive(Clone, Copy, Debug)]
struct Cost {
    journal: i64,
    blocks: i64,
}

/// Executes a statement with these arguments and returns its cost.
async fn cost(connection: &mut PgConnection, statement: &str, arguments: &str) -> Cost {
    let script = format!(
        "DEALLOCATE ALL; PREPARE counted AS {statement};
         EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT JSON) EXECUTE counted ({arguments})"
    );
    let rows = sqlx::raw_sql(AssertSqlSafe(script)).fetch_all(connection).await.unwrap();
    let plan: Value = rows.last().unwrap().get(0);
    let plan = &plan[0]["Plan"];
    let mut cost = Cost::of(plan);
    // Writing parts whose result the statement does not use run after it, and are counted separately.
    for part in plan["Plans"].as_array().into_iter().flatten().filter(|part| part["Node Type"] == "ModifyTable") {
        if part["Subplan Name"] != "CTE fence" && part["Subplan Name"] != "CTE claimed" {
            cost = cost + Cost::of(part);
        }
    }
    cost
}

impl Cost {
    fn of(node: &Value) -> Self {
        let number = |key: &str| node[key].as_i64().unwrap();
        Self { journal: number("WAL Bytes"), blocks: number("Shared Hit Blocks") + number("Shared Read Blocks") }
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { journal: self.journal + other.journal, blocks: self.blocks + other.blocks }
    }
}

/// A connection with the planner settings of the store's.
async fn planning(pool: &PgPool) -> PgConnection {
    let mut connection = pool.acquire().await.unwrap().detach();
    sqlx::raw_sql("SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan")
        .execute(&mut connection)
        .await
        .unwrap();
    connection
}

/// Waits until all transactions running at the time of the call have ended, in other databases too: a backend's
/// snapshot is as old as the oldest writing transaction of the cluster, and row versions visible to it cannot be
/// pruned.
async fn what_runs_has_ended(pool: &PgPool) {
    let now: String = sqlx::query_scalar("SELECT pg_current_xact_id()::text").fetch_one(pool).await.unwrap();
    let ended = format!(
        "SELECT pg_snapshot_xmin(pg_current_snapshot()) > '{now}'::xid8 AND NOT EXISTS (
             SELECT FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin::text::bigint <= {now})"
    );
    until(pool, &ended).await;
}

/// A turn with a message of 500 bytes, its result, and a file.
fn turn(seq: i64) -> Vec<Change> {
    let words = format!("{:500}", format!("note {seq}"));
    vec![
        Change::Message(message(seq, Role::Assistant, MessageKind::Reply, &words)),
        Change::Message(message(seq + 1, Role::Tool, MessageKind::ToolResult, "written")),
        Change::Product(Product::WriteFile(FileWrite::text(format!("notes/{seq}.md"), words))),
        Change::TodoMoved { phase_number: 1, position: 1, status: TodoStatus::Completed, notes: None },
    ]
}

/// The same turn as the arguments of `commit_steps.sql`.
fn arguments(job: &ClaimedJob, step: i64) -> String {
    let seq = 2 * step + 1;
    let words = format!("{:500}", format!("note {seq}"));
    let message = |seq: i64, role: &str, kind: &str, content: &str| json!({"phase_number": 1, "seq": seq, "role": role, "kind": kind, "content": content, "tokens": 7});
    let document = json!({
        "job_id": job.id, "lease_epoch": job.lease_epoch, "expected_step": step,
        "phase_number": 1, "phase": "strategic", "phase_name": "Planning",
        "todos_done": 1, "todos_total": 4, "current_todo": "Write main_plan.md",
        "total_requests": 3, "total_tokens_used": 1200, "cached_tokens": 800, "cost_microusd": 1_234_567,
        "feedback_read": 0,
        "requests": [{
            "id": uuid::Uuid::now_v7(), "model": "model", "purpose": "strategic", "prompt_tokens": 1200,
            "cached_tokens": 800, "completion_tokens": 50, "estimated": false, "duration_ms": 900, "attempt": 1,
            "finish_reason": "stop",
            "raw_usage": {}, "cache_write_tokens": 0, "reasoning_tokens": 0, "fallback": false, "cost_microusd": 1300,
            "created_at": "2026-11-21T09:00:00Z"}],
        "todo_moves": [{"phase_number": 1, "position": 1, "status": "completed"}],
    });
    let messages =
        json!([message(seq, "assistant", "reply", &words), message(seq + 1, "tool", "tool_result", "written")]);
    let state = json!(crate::support::state());
    format!(
        "ARRAY['{document}'], ARRAY['{messages}'], ARRAY['{state}'], '{{1}}', '{{notes/{seq}.md}}', ARRAY['{words}'::bytea], '{{f}}'"
    )
}

/// The minimum cost among the 20 steps after one: other activity in the database only adds to a step's cost.
async fn steps_from(store: &Store, pool: &PgPool, job: &ClaimedJob, from: i64) -> Cost {
    what_runs_has_ended(pool).await;
    let mut connection = planning(pool).await;
    let (mut journal, mut blocks) = (Vec::new(), Vec::new());
    for step in from..from + 20 {
        let cost =
            cost(&mut connection, include_str!("../../../queries/commit/commit_steps.sql"), &arguments(job, step))
                .await;
        journal.push(cost.journal);
        blocks.push(cost.blocks);
    }
    // The statement measured here is the one that the store uses to commit.
    commit(store, job.lease(), from + 20, &turn(2 * (from + 20) + 1)).await.unwrap();
    Cost { journal: journal.into_iter().min().unwrap(), blocks: blocks.into_iter().min().unwrap() }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_finds_its_job_by_the_key_where_nearly_all_jobs_have_ended(pool: PgPool) {
    let ended =
        "INSERT INTO jobs (prompt, status, completed_at) SELECT 'x', 'completed', now() FROM generate_series(1, 3000)";
    execute(&pool, ended).await.unwrap();
    let job = running(&store(&pool)).await;
    execute(&pool, "ANALYZE jobs").await.unwrap();
    let mut connection = planning(&pool).await;
    let statement = include_str!("../../../queries/commit/commit_steps.sql");
    let script = format!("PREPARE planned AS {statement}; EXPLAIN EXECUTE planned ({})", arguments(&job, 0));
    let lines = sqlx::raw_sql(AssertSqlSafe(script)).fetch_all(&mut connection).await.unwrap();
    let plan = lines.iter().map(|line| line.get(0)).collect::<Vec<String>>().join("\n");
    assert!(plan.contains("jobs_pkey") && !plan.contains("jobs_running"), "{plan}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_costs_the_same_however_long_the_job_has_run(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let list = [Change::TodosPut { phase_number: 1, todos: vec![Todo::pending(1, "write notes")] }];
    commit(&store, job.lease(), 0, &list).await.unwrap();
    for step in 1..20 {
        commit(&store, job.lease(), step, &turn(2 * step + 1)).await.unwrap();
    }
    let early = steps_from(&store, &pool, &job, 20).await;
    for step in 41..400 {
        commit(&store, job.lease(), step, &turn(2 * step + 1)).await.unwrap();
    }
    let late = steps_from(&store, &pool, &job, 400).await;
    println!("step 20: {early:?}, step 400: {late:?}");
    assert!(late.journal * 10 <= early.journal * 11, "the journal of a step grows: {early:?}, {late:?}");
    // Indexes have grown by a level, and old versions of the job's row and of its todo may have to be skipped, at most
    // a page of each: the steps measured here are rolled back and leave theirs.
    assert!(late.blocks <= early.blocks + 64, "a step touches more and more: {early:?}, {late:?}");
}

/// The cost of a claim of 20 jobs.
async fn claim(store: &Store, pool: &PgPool) -> Cost {
    let worker = worker(store).await;
    let mut connection = planning(pool).await;
    cost(
        &mut connection,
        include_str!("../../../queries/queue/claim.sql"),
        &format!("'{worker}', 20, NULL, {LEASE_SECS}"),
    )
    .await
}

/// Other jobs, as found in practice.
async fn fill(pool: &PgPool, pending: u32, ended: u32) {
    let mut tx = pool.begin().await.unwrap();
    for sql in [
        "SET LOCAL session_replication_role = replica".to_owned(),
        format!("INSERT INTO jobs (prompt) SELECT 'waiting' FROM generate_series(1, {pending})"),
        format!(
            "INSERT INTO jobs (prompt, status, completed_at)
             SELECT 'ended', 'completed', now() FROM generate_series(1, {ended})"
        ),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    execute(pool, "ANALYZE jobs").await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_claim_costs_the_same_however_many_jobs_wait_or_have_ended(pool: PgPool) {
    let store = store(&pool);
    fill(&pool, 1_000, 0).await;
    let few = claim(&store, &pool).await;
    fill(&pool, 50_000, 100_000).await;
    // The front of the lanes is unchanged; the next claim also skips the dead rows of the previous one.
    let many = claim(&store, &pool).await;
    println!("1,000 pending: {few:?}; 51,000 pending and 100,000 ended: {many:?}");
    assert!(many.blocks <= few.blocks + 100, "a claim reads more: {few:?}, {many:?}");
    assert_eq!(store.claim(worker(&store).await, 30, None, LEASE_SECS).await.unwrap().len(), 30);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_new_connections_step_reads_no_table_that_was_small_when_it_was_planned(pool: PgPool) {
    // No statistics yet: a plan for a table of a few pages would use a sequential scan, and would be kept.
    let url = sqlx::ConnectOptions::to_url_lossy(pool.connect_options().as_ref()).to_string();
    let shop = Store::connect(&url, plumbline_store::ConnectOptions::default()).await.unwrap();
    let job = running(&store(&pool)).await;
    pending(&shop).await;
    let list = [Change::TodosPut { phase_number: 1, todos: vec![Todo::pending(1, "write notes")] }];
    commit(&shop, job.lease(), 0, &list).await.unwrap();
    for step in 1..40 {
        commit(&shop, job.lease(), step, &turn(2 * step + 1)).await.unwrap();
    }
    shop.close().await;
    // A session reports its statistics when it ends at the latest.
    until(&pool, "SELECT sum(n_tup_ins) >= 79 FROM pg_stat_user_tables WHERE relname IN ('messages', 'checkpoints')")
        .await;
    let scanned: Vec<(String, i64)> = sqlx::query_as(
        "SELECT relname::text, seq_tup_read FROM pg_stat_user_tables
         WHERE relname IN ('messages', 'todos', 'checkpoints', 'file_versions') AND seq_tup_read > 0",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(scanned, [], "rows read in whole tables");
}

/// Pending requirements of other jobs; either the planner has statistics of them, or it assumes that the table is
/// empty.
async fn requirements(pool: &PgPool, known: bool) -> uuid::Uuid {
    let mut statements = vec![
        "INSERT INTO jobs (prompt, job_type, status, completed_at)
         SELECT n, 'creator', 'failed', now() FROM generate_series(1, 100) n",
        "INSERT INTO requirement_cache (job_id, text, status)
         SELECT j.id, 'the requirement number ' || n, 'integrated' FROM jobs j, generate_series(1, 100) n",
        "INSERT INTO requirement_cache (job_id, text, created_at)
         SELECT j.id, 'the waiting requirement ' || n, now() + j.prompt::int * interval '1 ms'
         FROM jobs j, generate_series(1, 200) n",
    ];
    statements.insert(if known { 3 } else { 2 }, "ANALYZE");
    for statement in statements {
        execute(pool, statement).await.unwrap();
    }
    sqlx::query_scalar("SELECT id FROM jobs WHERE prompt = '100'").fetch_one(pool).await.unwrap()
}

/// The cost of a validator's claims of 20 requirements, of 20 more, and of its tally.
async fn validation(pool: &PgPool, of: Option<uuid::Uuid>) -> [Cost; 3] {
    let store = store(pool);
    let worker = worker(&store).await;
    let new = plumbline_store::NewJob { parent_job_id: of, ..plumbline_store::NewJob::new("Validate") };
    store.enqueue(&new).await.unwrap();
    let validator = store.claim(worker, 1, None, LEASE_SECS).await.unwrap().remove(0);
    let mut connection = planning(pool).await;
    let (claims, tally) = (
        include_str!("../../../queries/requirements/claim_requirements.sql"),
        include_str!("../../../queries/requirements/validation_tally.sql"),
    );
    let lease = format!("'{}', {}", validator.id, validator.lease_epoch);
    let first = cost(&mut connection, claims, &format!("{lease}, 20, false, '{{}}'")).await;
    let next = cost(&mut connection, claims, &format!("{lease}, 40, false, '{{}}'")).await;
    let tally = cost(&mut connection, tally, &format!("'{}', false", validator.id)).await;
    let held = store.held_requirements(validator.id, &[], 100).await.unwrap();
    assert_eq!(held.len(), 40);
    assert!(of.is_none_or(|of| held.iter().all(|row| row.job_id == of)));
    [first, next, tally]
}

async fn a_validator_reads_no_more_than_it_takes(pool: &PgPool, known: bool) {
    let last = requirements(pool, known).await;
    let [first, next, tally] = validation(pool, Some(last)).await;
    println!("of one job: {first:?}, {next:?}, tally {tally:?}");
    assert!(first.blocks < 4_000 && next.blocks < 1_000, "{first:?}, {next:?}");
    assert!(tally.blocks < 400, "the job's 160 waiting rows are counted, and no others: {tally:?}");
    let [first, next, _] = validation(pool, None).await;
    println!("of all jobs: {first:?}, {next:?}");
    // The first check of who may judge for others reads the catalog, with a varying number of blocks per session;
    // reading all 20,000 pending rows would cost far more.
    assert!(first.blocks < 4_000 && next.blocks < 1_000, "{first:?}, {next:?}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_validator_reads_no_more_requirements_than_it_takes(pool: PgPool) {
    a_validator_reads_no_more_than_it_takes(&pool, true).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_validator_reads_no_more_requirements_than_it_takes_from_a_burst(pool: PgPool) {
    a_validator_reads_no_more_than_it_takes(&pool, false).await;
}
