//! The documented SQL interface, exactly: every column with its type and default, every value of a status, the
//! functions with the names of their parameters, and a plain UPDATE or DELETE at any time.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, eventually, jobs::NewJob};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;

/// Table, then `column type`, with the documented default.
const COLUMNS: &[(&str, &str)] = &[
    (
        "jobs",
        "id uuid uuid_v7, job_type text creator, prompt text, document_path text, document_content bytea, \
         context jsonb {}, config jsonb {}, priority integer 0, run_at timestamptz now(), max_attempts integer 3, \
         idempotency_key text, parent_job_id uuid, status text pending, status_reason text, attempt integer, \
         worker_id uuid, lease_epoch bigint, step bigint, phase_number integer, phase text, phase_name text, \
         phases_done integer, phases_total integer, todos_done integer, todos_total integer, current_todo text, \
         result jsonb, error_message text, \
         error_details jsonb, total_requests bigint, total_tokens_used bigint, cached_tokens bigint, cost_usd numeric, \
         created_at timestamptz, updated_at timestamptz, started_at timestamptz, completed_at timestamptz",
    ),
    (
        "todos",
        "job_id uuid, phase_number integer, position integer, content text, status text, notes text, \
         created_at timestamptz, completed_at timestamptz",
    ),
    (
        "phases",
        "job_id uuid, phase_number integer, kind text, name text, outcome text, started_at timestamptz, \
         ended_at timestamptz",
    ),
    ("checkpoints", "job_id uuid, step bigint, phase_number integer, phase text, state jsonb, created_at timestamptz"),
    (
        "llm_requests",
        "id uuid, job_id uuid, step bigint, model text, purpose text, prompt_tokens bigint, cached_tokens bigint, \
         completion_tokens bigint, duration_ms bigint, attempt integer, finish_reason text, error text, failure_class text, \
         created_at timestamptz, api text, endpoint text, cache_write_tokens bigint, reasoning_tokens bigint, \
         service_tier text, fallback boolean",
    ),
    ("workspace_files", "job_id uuid, path text, size bigint, sha256 text, step bigint, updated_at timestamptz"),
    (
        "attempts",
        "job_id uuid, attempt integer, worker_id uuid, lease_epoch bigint, started_at timestamptz, \
         ended_at timestamptz, outcome text, error text",
    ),
    (
        "workers",
        "id uuid, hostname text, version text, started_at timestamptz, heartbeat_at timestamptz, concurrency integer",
    ),
    (
        "endpoint_limits",
        "endpoint text, key_name text, model text, requests_per_minute bigint, tokens_per_minute bigint, parallel integer, \
         burst_s double precision, source text set, blocked_until timestamptz, updated_at timestamptz",
    ),
    (
        "requirement_cache",
        "id uuid uuid_v7, job_id uuid, candidate_id text, text text, name text, type text, priority text, \
         source_document text, source_location jsonb, gobd_relevant boolean, gdpr_relevant boolean, citations jsonb, \
         mentioned_objects jsonb, mentioned_messages jsonb, reasoning text, research_notes text, \
         confidence double precision, status text pending, validation_result jsonb, graph_node_id text, \
         rejection_reason text, retry_count integer, last_error text, created_at timestamptz, updated_at timestamptz, \
         validated_at timestamptz, tags jsonb",
    ),
    (
        "job_summary",
        "id uuid, status text, requirements bigint, parent_job_id uuid, phases_done integer, phases_total integer, \
         percent integer, validator_status text, requirements_checked bigint, result jsonb",
    ),
    (
        "requirement_changes",
        "job_id uuid, requirement_id uuid, step bigint, kind text, reason text, fields jsonb, former jsonb, \
         created_at timestamptz",
    ),
];

/// Table, column, and its values.
const VALUES: &[(&str, &str, &str)] = &[
    ("jobs", "status", "pending running paused review completed failed cancelled"),
    ("jobs", "phase", "strategic tactical"),
    ("todos", "status", "pending in_progress completed abandoned"),
    ("phases", "kind", "strategic tactical"),
    ("phases", "outcome", "completed rewound forced"),
    ("attempts", "outcome", "released ended crashed lost"),
    ("endpoint_limits", "source", "set learnt"),
    ("requirement_cache", "status", "pending validating integrated rejected failed withdrawn"),
];

#[sqlx::test(migrations = false)]
async fn every_promised_column_has_its_type_and_default(pool: PgPool) {
    let world = World::new(pool).await;
    let found: Vec<(String, String, String, String)> = sqlx::query_as(
        "SELECT table_name::text, column_name::text, replace(data_type, 'timestamp with time zone', 'timestamptz'),
                coalesce(column_default, '')
         FROM information_schema.columns WHERE table_schema = 'public'",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the catalogue can be read");
    let mut wrong = Vec::new();
    for (table, columns) in COLUMNS {
        for promised in columns.split(", ") {
            let (name, rest) = promised.split_once(' ').expect("a column and its type");
            let there = found.iter().find(|column| column.0 == *table && column.1 == name);
            let fits = |(_, _, kind, default): &(String, String, String, String)| {
                rest.strip_prefix(kind.as_str()).is_some_and(|expected| default.contains(expected.trim()))
            };
            if !there.is_some_and(fits) {
                wrong.push(format!("{table}.{promised}: found {there:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_status_has_its_values_and_no_others(pool: PgPool) {
    let world = World::new(pool).await;
    for (table, column, values) in VALUES {
        let rules: Vec<String> = sqlx::query_scalar(
            "SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c
             WHERE c.contype = 'c' AND c.conrelid = $1::regclass AND c.conkey = ARRAY[
                 (SELECT attnum FROM pg_attribute WHERE attrelid = c.conrelid AND attname = $2)]",
        )
        .bind(table)
        .bind(column)
        .fetch_all(&world.pool)
        .await
        .expect("the catalogue can be read");
        let allowed: BTreeSet<&str> = rules.iter().flat_map(|rule| rule.split('\'').skip(1).step_by(2)).collect();
        assert_eq!(allowed, values.split(' ').collect(), "{table}.{column}: {rules:?}");
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_functions_take_their_parameters_by_name(pool: PgPool) {
    let world = World::new(pool).await;
    let ask = async |statement: &str| {
        sqlx::query_scalar::<_, String>(AssertSqlSafe(statement.to_owned())).fetch_one(&world.pool).await
    };
    let id = ask("SELECT enqueue_job(prompt => 'Say what records are', job_type => 'creator', context => '{\"a\": 1}',
                            document_name => 'a.md', document_content => 'It must be kept.', priority => 2,
                            run_at => now() + interval '1 day', idempotency_key => 'once')::text")
    .await
    .expect("all parameters");
    let again = ask("SELECT enqueue_job('Say what records are', document_name => 'a.md',
                            document_content => 'It must be kept.', idempotency_key => 'once')::text")
    .await;
    assert_eq!(again.expect("a known key"), id, "a known key gives the job that it was used for");
    let other = ask("SELECT enqueue_job('Something else', idempotency_key => 'once')::text").await;
    let refused = other.expect_err("a known key with another prompt").to_string();
    assert!(refused.contains("with another prompt; use another key"), "{refused}");
    let nulls = "SELECT enqueue_job('Say what records are', NULL, NULL, NULL, NULL, NULL, NULL, NULL)::text";
    assert_ne!(ask(nulls).await.expect("null stands for what is left out"), id);

    for (call, status) in [
        (format!("SELECT send_feedback(id => '{id}', text => 'Mind the annex.')"), "pending"),
        (format!("SELECT pause_job(id => '{id}')"), "paused"),
        (format!("SELECT resume_job(id => '{id}', feedback => 'Mind the index.')"), "pending"),
        (format!("SELECT cancel_job(id => '{id}')"), "cancelled"),
        (format!("SELECT retry_job(id => '{id}')"), "pending"),
    ] {
        assert_eq!(ask(&call).await.expect(&call), status, "{call}");
    }
    let refused = ask(&format!("SELECT approve_job(id => '{id}')")).await.expect_err("it is not in review").to_string();
    assert!(refused.contains(&id) && refused.contains("pending"), "{refused}");
    world.finish().await;
}

/// A user's plain SQL on a running job, the resulting status, and whether a plain UPDATE resumes it.
const BY_HAND: [(&str, &str, bool); 6] = [
    ("UPDATE jobs SET status = 'cancelled' WHERE id = $1", "cancelled", false),
    ("UPDATE jobs SET status = 'paused' WHERE id = $1", "paused", true),
    ("UPDATE jobs SET status = 'review' WHERE id = $1", "review", true),
    ("UPDATE jobs SET status = 'pending', run_at = now() + interval '1 day' WHERE id = $1", "pending", true),
    ("UPDATE jobs SET status = 'failed', error_message = 'by hand' WHERE id = $1", "failed", false),
    ("UPDATE jobs SET status = 'completed' WHERE id = $1", "completed", false),
];

#[sqlx::test(migrations = false)]
async fn a_running_job_obeys_a_plain_update_and_even_a_delete(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    world.import("policy.md", &policy.markdown);
    let mut running = Vec::new();
    for _ in 0..=BY_HAND.len() {
        running.push(world.insert(&NewJob::with_path("policy.md")).await);
    }
    // Request by request, so that no job gets far: each waits for the answer to its third.
    world.model.hold_from(1);
    let worker = world.worker();
    for round in 1..=3 {
        world.model.hold_from((round - 1) * running.len() as u64 + 1);
        world.model.arrived(round * running.len() as u64).await;
    }
    for job in &running {
        world.until(*job, "is claimed", |job| job.status == "running").await;
    }
    let deleted = running.pop().expect("there is one more than there are statements");
    execute(&world, "DELETE FROM jobs WHERE id = $1", deleted).await;
    for (job, (statement, status, _)) in running.iter().zip(BY_HAND) {
        execute(&world, statement, *job).await;
        let ended: bool = sqlx::query_scalar("SELECT completed_at IS NOT NULL FROM jobs WHERE id = $1 AND status = $2")
            .bind(job)
            .bind(status)
            .fetch_one(&world.pool)
            .await
            .expect(statement);
        assert_eq!(ended, matches!(status, "cancelled" | "failed" | "completed"), "{statement}");
    }
    world.model.answers(Answer::Work);
    // A resumed job continues from where it was; the others are unchanged.
    for (job, (_, _, goes_on)) in running.iter().zip(BY_HAND) {
        if goes_on {
            execute(&world, "UPDATE jobs SET status = 'pending', run_at = now() WHERE id = $1", *job).await;
            world.becomes(*job, "completed").await;
        }
    }
    for (job, (statement, status, goes_on)) in running.iter().zip(BY_HAND) {
        assert!(goes_on || world.job(*job).await.status == status, "{statement}");
    }
    assert_nothing_is_left_of(&world, deleted).await;
    worker.stop().await;
    world.finish().await;
}

async fn execute(world: &World, statement: &'static str, job: Uuid) {
    let done = sqlx::query(statement).bind(job).execute(&world.pool).await.expect(statement);
    assert_eq!(done.rows_affected(), 1, "{statement}");
}

async fn assert_nothing_is_left_of(world: &World, job: Uuid) {
    for table in ["jobs WHERE id", "checkpoints WHERE job_id", "messages WHERE job_id", "file_versions WHERE job_id"] {
        let statement = format!("SELECT count(*) FROM {table} = $1");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(statement))
            .bind(job)
            .fetch_one(&world.pool)
            .await
            .expect("rows can be counted");
        assert_eq!(rows, 0, "a worker wrote to a deleted job: {table}");
    }
}

/// The server's calendar is longer than the program's, and has moments without a date.
#[sqlx::test(migrations = false)]
async fn any_moment_that_the_server_knows_can_be_waited_for(pool: PgPool) {
    let world = World::new(pool).await;
    sqlx::query("INSERT INTO concurrency_limits VALUES ('creator', '', 0)")
        .execute(&world.pool)
        .await
        .expect("a limit can be set");
    for (moment, shown) in [
        ("-infinity", "0001-01-01T00:00:00Z"),
        ("4000-01-01 BC", "0001-01-01T00:00:00Z"),
        ("2001-02-03 04:05Z", "2001-02-03T04:05:00Z"),
        ("294000-01-01", "9999-12-31T23:59:59Z"),
        ("infinity", "9999-12-31T23:59:59Z"),
    ] {
        let id: String =
            sqlx::query_scalar("INSERT INTO jobs (prompt, run_at) VALUES ('Wait', $1::timestamptz) RETURNING id::text")
                .bind(moment)
                .fetch_one(&world.pool)
                .await
                .expect(moment);
        let status = world.run(&["status", &id, "--json"]).await;
        let job: Value = serde_json::from_str(&status.stdout).unwrap_or_else(|_| panic!("{moment}: {status:?}"));
        assert_eq!(job["run_at"], shown, "{moment}");
    }
    let doctor = world.run(&["doctor"]).await;
    assert!(doctor.stdout.contains("queue: 0 runnable, 2 later, 0 running"), "{}", doctor.stdout);
    world.work_until_idle().await;
    world.finish().await;
}

/// Rows that look odd and can be done all the same.
#[sqlx::test(migrations = false)]
async fn odd_but_legal_rows_are_done(pool: PgPool) {
    let world = World::new(pool).await;
    let document = "The archivist must keep the register.";
    std::fs::create_dir_all(world.workspace().join("import/a folder/below")).expect("the import folder can be written");
    world.import("a folder/below/Ünï 'cödé'.md", document);
    for row in [
        "(prompt) VALUES ('x')",
        "(prompt, document_path) VALUES ('提取', 'a folder')",
        "(prompt, document_path) VALUES ('Look below', './a folder/below/')",
        "(prompt, document_content) VALUES ('Without a name', 'The archivist must keep the register.')",
        "(prompt, priority, context, config) VALUES ('Urgent', -2147483648, '[1, \"two\"]', 'null')",
        "(prompt, run_at) VALUES (E'Line one\\nline\\ttwo \\x01', '-infinity')",
        "(prompt, max_attempts, parent_job_id) VALUES ('An orphan', 1, gen_random_uuid())",
    ] {
        sqlx::query(AssertSqlSafe(format!("INSERT INTO jobs {row}"))).execute(&world.pool).await.expect(row);
    }
    let worker = world.worker();
    eventually("all jobs have ended", async || {
        let open: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE completed_at IS NULL")
            .fetch_one(&world.pool)
            .await
            .expect("jobs can be counted");
        (open == 0).then_some(())
    })
    .await;
    let failed: Vec<(String, Option<String>)> =
        sqlx::query_as("SELECT prompt, error_message FROM jobs WHERE status <> 'completed'")
            .fetch_all(&world.pool)
            .await
            .expect("jobs can be read");
    assert!(failed.is_empty(), "{failed:?}");
    worker.stop().await;
    world.finish().await;
}
