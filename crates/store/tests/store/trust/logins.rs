//! What belongs to a login: its keys, marks, ids and rows; locks and notices that all logins share.

use super::{Login, refusal};
use crate::support::{LEASE_SECS, execute, pending, running, sentence, store, value, worker};
use plumbline_engine::Asked;
use plumbline_store::{Error, NewDocument, NewJob};
use sqlx::PgPool;
use uuid::Uuid;

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
async fn the_login_of_a_command_is_on_record_and_ends_no_running_job(pool: PgPool) {
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

/// A login may have a schema of its own, with functions that are named as ours are, and search it first.
#[sqlx::test(migrations = "../../migrations")]
async fn functions_of_a_login_take_the_place_of_none_of_ours(pool: PgPool) {
    let job = running(&store(&pool)).await.id;
    let mut steerer = Login::steerer(&pool).await;
    let schema = format!("of_{}", steerer.name);
    execute(&pool, format!("CREATE SCHEMA {schema} AUTHORIZATION {}", steerer.name)).await.unwrap();
    for function in ["is_commanded(job uuid)", "runs_jobs()", "pg_has_role(name, oid, text)"] {
        let own = format!("CREATE FUNCTION {schema}.{function} RETURNS boolean LANGUAGE sql AS 'SELECT true'");
        steerer.says(own).await.unwrap();
    }
    steerer.says(format!("SET search_path = {schema}, public, pg_catalog")).await.unwrap();
    let update = |status: &str| format!("UPDATE public.jobs SET status = '{status}' WHERE id = '{job}'");
    let refused = refusal(steerer.says(update("completed")).await);
    assert!(refused.contains("only its worker ends it"), "{refused}");
    steerer.says(format!("SET search_path = {schema}")).await.unwrap();
    steerer.says(update("paused")).await.unwrap();
    steerer.says(format!("SET plumbline.command = '{job}'; SET search_path = {schema}, pg_catalog")).await.unwrap();
    steerer.says(update("cancelled")).await.unwrap();
    let recorded = "SELECT string_agg(arguments ->> 'status', ' ' ORDER BY at) FROM job_commands";
    assert_eq!(value(&pool, recorded).await.as_deref(), Some("paused cancelled"));
    steerer.leave(&pool).await;
    let unbound: Vec<String> = sqlx::query_scalar(
        "SELECT p.oid::regprocedure::text FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype = 'trigger'::regtype
           AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'search_path=%')",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(unbound, Vec::<String>::new(), "triggers that find what they call by the search_path of the session");
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
