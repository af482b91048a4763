//! Migrations, and what the tables reject.

use crate::support::{LEASE_SECS, empty, execute, pending, sentence, store, value, worker};
use chrono::Utc;
use plumbline_store::{Error, MIGRATOR, NewJob};
use sqlx::PgPool;
use uuid::{Uuid, Variant};

#[sqlx::test(migrations = false)]
async fn migrate_is_safe_at_once_and_again(pool: PgPool) {
    empty(&pool).await;
    let store = store(&pool);
    assert_eq!(store.schema_version().await.unwrap(), None);
    let refused = store.check_schema().await.unwrap_err();
    assert!(matches!(refused, Error::SchemaOlder { found: None, .. }), "{refused}");

    let (one, two) = tokio::join!(store.migrate(), store.migrate());
    one.unwrap();
    two.unwrap();
    store.migrate().await.unwrap();
    store.check_schema().await.unwrap();
    assert_eq!(store.schema_version().await.unwrap(), MIGRATOR.iter().map(|m| m.version).max());
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_newer_schema_is_refused(pool: PgPool) {
    execute(
        &pool,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (99991231235959, 'from the future', true, '', 0)",
    )
    .await
    .unwrap();
    let store = store(&pool);
    for refused in [store.check_schema().await.unwrap_err(), store.migrate().await.unwrap_err()] {
        assert!(matches!(refused, Error::SchemaNewer { found: 99_991_231_235_959, .. }), "{refused}");
        assert!(refused.to_string().contains("newer"), "{refused}");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_least_a_user_writes_is_enough(pool: PgPool) {
    execute(&pool, "INSERT INTO jobs (prompt, document_path) VALUES ('Extract the requirements', 'policy.pdf')")
        .await
        .unwrap();
    let row = value(
        &pool,
        "SELECT concat_ws(' ', job_type, status, priority, max_attempts, attempt, step, context, config, cost_usd) FROM jobs",
    )
    .await;
    assert_eq!(row.as_deref(), Some("creator pending 0 3 0 0 {} {} 0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn ids_that_the_database_makes_rise_with_the_time(pool: PgPool) {
    let jobs = "INSERT INTO jobs (prompt) SELECT n FROM generate_series(1, 1000) n RETURNING id";
    let requirements = "INSERT INTO requirement_cache (job_id, text)
                        SELECT id, 'Invoices must be kept.' FROM jobs RETURNING id";
    for statement in [jobs, requirements] {
        let before = Utc::now();
        let ids: Vec<Uuid> = sqlx::query_scalar(statement).fetch_all(&pool).await.unwrap();
        let after = Utc::now();
        assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        for id in ids {
            assert_eq!((id.get_version_num(), id.get_variant()), (7, Variant::RFC4122), "{id}");
            let millis = i64::try_from(id.as_u128() >> 80).unwrap();
            assert!((before.timestamp_millis()..=after.timestamp_millis() + 1).contains(&millis), "{id}");
        }
    }
}

/// Otherwise a claim would fail with every other job that it takes.
#[sqlx::test(migrations = "../../migrations")]
async fn a_job_whose_counts_are_at_their_limits_is_claimed_like_any_other(pool: PgPool) {
    let counts =
        "INSERT INTO jobs (prompt, attempt, lease_epoch) VALUES ('x', 1000000000, 0), ('x', 0, 1000000000000000000)";
    execute(&pool, counts.to_owned()).await.unwrap();
    pending(&store(&pool)).await;
    let claimed =
        store(&pool).claim(worker(&store(&pool)).await, 9, Some(&["creator".to_owned()]), LEASE_SECS).await.unwrap();
    assert_eq!(claimed.len(), 3);
}

#[sqlx::test(migrations = "../../migrations")]
async fn checks_refuse_rows_that_cannot_be(pool: PgPool) {
    let job = pending(&store(&pool)).await;
    let refused = [
        ("INSERT INTO jobs (prompt, status) VALUES ('x', 'done')".to_owned(), "jobs_status_check"),
        ("INSERT INTO jobs (prompt, phase) VALUES ('x', 'done')".to_owned(), "jobs_phase_check"),
        ("INSERT INTO jobs (prompt, status) VALUES ('x', 'completed')".to_owned(), "jobs_ended_has_completed_at"),
        ("INSERT INTO jobs (prompt, completed_at) VALUES ('x', now())".to_owned(), "jobs_ended_has_completed_at"),
        ("INSERT INTO jobs (prompt, status) VALUES ('x', 'running')".to_owned(), "jobs_running_has_worker"),
        ("INSERT INTO jobs (prompt, max_attempts) VALUES ('x', 0)".to_owned(), "jobs_max_attempts_check"),
        ("INSERT INTO jobs (prompt, attempt) VALUES ('x', 2147483647)".to_owned(), "jobs_counts_are_small"),
        ("INSERT INTO jobs (prompt, step) VALUES ('x', -1)".to_owned(), "jobs_counts_are_small"),
        ("INSERT INTO jobs (prompt, cost_usd) VALUES ('x', 'NaN')".to_owned(), "jobs_counts_are_small"),
        ("UPDATE jobs SET attempt = 2147483647".to_owned(), "jobs_counts_stay_small"),
        ("UPDATE jobs SET lease_epoch = 9223372036854775807".to_owned(), "jobs_counts_stay_small"),
        (
            "INSERT INTO jobs (prompt, job_type) VALUES ('x', repeat('x', 1025))".to_owned(),
            "job_type is larger than 1 KiB",
        ),
        (
            "INSERT INTO jobs (prompt, created_at) VALUES ('x', 'infinity')".to_owned(),
            "jobs_times_are_in_years_1_to_9999",
        ),
        (
            "INSERT INTO jobs (prompt, started_at) VALUES ('x', '-infinity')".to_owned(),
            "jobs_times_are_in_years_1_to_9999",
        ),
        (
            format!(
                "INSERT INTO requirement_cache (job_id, text, created_at) VALUES ('{job}', 'It must be kept.', 'infinity')"
            ),
            "requirement_cache_times_are_in_years_1_to_9999",
        ),
        (
            format!(
                "INSERT INTO requirement_cache (job_id, text, validated_at) VALUES ('{job}', 'It must be kept.', '-infinity')"
            ),
            "requirement_cache_times_are_in_years_1_to_9999",
        ),
        (requirement(&job.to_string(), "'too short'", "0.5", "pending"), "requirement_cache_text_check"),
        (requirement(&job.to_string(), "repeat('x', 10001)", "0.5", "pending"), "requirement_cache_text_check"),
        (
            requirement(&job.to_string(), "'long enough to be one'", "1.5", "pending"),
            "requirement_cache_confidence_check",
        ),
        (requirement(&job.to_string(), "'long enough to be one'", "0.5", "odd"), "requirement_cache_status_check"),
        (
            format!(
                "INSERT INTO todos (job_id, phase_number, position, content, status, created_step) VALUES ('{job}', 1, 1, 'x', 'done', 1)"
            ),
            "todos_status_check",
        ),
        (
            format!(
                "INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id, outcome) VALUES ('{job}', 1, 1, gen_random_uuid(), 'lost')"
            ),
            "attempts_ended_has_outcome",
        ),
    ];
    let updates = [
        (format!("UPDATE jobs SET status = 'done' WHERE id = '{job}'"), "cannot become done"),
        (format!("UPDATE jobs SET completed_at = now() WHERE id = '{job}'"), "jobs_ended_has_completed_at"),
        (format!("UPDATE jobs SET worker_id = gen_random_uuid() WHERE id = '{job}'"), "jobs_running_has_worker"),
        (format!("UPDATE jobs SET max_attempts = 0 WHERE id = '{job}'"), "jobs_max_attempts_check"),
        (
            format!("UPDATE jobs SET created_at = '10000-01-01 00:00Z' WHERE id = '{job}'"),
            "jobs_times_are_in_years_1_to_9999",
        ),
        (format!("UPDATE jobs SET job_type = repeat('x', 1025) WHERE id = '{job}'"), "job_type is larger than 1 KiB"),
    ];
    for (sql, constraint) in refused.into_iter().chain(updates) {
        let said = sentence(execute(&pool, sql.clone()).await.expect_err(&sql));
        assert!(said.contains(constraint), "{sql}: {said}");
    }
}

/// The columns that a step writes, from its statement.
fn written_by_a_step() -> Vec<&'static str> {
    let (_, set) = include_str!("../../../queries/commit/commit_steps.sql").split_once("SET ").unwrap();
    let (set, _) = set.split_once("FROM").unwrap();
    set.lines().filter_map(|line| line.trim().split_once(" = ")).map(|(column, _)| column).collect()
}

/// The trigger that sets updated_at, and the one that keeps untrusted_step, whose condition no step meets.
const OF_A_STEP: [&str; 2] = ["jobs_touch", "jobs_untrusted_is_not_taken_back"];

/// Of the update triggers on jobs, only these look at a column that a step writes.
#[sqlx::test(migrations = "../../migrations")]
async fn only_two_triggers_look_at_what_a_step_writes(pool: PgPool) {
    let steps = written_by_a_step();
    assert!(steps.contains(&"crash_count") && steps.contains(&"updated_at"), "{steps:?}");
    // 16: on UPDATE (pg_trigger.h). A trigger without a column list runs for all columns.
    let looks = "SELECT tgname::text, CASE WHEN tgattr = '' THEN NULL ELSE ARRAY(
                     SELECT attname::text FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr)) END
                 FROM pg_trigger WHERE tgrelid = 'jobs'::regclass AND tgtype & 16 <> 0 AND NOT tgisinternal";
    let triggers: Vec<(String, Option<Vec<String>>)> = sqlx::query_as(looks).fetch_all(&pool).await.unwrap();
    for (name, looked_at) in &triggers {
        let of_a_step = match looked_at {
            Some(columns) => columns.iter().any(|column| steps.contains(&column.as_str())),
            None => true,
        };
        assert_eq!(of_a_step, OF_A_STEP.contains(&name.as_str()), "{name} looks at {looked_at:?}");
    }
}

fn requirement(job: &str, text: &str, confidence: &str, status: &str) -> String {
    format!(
        "INSERT INTO requirement_cache (job_id, text, confidence, status) VALUES ('{job}', {text}, {confidence}, '{status}')"
    )
}

#[sqlx::test(migrations = "../../migrations")]
async fn enqueue_with_a_known_key_returns_the_first_job(pool: PgPool) {
    let store = store(&pool);
    let keyed = NewJob { idempotency_key: Some("policy-7".into()), ..NewJob::new("Extract") };
    let first = store.enqueue(&keyed).await.unwrap();
    assert_eq!(store.enqueue(&keyed).await.unwrap(), first);
    let sql = "SELECT enqueue_job('Extract', idempotency_key => 'policy-7')";
    assert_eq!(value(&pool, sql).await, Some(first.to_string()));

    let other_type = NewJob { job_type: "validator".into(), ..keyed };
    assert_ne!(store.enqueue(&other_type).await.unwrap(), first);
    assert_eq!(value(&pool, "SELECT count(*) FROM jobs").await.as_deref(), Some("2"));
    let again = execute(&pool, "INSERT INTO jobs (prompt, idempotency_key) VALUES ('x', 'policy-7')").await;
    assert!(sentence(again.unwrap_err()).contains("jobs_idempotency"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn enqueue_stores_everything_the_user_gave(pool: PgPool) {
    let store = store(&pool);
    let parent = pending(&store).await;
    let job = NewJob {
        document_name: Some("policy.txt".into()),
        document_content: Some(b"Records must be kept.".to_vec()),
        context: serde_json::json!({"customer": "A"}),
        config: serde_json::json!({"limits": {"max_iterations": 5}}),
        priority: 9,
        parent_job_id: Some(parent),
        ..NewJob::new("with a \0 in it")
    };
    let id = store.enqueue(&job).await.unwrap();
    let detail = store.job_detail(id).await.unwrap().unwrap();
    assert_eq!(detail.prompt, "with a \u{FFFD} in it");
    assert_eq!(detail.context, serde_json::json!({"customer": "A", "document_name": "policy.txt"}));
    assert_eq!(detail.config, job.config);
    assert_eq!((detail.priority, detail.parent_job_id, detail.document_bytes), (9, Some(parent), Some(21)));
    assert_eq!(store.job_content(id).await.unwrap(), job.document_content);
    assert_eq!(store.job_content(parent).await.unwrap(), None);

    execute(&pool, "SELECT enqueue_job('x', document_name => 'a.md', document_content => 'x')").await.unwrap();
    let context = value(&pool, "SELECT context FROM jobs WHERE document_content = 'x'").await;
    assert_eq!(context.as_deref(), Some(r#"{"document_name": "a.md"}"#));
}
