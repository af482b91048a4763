//! Generates the table in docs/roles.md by logging in as each role and trying each statement.

use super::{
    attempts::ATTEMPTS,
    user::{REFUSED, User, world},
};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor as _};
use std::{fs, path::Path};

const ROLES: [&str; 6] = ["enqueue", "steer", "approve", "watch", "work", "validate"];
/// Minimum number of refusals of each role.
const LEAST_REFUSED: usize = 50;

/// The jobs that attempts are about.
struct Jobs {
    /// The enqueuer's own, completed.
    own: Uuid,
    /// Another's, which waits.
    other: Uuid,
    /// Another's, completed.
    done: Uuid,
    /// Another's, in review.
    review: Uuid,
    /// Another's, which failed.
    failed: Uuid,
    /// Another's, which runs.
    running: Uuid,
    /// Another's, which was deleted.
    gone: Uuid,
    /// Another login's job with a call that waits for a decision.
    asked: Uuid,
    /// That call.
    call: Uuid,
}

impl Jobs {
    async fn of(world: &World, enqueuer: &User) -> Self {
        let policy = documents::policy(1);
        let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
        let own = new.insert(&enqueuer.pool).await;
        let done = world.insert(&new).await;
        let review = NewJob { config: Some(json!({"autonomy": "review"})), ..new.clone() };
        let review = world.insert(&review).await;
        let failed = world.insert(&NewJob { prompt: "x", job_type: "nobody-knows-it", ..NewJob::default() }).await;
        world.work_until_idle().await;
        world.becomes(review, "review").await;
        let fail = "UPDATE jobs SET status = 'cancelled' WHERE id = $1 AND status <> 'failed'";
        sqlx::query(fail).bind(failed).execute(&world.pool).await.expect("a job can be ended");
        let other = NewJob { prompt: "Another's", ..NewJob::default() };
        let [running, gone] = [world.insert(&other).await, world.insert(&other).await];
        let (asked, call) = (world.insert(&other).await, Uuid::now_v7());
        let other = world.insert(&other).await;
        // There is something of everything.
        let rows = format!(
            "SELECT send_feedback('{other}', 'Mind the annex');
             INSERT INTO concurrency_limits VALUES ('nobody-knows-it', '', 1);
             INSERT INTO endpoint_limits (endpoint, key_name, model) VALUES ('https://models.example', 'A_KEY', 'm');
             INSERT INTO workers (id, hostname, version, concurrency) VALUES (gen_random_uuid(), 'host', '1', 1);
             UPDATE jobs SET idempotency_key = 'inv-2' WHERE id = '{other}';
             UPDATE jobs SET status = 'running', worker_id = (SELECT id FROM workers LIMIT 1), lease_epoch = 1, attempt = 1
             WHERE id IN ('{running}', '{gone}', '{asked}');
             INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id)
             SELECT id, attempt, lease_epoch, worker_id FROM jobs WHERE status = 'running';
             DELETE FROM jobs WHERE id = '{gone}';
             UPDATE jobs SET status = 'review' WHERE id = '{asked}';
             INSERT INTO approvals (id, job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, state, expires_at)
             SELECT a.id, a.job_id, 0, 'call_1_1', 'fetch_page', sha256(''), '{{}}', sha256(''), '{{}}', a.state, 'infinity'
             FROM (VALUES ('{call}'::uuid, '{asked}'::uuid, 'pending'), (gen_random_uuid(), '{own}', 'expired')) AS a (id, job_id, state);
             INSERT INTO approval_grants (job_id, tool, remaining) VALUES ('{asked}', 'web_search', 1)"
        );
        world.pool.execute(AssertSqlSafe(rows)).await.expect("rows can be inserted");
        Self { own, other, done, review, failed, running, gone, asked, call }
    }

    /// A statement about these jobs.
    fn put_into(&self, statement: &str, me: &str, owner: &str) -> String {
        let Self { own, other, done, review, failed, running, gone, asked, call } = self;
        let others = [("{running}", running), ("{gone}", gone), ("{asked}", asked), ("{call}", call)];
        [("{own}", own), ("{other}", other), ("{done}", done), ("{review}", review), ("{failed}", failed)]
            .into_iter()
            .chain(others)
            .fold(statement.to_owned(), |text, (name, id)| text.replace(name, &id.to_string()))
            .replace("{me}", me)
            .replace("{owner}", owner)
    }
}

/// How an attempt ends. Nothing of it stays.
async fn tried(user: &User, statement: &str) -> &'static str {
    let mut attempt = user.pool.begin().await.expect("a transaction can be begun");
    let done = attempt.execute(AssertSqlSafe(statement.to_owned())).await;
    let outcome = match done {
        Ok(done) if counts_rows(statement) && done.rows_affected() == 0 => "nothing",
        Ok(_) => "yes",
        Err(error) => {
            let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default();
            match code.as_ref() {
                REFUSED => "no",
                // The rules of rows: a status that cannot follow, a value out of bounds, an id or a key that is taken.
                "55000" | "23514" | "23505" => "against the rules",
                other => panic!("{}: `{statement}`: {other}: {error}", user.name()),
            }
        }
    };
    attempt.rollback().await.expect("a transaction can be rolled back");
    outcome
}

fn counts_rows(statement: &str) -> bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|word| statement.starts_with(word))
}

#[sqlx::test(migrations = false)]
async fn each_role_can_do_what_the_table_says_and_no_more(pool: PgPool) {
    let world = world(pool).await;
    let owner: String =
        sqlx::query_scalar("SELECT session_user::text").fetch_one(&world.pool).await.expect("the owner");
    let mut users = Vec::new();
    for role in ROLES {
        users.push(User::of(&world, role).await);
    }
    let jobs = Jobs::of(&world, &users[0]).await;
    // One of the owner's sessions to be ended.
    let held = world.pool.acquire().await.expect("a session");
    let mut refused = [0; ROLES.len()];
    let mut table = format!("| what is tried | {} |\n|---|{}\n", ROLES.join(" | "), "---|".repeat(ROLES.len()));
    for (kind, attempts) in ATTEMPTS {
        table.push_str(&format!("| **{kind}** |{}\n", " |".repeat(ROLES.len())));
        for (what, statement) in *attempts {
            let mut line = format!("| {what} |");
            for (at, user) in users.iter().enumerate() {
                let outcome = tried(user, &jobs.put_into(statement, user.name(), &owner)).await;
                refused[at] += usize::from(outcome != "yes");
                line.push_str(&format!(" {outcome} |"));
            }
            table.push_str(&line);
            table.push('\n');
        }
    }
    drop(held);
    assert!(refused.iter().all(|count| *count >= LEAST_REFUSED), "{ROLES:?}: {refused:?}");
    for user in users {
        user.leave(&world).await;
    }
    // The worker of the running job is a row alone, and trying all of it may take longer than a lease.
    let alive = "UPDATE workers SET heartbeat_at = now()";
    world.pool.execute(alive).await.expect("rows can be changed");
    world.finish().await;
    hold_against_the_page(&table);
}

/// The table between the marks of the page; `UPDATE=1` writes it.
fn hold_against_the_page(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/roles.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let begin = "<!-- made by tests/it/operations/deploy/role_table.rs -->\n";
    let (head, written) = page.split_once(begin).expect("the page has its mark");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{head}{begin}{table}")).expect("the page can be written");
        return;
    }
    assert_eq!(
        written, table,
        "docs/roles.md is out of date: run the test with UPDATE=1, look at it, and commit the file"
    );
}

/// Temporary objects of a session cannot shadow ours in a function that runs with its owner's rights.
#[sqlx::test(migrations = false)]
async fn temporary_files_are_none_of_ours(pool: PgPool) {
    let world = world(pool).await;
    let open: Vec<String> = sqlx::query_scalar(
        "SELECT p.oid::regprocedure::text FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
           AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting ~ '^search_path=.*pg_temp$')",
    )
    .fetch_all(&world.pool)
    .await
    .expect("functions can be listed");
    assert_eq!(open, Vec::<String>::new(), "they look into pg_temp before the end");

    let job = world.insert(&NewJob { prompt: "Another's", ..NewJob::default() }).await;
    let user = User::of(&world, "enqueue").await;
    let mut session = user.pool.acquire().await.expect("a session");
    let shadows = format!(
        "CREATE TEMP TABLE jobs AS SELECT '{job}'::uuid AS id, session_user::text AS created_by, 'x'::text AS idempotency_key,
                'creator'::text AS job_type, 'review'::text AS status;
         CREATE FUNCTION pg_temp.sees_every_job() RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    );
    session.execute(AssertSqlSafe(shadows)).await.expect("a session may make what is its own");
    for (question, answer) in [
        (format!("SELECT may_read_job('{job}')"), false),
        (format!("SELECT job_is_mine('{job}')"), false),
        ("SELECT job_of_key('creator', 'x', 'x', NULL, NULL, NULL, '{}', '{}') IS NULL".to_owned(), true),
    ] {
        let said: bool =
            sqlx::query_scalar(AssertSqlSafe(question.clone())).fetch_one(&mut *session).await.expect("it answers");
        assert_eq!(said, answer, "{question}");
    }
    drop(session);
    user.leave(&world).await;
    world.finish().await;
}
