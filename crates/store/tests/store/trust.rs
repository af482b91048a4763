//! Effects of one login's rows and sessions on others: bounds, keys, lanes and locks.

use crate::support::{LEASE_SECS, column, execute, pending, running, sentence, store, value, worker};
use plumbline_engine::Asked;
use plumbline_store::{Error, NewDocument, NewJob};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool, Row as _, postgres::PgConnectOptions};
use std::slice;
use uuid::Uuid;

/// A login for one test, with its own session.
struct Login {
    name: String,
    session: PgConnection,
}

impl Login {
    /// A login with these rights.
    async fn with(pool: &PgPool, rights: &[&str]) -> Self {
        let name = format!("login_{}", Uuid::now_v7().simple());
        execute(pool, format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await.unwrap();
        for right in rights {
            execute(pool, format!("GRANT {right} TO {name}")).await.unwrap();
        }
        // The server knows which login opened a session, regardless of what the session claims.
        let own = PgConnectOptions::clone(&pool.connect_options()).username(&name).password(&name);
        let session = PgConnection::connect_with(&own).await.unwrap();
        Self { name, session }
    }

    /// A login that inserts jobs.
    async fn enqueuer(pool: &PgPool) -> Self {
        Self::with(pool, &["SELECT, INSERT ON jobs", "SELECT, INSERT ON job_documents"]).await
    }

    /// A login that steers them.
    async fn steerer(pool: &PgPool) -> Self {
        Self::with(pool, &["SELECT, UPDATE (status) ON jobs", "EXECUTE ON ALL FUNCTIONS IN SCHEMA public"]).await
    }

    async fn says(&mut self, statement: impl Into<String>) -> Result<(), sqlx::Error> {
        self.session.execute(AssertSqlSafe(statement.into())).await.map(drop)
    }

    async fn id(&mut self, statement: impl Into<String>) -> Result<Uuid, sqlx::Error> {
        sqlx::query_scalar(AssertSqlSafe(statement.into())).fetch_one(&mut self.session).await
    }

    /// Ends the session and drops the role.
    async fn leave(self, pool: &PgPool) {
        self.session.close().await.unwrap();
        execute(pool, format!("DROP OWNED BY {}", self.name)).await.unwrap();
        execute(pool, format!("DROP ROLE {}", self.name)).await.unwrap();
    }
}

fn refusal(done: Result<(), sqlx::Error>) -> String {
    sentence(done.expect_err("it is refused"))
}

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

/// In any spelling of the id of the job that it follows; and the mark is neither removed nor moved to a later step.
#[sqlx::test(migrations = "../../migrations")]
async fn text_from_outside_stays_marked(pool: PgPool) {
    let origin = pending(&store(&pool)).await;
    let set = |step: &str| format!("UPDATE jobs SET untrusted_step = {step} WHERE id = '{origin}'");
    execute(&pool, set("5")).await.unwrap();
    for later in ["6", "NULL"] {
        let refused = refusal(execute(&pool, set(later)).await.map(drop));
        assert!(refused.contains("jobs_untrusted_is_not_taken_back"), "{later}: {refused}");
    }
    for id in [origin.to_string(), origin.to_string().to_uppercase()] {
        for key in ["previous_job_id", "parent_job_id"] {
            let row = format!(r#"INSERT INTO jobs (prompt, context) VALUES ('{key} {id}', '{{"{key}": "{id}"}}')"#);
            execute(&pool, row).await.unwrap();
        }
    }
    let marked = "SELECT count(*) FROM jobs WHERE untrusted_step = 0";
    assert_eq!(value(&pool, marked).await.as_deref(), Some("4"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn whoever_commands_is_on_record_and_ends_no_running_job(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await.id;
    let mut steerer = Login::steerer(&pool).await;
    let role = format!("role_{}", Uuid::now_v7().simple());
    for statement in [
        format!("CREATE ROLE {role}"),
        format!("GRANT SELECT, UPDATE (status) ON jobs TO {role}"),
        format!("GRANT {role} TO {}", steerer.name),
    ] {
        execute(&pool, statement).await.unwrap();
    }
    let update = |status: &str| format!("UPDATE jobs SET status = '{status}' WHERE id = '{job}'");
    for status in ["completed", "failed", "review"] {
        let refused = refusal(steerer.says(update(status)).await);
        assert!(refused.contains("only its worker ends it"), "{status}: {refused}");
    }
    // In any role: the recorded login is that of the session.
    steerer.says(format!("SET ROLE {role}")).await.unwrap();
    let refused = refusal(steerer.says(update("completed")).await);
    assert!(refused.contains("only its worker ends it"), "{refused}");
    steerer.says(update("paused")).await.unwrap();
    steerer.says("RESET ROLE").await.unwrap();
    steerer.says(update("cancelled")).await.unwrap();
    let recorded =
        "SELECT string_agg(concat_ws(' ', command, arguments ->> 'status', by), ', ' ORDER BY at) FROM job_commands";
    let name = &steerer.name;
    assert_eq!(value(&pool, recorded).await, Some(format!("update paused {name}, update cancelled {name}")));
    // The owner is no exception, and a command is recorded once.
    execute(&pool, format!("SELECT retry_job('{job}')")).await.unwrap();
    execute(&pool, update("paused")).await.unwrap();
    let commands = "SELECT string_agg(command, ' ' ORDER BY at) FROM job_commands";
    assert_eq!(value(&pool, commands).await.as_deref(), Some("update update retry_job update"));
    steerer.leave(&pool).await;
    for statement in [format!("DROP OWNED BY {role}"), format!("DROP ROLE {role}")] {
        execute(&pool, statement).await.unwrap();
    }
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

#[sqlx::test(migrations = "../../migrations")]
async fn a_key_is_its_logins_and_says_one_thing(pool: PgPool) {
    let (mut one, mut other) = (Login::enqueuer(&pool).await, Login::enqueuer(&pool).await);
    let enqueue = "SELECT enqueue_job('Merge', idempotency_key => 'inv-2')";
    let first = one.id(enqueue).await.unwrap();
    assert_ne!(other.id(enqueue).await.unwrap(), first, "a job of one's own");
    assert_eq!(one.id(enqueue).await.unwrap(), first);
    let named =
        one.id("SELECT enqueue_job('Merge', 'named', '{}', 'a.md', 'x', idempotency_key => 'inv-2')").await.unwrap();
    let same =
        r#"SELECT enqueue_job('Merge', 'named', '{"document_name": "a.md "}', NULL, 'x', idempotency_key => 'inv-2')"#;
    assert_eq!(one.id(same).await.unwrap(), named, "the name is in the context, too");
    for (statement, differs) in [
        ("SELECT enqueue_job('Divide', idempotency_key => 'inv-2')", "another prompt"),
        ("SELECT enqueue_job('Merge', idempotency_key => 'inv-2', document_path => 'a.md')", "another document_path"),
        ("SELECT enqueue_job('Merge', idempotency_key => 'inv-2', document_content => 'x')", "another document"),
        (
            r#"SELECT enqueue_job('Merge', idempotency_key => 'inv-2', documents => '[{"name": "a.md", "content": "eA=="}]')"#,
            "other documents",
        ),
        (
            "SELECT enqueue_job('Merge', 'named', '{}', 'b.md', 'x', idempotency_key => 'inv-2')",
            "another document_name",
        ),
        (
            r#"SELECT enqueue_job('Merge', 'named', '{"document_name": "b.md"}', NULL, 'x', idempotency_key => 'inv-2')"#,
            "another document_name",
        ),
        (
            "SELECT enqueue_job('Merge', 'named', document_content => 'x', idempotency_key => 'inv-2')",
            "another document_name",
        ),
    ] {
        let refused = sentence(one.id(statement).await.expect_err(statement));
        assert!(refused.contains(&format!("already, with {differs}; use another key")), "{refused}");
    }
    // The same through the store, for its own login.
    let store = store(&pool);
    let document = |content: &str| NewDocument { name: "a.md".into(), content: content.into() };
    let job = |content: &str| NewJob {
        documents: vec![document(content)],
        idempotency_key: Some("inv-2".into()),
        ..NewJob::new("Merge")
    };
    let id = store.enqueue(&job("x")).await.unwrap();
    assert!(id != first && store.enqueue(&job("x")).await.unwrap() == id);
    let refused = store.enqueue(&job("y")).await.unwrap_err().to_string();
    assert!(refused.contains("other documents"), "{refused}");
    let inline = |name: &str| NewJob {
        document_name: Some(name.into()),
        document_content: Some(b"x".to_vec()),
        idempotency_key: Some("inv-3".into()),
        ..NewJob::new("Merge")
    };
    let id = store.enqueue(&inline("a.md")).await.unwrap();
    assert_eq!(store.enqueue(&inline("a.md")).await.unwrap(), id);
    let refused = store.enqueue(&inline("b.md")).await.unwrap_err().to_string();
    assert!(refused.contains("another document_name"), "{refused}");
    one.leave(&pool).await;
    other.leave(&pool).await;
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
    assert!(refused.contains("has 3 jobs waiting, as many as the operator allows it"), "{refused}");
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

#[sqlx::test(migrations = "../../migrations")]
async fn the_id_of_a_deleted_job_does_not_come_again(pool: PgPool) {
    let job = running(&store(&pool)).await.id;
    execute(&pool, format!("DELETE FROM jobs WHERE id = '{job}'")).await.unwrap();
    let again = format!("INSERT INTO jobs (id, prompt) VALUES ('{job}', 'x')");
    let refused = refusal(execute(&pool, again).await.map(drop));
    assert!(refused.contains("was deleted; leave the id out"), "{refused}");
}

#[sqlx::test(migrations = "../../migrations")]
async fn requirements_are_compared_within_a_login(pool: PgPool) {
    let (mut one, mut other) = (Login::enqueuer(&pool).await, Login::enqueuer(&pool).await);
    let enqueue = "SELECT enqueue_job('Merge')";
    let (judged, own, foreign) =
        (one.id(enqueue).await.unwrap(), one.id(enqueue).await.unwrap(), other.id(enqueue).await.unwrap());
    let text = "The secret merger Bluebird shall be announced in March.";
    for job in [own, foreign] {
        let row =
            format!("INSERT INTO requirement_cache (job_id, text, status) VALUES ('{job}', '{text}', 'integrated')");
        execute(&pool, row).await.unwrap();
    }
    let comparable =
        format!("SELECT string_agg(r.job_id::text, ' ') FROM requirement_cache r WHERE is_comparable(r, '{judged}')");
    assert_eq!(value(&pool, comparable).await, Some(own.to_string()));
    one.leave(&pool).await;
    other.leave(&pool).await;
}

/// Regardless of who the validator is: it compares with rows of the login whose requirements it judges, by words and by
/// meaning.
#[sqlx::test(migrations = "../../migrations")]
async fn a_validator_compares_within_the_login_that_it_judges(pool: PgPool) {
    let store = store(&pool);
    let (mut one, mut other) = (Login::enqueuer(&pool).await, Login::enqueuer(&pool).await);
    let enqueue = "SELECT enqueue_job('Merge')";
    let (judged, own) = (one.id(enqueue).await.unwrap(), one.id(enqueue).await.unwrap());
    let (foreign, owners) = (other.id(enqueue).await.unwrap(), pending(&store).await);
    let text = "The secret merger Bluebird shall be announced in March.";
    for (job, status) in [(judged, "pending"), (own, "integrated"), (foreign, "integrated"), (owners, "integrated")] {
        let row =
            format!("INSERT INTO requirement_cache (job_id, text, status) VALUES ('{job}', '{text}', '{status}')");
        execute(&pool, row).await.unwrap();
    }
    let worker = worker(&store).await;
    let validator = async |context: String| {
        let row = format!("INSERT INTO jobs (prompt, job_type, context) VALUES ('x', 'validator', '{context}')");
        execute(&pool, row).await.unwrap();
        store.claim(worker, 1, Some(&["validator".to_owned()]), LEASE_SECS).await.unwrap().remove(0)
    };
    let of_one = validator(format!(r#"{{"parent_job_id": "{judged}"}}"#)).await;
    let of_all = validator("{}".to_owned()).await;
    assert_eq!(store.recorded_requirements(of_all.id, true).await.unwrap().0, of_all.id, "it judges nothing yet");
    assert_eq!(store.claim_requirements(&of_all.lease(), 1, false, &[]).await.unwrap().len(), 1);
    for validator in [of_one.id, of_all.id] {
        assert_eq!(store.recorded_requirements(validator, true).await.unwrap().0, judged);
    }
    let among = |jobs: Vec<Uuid>| jobs.into_iter().all(|job| job == judged || job == own);
    let asked = [Asked { job_id: judged, text, before: None, widely: true }];
    let by_words = store.similar_requirements(&asked, 50).await.unwrap().remove(0);
    assert!(by_words.len() == 2 && among(by_words.iter().map(|row| row.job_id).collect()), "{by_words:?}");
    for job in [judged, foreign, owners] {
        let unseen = store.unembedded_requirements(job, "compass", 50).await.unwrap();
        assert!(
            job != judged || (unseen.len() == 2 && among(unseen.iter().map(|row| row.job_id).collect())),
            "{unseen:?}"
        );
        let north = vec![vec![0.0, 1.0]; unseen.len()];
        store.put_requirement_embeddings("compass", &unseen, &north).await.unwrap();
    }
    let by_meaning = store.nearest_requirements(judged, "compass", &[0.0, 1.0], 50, None).await.unwrap();
    let jobs: Vec<Uuid> = by_meaning.iter().map(|near| near.requirement.job_id).collect();
    assert!(jobs.len() == 2 && among(jobs), "{by_meaning:?}");
    one.leave(&pool).await;
    other.leave(&pool).await;
}

/// The lock that migrations take in this database.
fn lock_of_migrations(database: &str) -> i64 {
    let crc = database.bytes().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    0x3d32_ad9e * i64::from(!crc)
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_lock_that_anybody_may_hold_stops_no_migration_without_a_word(pool: PgPool) {
    let mut stranger = Login::with(&pool, &[]).await;
    let options = pool.connect_options();
    let key = lock_of_migrations(options.get_database().unwrap());
    stranger.says(format!("SELECT pg_advisory_lock({key})")).await.unwrap();
    let Err(Error::Refused(said)) = store(&pool).migrate().await else { panic!("it is refused") };
    assert!(said.contains(&stranger.name) && said.contains("pg_terminate_backend"), "{said}");
    // Deletions take none of these locks.
    stranger.says("SELECT pg_advisory_lock(hashtextextended('plumbline usage of deleted jobs', 0))").await.unwrap();
    let job = running(&store(&pool)).await.id;
    execute(&pool, format!("UPDATE jobs SET total_requests = 1 WHERE id = '{job}'")).await.unwrap();
    execute(&pool, format!("DELETE FROM jobs WHERE id = '{job}'")).await.unwrap();
    stranger.leave(&pool).await;
    store(&pool).migrate().await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn notices_have_only_the_id_if_policies_hide_jobs(pool: PgPool) {
    let mut listener = sqlx::postgres::PgListener::connect_with(&pool).await.unwrap();
    listener.listen_all(["plumbline_jobs", "plumbline_requirements"]).await.unwrap();
    let mut told = async || {
        let payload = listener.recv().await.unwrap().payload().to_owned();
        let notice: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&payload).unwrap();
        notice.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let store = store(&pool);
    let add = |job: Uuid| {
        format!("INSERT INTO requirement_cache (job_id, text) VALUES ('{job}', 'Records shall be kept for ten years.')")
    };
    for [job, requirement] in [["id job_type status", "count job_id"], ["id", "job_id"]] {
        let id = pending(&store).await;
        assert_eq!(told().await, job, "inserted");
        execute(&pool, format!("SELECT pause_job('{id}')")).await.unwrap();
        assert_eq!(told().await, job, "of another status");
        let worker = worker(&store).await;
        execute(&pool, format!("SELECT resume_job('{id}')")).await.unwrap();
        assert_eq!(told().await, job, "waiting again");
        store.claim(worker, 1, None, LEASE_SECS).await.unwrap();
        assert_eq!(told().await, job, "claimed");
        execute(&pool, add(id)).await.unwrap();
        assert_eq!(told().await, requirement, "a requirement");
        execute(&pool, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY").await.unwrap();
    }
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
