//! `deploy/roles.sql`: users in each role do their work and try forbidden statements.

use super::user::{User, apply, world};
use plumbline_system_tests::{
    Answer, PgPool, Uuid, World, documents,
    jobs::{self, NewJob},
};
use sqlx::{AssertSqlSafe, Executor as _};
use std::{collections::BTreeSet, fs};

const HAND_OVER: &str = include_str!("../../../../docs/sql.md");

/// Every right that one of the roles has in this database.
async fn rights(pool: &PgPool) -> BTreeSet<String> {
    let tables = "SELECT concat_ws(' ', grantee, privilege_type, table_name) FROM information_schema.role_table_grants
                  WHERE grantee LIKE 'plumbline\\_%'";
    let columns = "SELECT concat_ws(' ', grantee, privilege_type, table_name, column_name)
                   FROM information_schema.role_column_grants WHERE grantee LIKE 'plumbline\\_%'";
    let functions = "SELECT concat_ws(' ', grantee, privilege_type, routine_name)
                     FROM information_schema.role_routine_grants WHERE grantee LIKE 'plumbline\\_%'";
    let mut rights = BTreeSet::new();
    for statement in [tables, columns, functions] {
        rights.extend(sqlx::query_scalar::<_, String>(statement).fetch_all(pool).await.expect("rights can be read"));
    }
    rights
}

#[sqlx::test(migrations = false)]
async fn the_file_may_be_applied_by_many_at_once_and_takes_back_what_it_does_not_give(pool: PgPool) {
    let world = World::new(pool).await;
    tokio::join!(apply(&world.pool), apply(&world.pool), apply(&world.pool));
    let given = rights(&world.pool).await;
    assert!(given.contains("plumbline_validate UPDATE requirement_cache status"), "{given:?}");
    world
        .pool
        .execute(
            "GRANT DELETE ON jobs TO plumbline_watch; GRANT UPDATE (text) ON requirement_cache TO plumbline_validate",
        )
        .await
        .expect("more rights can be given");
    assert_ne!(rights(&world.pool).await, given);
    apply(&world.pool).await;
    assert_eq!(rights(&world.pool).await, given);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn enqueue_puts_jobs_in_and_reads_nobodys(pool: PgPool) {
    let world = world(pool).await;
    let user = User::of(&world, "enqueue").await;
    let policy = world.folder().join("policy.md");
    fs::write(&policy, documents::policy(1).markdown).expect("a document can be written");

    let another: Uuid = sqlx::query_scalar("SELECT enqueue_job('Merge', idempotency_key => 'policy-7')")
        .fetch_one(&world.pool)
        .await
        .expect("another's job");
    user.pool.execute("INSERT INTO jobs (prompt) VALUES ('Extract') RETURNING id").await.expect("a plain insert");
    let of_ones_own = "INSERT INTO jobs (prompt, job_type, context)
                             SELECT 'x', 'validator', jsonb_build_object('parent_job_id', id)
                             FROM jobs WHERE idempotency_key IS NULL";
    user.pool.execute(of_ones_own).await.expect("a validator of one's own job");
    let creators: i64 = sqlx::query_scalar("SELECT count(DISTINCT created_by) FROM jobs")
        .fetch_one(&world.pool)
        .await
        .expect("creators can be counted");
    assert_eq!(creators, 2, "each row says who inserted it");
    let keyed = "SELECT enqueue_job('Extract', idempotency_key => 'policy-7', document_name => 'a.md',
                                    document_content => 'Invoices must be kept.')";
    let ids: Vec<Uuid> = [
        sqlx::query_scalar(keyed).fetch_one(&user.pool).await.expect("the function"),
        sqlx::query_scalar(keyed).fetch_one(&user.pool).await.expect("the same once more"),
    ]
    .into();
    assert_eq!(ids[0], ids[1]);
    let several = "SELECT enqueue_job('Compare', documents => '[{\"name\": \"a.md\", \"content\": \"SW52b2ljZXM=\"}]')";
    user.pool.execute(several).await.expect("documents of one's own job");
    let by_command = ["enqueue", "--prompt", "Extract", "--key", "one", "--document", "policy.md"];
    let id = user.run(&world, &by_command).await;
    assert_eq!(user.run(&world, &by_command).await, id, "a known key gives the known id");
    let (status,): (String,) = sqlx::query_as("SELECT status FROM jobs WHERE id = $1")
        .bind(ids[0])
        .fetch_one(&user.pool)
        .await
        .expect("one's own job's status can be read");
    assert_eq!(status, "pending");

    // A key is its login's: another login's job of the same key is neither found nor in the way.
    assert_ne!(ids[0], another);
    let differs =
        sqlx::query("SELECT enqueue_job('Extract more', idempotency_key => 'policy-7')").execute(&user.pool).await;
    let differs = differs.expect_err("a known key with another prompt").to_string();
    assert!(differs.contains("with another prompt; use another key"), "{differs}");
    let of_another = format!("SELECT count(*) FROM jobs WHERE id = '{another}'");
    let seen: i64 = sqlx::query_scalar(AssertSqlSafe(of_another)).fetch_one(&user.pool).await.expect("it can be asked");
    assert_eq!(seen, 0);

    let refused = [
        "SELECT * FROM jobs",
        "SELECT context FROM jobs",
        "SELECT document_content FROM jobs",
        "SELECT content FROM messages",
        "UPDATE requirement_cache SET status = 'rejected'",
        "INSERT INTO jobs (prompt, status) VALUES ('Extract', 'paused')",
        "UPDATE jobs SET priority = 1000",
        "DELETE FROM jobs",
        "SELECT cancel_job(id) FROM jobs",
        "SELECT enqueue_follower(id) FROM jobs",
        "CREATE TABLE mine (id int)",
        "UPDATE jobs SET status = 'cancelled'",
        "INSERT INTO jobs (prompt, created_by) VALUES ('Extract', 'somebody')",
        "INSERT INTO jobs (prompt, parent_job_id) SELECT 'Extract', id FROM jobs LIMIT 1",
        "INSERT INTO jobs (prompt, job_type, idempotency_key)
         SELECT 'hijack', 'validator', 'on_complete:' || id FROM jobs LIMIT 1",
        "SELECT enqueue_job('hijack', 'validator', idempotency_key => 'on_complete:' || id) FROM jobs LIMIT 1",
        "INSERT INTO jobs (prompt, job_type, context)
         SELECT 'x', 'validator', jsonb_build_object('parent_job_id', '{another}')",
        "SELECT enqueue_job('x', 'validator',
                            jsonb_build_object('parent_job_id', upper('{another}')))",
        "INSERT INTO jobs (prompt, context)
         SELECT 'x', jsonb_build_object('previous_job_id', '{another}')",
        "INSERT INTO jobs (prompt, job_type) VALUES ('x', 'validator')",
        "INSERT INTO jobs (prompt, job_type, context)
         SELECT 'x', 'validator', jsonb_build_object('parent_job_id', gen_random_uuid())",
        "SELECT created_by FROM jobs",
        "INSERT INTO job_documents VALUES ('{another}', 1, 'a.md', 'x')",
        "SELECT content FROM job_documents",
        "SELECT * FROM usage_daily",
        "SELECT * FROM job_commands",
        "INSERT INTO job_commands (job_id, command) SELECT id, 'cancel_job' FROM jobs",
        "SELECT pause_job(id) FROM jobs",
        "SELECT resume_job(id) FROM jobs",
        "SELECT retry_job(id) FROM jobs",
        "SELECT approve_job(id) FROM jobs",
        "SELECT send_feedback(id, 'x') FROM jobs",
        "SELECT job_status_for('cancel_job', id, ARRAY['pending']) FROM jobs",
        "SELECT set_config('plumbline.command', id::text, false), retry_job(id) FROM jobs",
        "INSERT INTO jobs (id, prompt) VALUES (gen_random_uuid(), 'Extract')",
        "UPDATE login_limits SET waiting = 1000000",
    ]
    .map(|statement| statement.replace("{another}", &another.to_string()));
    user.must_not(&refused.each_ref().map(String::as_str)).await;
    user.leave(&world).await;
    world.finish().await;
}

/// A login reads the rows of its own job, and none of others'.
#[sqlx::test(migrations = false)]
async fn enqueue_reads_the_rows_of_its_own_jobs_alone(pool: PgPool) {
    let world = world(pool).await;
    let user = User::of(&world, "enqueue").await;
    let policy = documents::policy(1);
    let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let (own, another) = (new.insert(&user.pool).await, world.insert(&new).await);
    world.work_until_idle().await;
    for (rows, of_job) in [
        ("requirement_cache", "job_id"),
        ("passages", "job_id"),
        ("citations", "job_id"),
        ("todos", "job_id"),
        ("phases", "job_id"),
        ("coverage", "job_id"),
        ("job_summary", "id"),
    ] {
        let count = |condition: String| AssertSqlSafe(format!("SELECT count(*) FROM {rows} WHERE {condition}"));
        let counted = async |pool: &PgPool, condition: String| -> i64 {
            sqlx::query_scalar(count(condition)).fetch_one(pool).await.unwrap_or_else(|error| panic!("{rows}: {error}"))
        };
        let all = counted(&world.pool, format!("{of_job} = '{own}'")).await;
        assert!(all > 0, "{rows} has rows of the job");
        assert_eq!(counted(&user.pool, "true".to_owned()).await, all, "{rows}: one's own and no others");
        assert!(counted(&world.pool, format!("{of_job} = '{another}'")).await > 0, "{rows} has rows of another's");
    }
    user.leave(&world).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn steer_sees_how_jobs_go_and_commands_them(pool: PgPool) {
    let world = world(pool).await;
    let user = User::of(&world, "steer").await;
    let policy = documents::policy(1);
    let reviewed = NewJob {
        config: Some(serde_json::json!({"autonomy": "review", "on_complete": {"enqueue": "validator"}})),
        ..NewJob::with_content("policy.md", policy.markdown.as_bytes())
    };
    let reviewed = world.insert(&reviewed).await;
    world.work_until_idle().await;
    world.becomes(reviewed, "review").await;
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;

    for (function, status) in [
        ("pause_job($1)", "paused"),
        ("resume_job($1, 'Mind the annex')", "pending"),
        ("send_feedback($1, 'And the appendix')", "pending"),
        ("cancel_job($1)", "cancelled"),
        ("retry_job($1)", "pending"),
    ] {
        assert_eq!(user.call(function, job).await, status, "{function}");
    }
    user.run(&world, &["cancel", &job.to_string()]).await;
    // A steerer sees progress, cost, plan and file names.
    for statement in [
        "SELECT id FROM jobs WHERE status = 'review' AND result ? 'summary' AND total_requests > 0 AND cost_usd >= 0",
        "SELECT id FROM job_summary WHERE prompt LIKE 'Extract%' AND status = 'review'",
        "SELECT content FROM todos",
        "SELECT name FROM phases",
        "SELECT prompt_tokens FROM llm_requests",
        "SELECT path FROM workspace_files",
    ] {
        let rows = user.pool.execute(statement).await.expect(statement).rows_affected();
        assert!(rows > 0, "{statement}");
    }
    assert_eq!(user.call("approve_job($1)", reviewed).await, "completed");
    let followers: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE parent_job_id = $1")
        .bind(reviewed)
        .fetch_one(&world.pool)
        .await
        .expect("the followers can be counted");
    assert_eq!(followers, 1, "an approved job is handed over");

    user.must_not(&[
        "SELECT prompt FROM jobs",
        "SELECT text FROM feedback",
        "SELECT content FROM messages",
        "SELECT content FROM blobs",
        "SELECT workspace_file(id, 'main_plan.md') FROM jobs",
        "SELECT text FROM requirement_cache",
        "INSERT INTO jobs (prompt) VALUES ('Extract')",
        "UPDATE jobs SET prompt = 'Something else'",
        "UPDATE jobs SET config = '{}'",
        "DELETE FROM jobs",
        "SELECT fork_job(id, 1) FROM jobs",
        "UPDATE jobs SET crash_count = 2147483647",
        "UPDATE jobs SET feedback_untaken = 2147483647",
        "UPDATE jobs SET attempt = 0",
        "UPDATE jobs SET run_at = 'infinity'",
        "UPDATE jobs SET error_message = 'x'",
        "UPDATE jobs SET status_reason = 'x'",
        "UPDATE jobs SET created_by = 'x'",
        "UPDATE jobs SET worker_id = NULL",
        "INSERT INTO feedback (job_id, id, text) SELECT id, 1, 'x' FROM jobs",
        "SELECT enqueue_follower(id) FROM jobs",
        "SELECT add_feedback(id, 'x') FROM jobs",
        "INSERT INTO job_commands (job_id, command) SELECT id, 'approve_job' FROM jobs",
        "DELETE FROM job_commands",
        "SELECT * FROM job_commands",
    ])
    .await;
    // A plain UPDATE is on record as well.
    let other = world.insert(&NewJob { prompt: "Another's", ..NewJob::default() }).await;
    let update = "UPDATE jobs SET status = 'cancelled' WHERE id = $1";
    sqlx::query(update).bind(other).execute(&user.pool).await.expect("a status can be set");
    let by_update: Vec<(String, String)> =
        sqlx::query_as("SELECT command || ' ' || (arguments ->> 'status'), by FROM job_commands WHERE job_id = $1")
            .bind(other)
            .fetch_all(&world.pool)
            .await
            .expect("commands can be read");
    assert_eq!(by_update, [("update cancelled".to_owned(), user.name().to_owned())]);

    // Any session can set the marker of a running command, so it is not trusted.
    let mut session = user.pool.acquire().await.expect("a session");
    let say = "SELECT set_config('plumbline.command', $1, false)";
    sqlx::query(say).bind(job.to_string()).execute(&mut *session).await.expect("anybody may set it");
    let back = "UPDATE jobs SET status = 'pending' WHERE id = $1";
    assert!(sqlx::query(back).bind(job).execute(&mut *session).await.is_err(), "a cancelled job stays cancelled");
    drop(session);
    let commands: Vec<(String, String, bool)> = sqlx::query_as(
        "SELECT command, coalesce(arguments ->> 'feedback', arguments ->> 'text', ''), by <> current_user
         FROM job_commands WHERE job_id = $1 ORDER BY at",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("commands can be read");
    let said = |command: &str, words: &str| (command.to_owned(), words.to_owned(), true);
    assert_eq!(
        commands,
        [
            said("pause_job", ""),
            said("resume_job", "Mind the annex"),
            said("send_feedback", "And the appendix"),
            said("cancel_job", ""),
            said("retry_job", ""),
            said("cancel_job", "")
        ]
    );
    user.leave(&world).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn watch_reads_everything_and_changes_nothing(pool: PgPool) {
    let world = world(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let user = User::of(&world, "watch").await;
    let id = job.to_string();
    assert!(user.run(&world, &["status"]).await.contains("completed"));
    assert!(user.run(&world, &["watch", &id]).await.contains("completed"));
    for arguments in [&["status", &id, "--json"][..], &["trace", &id], &["export", &id, "exported"]] {
        user.run(&world, arguments).await;
    }
    assert!(world.folder().join("exported/main_plan.md").is_file());
    user.must_not(&[
        "INSERT INTO jobs (prompt) VALUES ('Extract')",
        "UPDATE jobs SET priority = 1",
        "UPDATE requirement_cache SET status = 'integrated'",
        "DELETE FROM jobs",
        "SELECT cancel_job(id) FROM jobs",
        "SELECT enqueue_job('Extract')",
        "SELECT id FROM jobs FOR UPDATE",
    ])
    .await;
    user.leave(&world).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn work_runs_jobs_to_their_end_and_owns_nothing(pool: PgPool) {
    let world = world(pool).await;
    let user = User::of(&world, "work").await;
    let policy = documents::policy(2);
    world.pool.execute("INSERT INTO concurrency_limits VALUES ('creator', '', 1)").await.expect("a limit can be set");
    let handed_over = NewJob {
        config: Some(serde_json::json!({"on_complete": {"enqueue": "validator"}})),
        ..NewJob::with_content("policy.md", policy.markdown.as_bytes())
    };
    let job = world.insert(&handed_over).await;
    // A worker that dies in the middle leaves a job that only a sweep gives back.
    world.model.hold_from(5);
    let mortal = world.start(user.command(&world, &["worker"]));
    world.model.arrived(5).await;
    mortal.kill().await;
    world.age_workers().await;
    world.model.answers(Answer::Work);
    let worker = world.start(user.command(&world, &["worker"]));
    assert_eq!(world.becomes(job, "completed").await.claims, 2);
    let follower: Uuid = sqlx::query_scalar("SELECT id FROM jobs WHERE parent_job_id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job was handed over");
    world.becomes(follower, "completed").await;
    assert!(!worker.stderr().contains("permission denied"), "{}", worker.stderr());
    worker.stop().await;
    assert!(user.run(&world, &["doctor"]).await.contains("ok    schema"));

    user.must_not(&[
        "DELETE FROM jobs",
        "DELETE FROM messages",
        "DELETE FROM requirement_cache",
        "UPDATE messages SET content = ''",
        "UPDATE checkpoints SET lease_epoch = 0",
        "UPDATE blobs SET content = ''",
        "UPDATE job_settings SET resolved = '{}'",
        "DELETE FROM concurrency_limits",
        "TRUNCATE jobs CASCADE",
        "ALTER TABLE jobs ADD COLUMN mine int",
        "DELETE FROM _sqlx_migrations",
    ])
    .await;
    user.leave(&world).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn validate_judges_requirements_and_rewrites_none(pool: PgPool) {
    let world = world(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    assert_eq!(jobs::read(&world.pool, job).await.status, "completed");
    let user = User::of(&world, "validate").await;
    let mut blocks = HAND_OVER.split("```").filter_map(|block| block.strip_prefix("sql\n"));
    let block = blocks.find(|block| block.starts_with("DO $$") && block.contains("'validating'"));
    let block = block.expect("the SQL interface shows an outside validator");
    user.pool.execute(block).await.expect("the validator that is shown can be run as it stands");
    let integrated: i64 = sqlx::query_scalar("SELECT count(*) FROM requirement_cache WHERE status = 'integrated'")
        .fetch_one(&user.pool)
        .await
        .expect("requirements can be read");
    assert_eq!(integrated, policy.sentences.len() as i64);
    let ended: Vec<(Uuid, String, String, bool)> =
        sqlx::query_as("SELECT id, job_type, status, completed_at IS NOT NULL FROM jobs")
            .fetch_all(&user.pool)
            .await
            .expect("whether the creator has ended can be read");
    assert!(ended.contains(&(job, "creator".to_owned(), "completed".to_owned(), true)), "{ended:?}");
    user.must_not(&[
        "UPDATE requirement_cache SET text = 'Something else entirely'",
        "UPDATE requirement_cache SET citations = '[]'",
        "UPDATE requirement_cache SET job_id = gen_random_uuid()",
        "INSERT INTO requirement_cache (job_id, text) SELECT job_id, text FROM requirement_cache",
        "DELETE FROM requirement_cache",
        "SELECT prompt FROM jobs",
        "SELECT content FROM blobs",
        "INSERT INTO jobs (prompt) VALUES ('Extract')",
        "UPDATE jobs SET status = 'cancelled'",
    ])
    .await;
    user.leave(&world).await;
    world.finish().await;
}
