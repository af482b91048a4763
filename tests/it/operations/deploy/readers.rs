//! Row-level rights to read jobs: enqueuers their own, approvers those in review.

use super::user::{User, world};
use plumbline_system_tests::{PgPool, documents, jobs::NewJob};
use sqlx::{AssertSqlSafe, Executor as _};

/// An application reads what it needs of its own jobs, and nothing of others'.
#[sqlx::test(migrations = false)]
async fn enqueue_reads_how_its_own_jobs_go_and_what_came_of_them(pool: PgPool) {
    let world = world(pool).await;
    let (user, neighbour) = (User::of(&world, "enqueue").await, User::of(&world, "enqueue").await);
    let policy = documents::policy(1);
    let job = NewJob::with_content("policy.md", policy.markdown.as_bytes()).insert(&user.pool).await;
    world.work_until_idle().await;
    let went =
        "SELECT status || ' ' || (completed_at > started_at) || ' ' || (result ? 'summary') FROM jobs WHERE id = $1";
    let files = "SELECT count(*) FROM workspace_files WHERE job_id = $1 AND path LIKE 'output/%'";
    let file = "SELECT convert_from(workspace_file($1, 'output/requirements.md'), 'UTF8')";
    let of_user: Option<String> =
        sqlx::query_scalar(went).bind(job).fetch_optional(&user.pool).await.expect("one's own job can be read");
    assert_eq!(of_user.as_deref(), Some("completed true true"));
    let count: i64 = sqlx::query_scalar(files).bind(job).fetch_one(&user.pool).await.expect("files can be listed");
    assert!(count >= 3, "{count} files");
    let text: Option<String> =
        sqlx::query_scalar(file).bind(job).fetch_one(&user.pool).await.expect("a file can be read");
    assert!(text.is_some_and(|text| text.contains(&policy.sentences[0])));

    let of_neighbour: Option<String> =
        sqlx::query_scalar(went).bind(job).fetch_optional(&neighbour.pool).await.expect("jobs can be asked for");
    assert_eq!(of_neighbour, None);
    let count: i64 = sqlx::query_scalar(files).bind(job).fetch_one(&neighbour.pool).await.expect("files can be listed");
    let text: Option<String> = sqlx::query_scalar(file).bind(job).fetch_one(&neighbour.pool).await.expect("it answers");
    assert_eq!((count, text), (0, None));
    // SET ROLE changes nothing: the login counts.
    let mut session = neighbour.pool.acquire().await.expect("a session");
    session.execute("SET ROLE plumbline_enqueue").await.expect("a role one is in can be taken on");
    let taken_on: Option<String> =
        sqlx::query_scalar(went).bind(job).fetch_optional(&mut *session).await.expect("jobs can be asked for");
    assert_eq!(taken_on, None);
    drop(session);
    user.leave(&world).await;
    neighbour.leave(&world).await;
    world.finish().await;
}

/// Approvers see jobs in review, and nothing before or after.
#[sqlx::test(migrations = false)]
async fn approve_reads_what_is_in_review_and_decides_on_it(pool: PgPool) {
    let world = world(pool).await;
    let user = User::of(&world, "approve").await;
    let policy = documents::policy(1);
    let review = NewJob {
        config: Some(serde_json::json!({"autonomy": "review"})),
        ..NewJob::with_content("policy.md", policy.markdown.as_bytes())
    };
    let job = world.insert(&review).await;
    let seen = "SELECT prompt || ' ' || (result ? 'summary') FROM jobs WHERE id = $1";
    let file = "SELECT convert_from(workspace_file($1, 'output/requirements.md'), 'UTF8')";
    let look = async || {
        let row: Option<String> =
            sqlx::query_scalar(seen).bind(job).fetch_optional(&user.pool).await.expect("jobs can be asked for");
        let text: Option<String> = sqlx::query_scalar(file).bind(job).fetch_one(&user.pool).await.expect("it answers");
        (row, text.is_some())
    };
    assert_eq!(look().await, (None, false), "it is not in review yet");
    world.work_until_idle().await;
    world.becomes(job, "review").await;
    assert_eq!(look().await, (Some("Extract the requirements true".to_owned()), true));
    assert_eq!(user.call("send_feedback($1, 'Mind the annex')", job).await, "pending");
    assert_eq!(look().await, (None, false), "it is at work again");
    world.work_until_idle().await;
    world.becomes(job, "review").await;
    user.run(&world, &["approve", &job.to_string()]).await;
    let commands: Vec<(String, bool)> =
        sqlx::query_as("SELECT command, by = $2 FROM job_commands WHERE job_id = $1 ORDER BY at")
            .bind(job)
            .bind(user.name())
            .fetch_all(&world.pool)
            .await
            .expect("commands can be read");
    assert_eq!(commands, [("send_feedback".to_owned(), true), ("approve_job".to_owned(), true)]);
    assert_eq!(look().await, (None, false), "it is decided");
    user.leave(&world).await;
    world.finish().await;
}

/// Roles outside the file see what they were granted, as without policies.
#[sqlx::test(migrations = false)]
async fn other_roles_and_several_roles_see_every_job(pool: PgPool) {
    let world = world(pool).await;
    world.insert(&NewJob { prompt: "Another's", ..NewJob::default() }).await;
    let user = User::of(&world, "validate").await;
    let count = async || {
        let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM jobs").fetch_one(&user.pool).await;
        count.expect("jobs can be counted")
    };
    let give = |right: &str| AssertSqlSafe(format!("GRANT {right} TO {}", user.name()));
    world.pool.execute(give("SELECT ON jobs")).await.expect("a right can be given");
    assert_eq!(count().await, 1, "a role of somebody's own");
    world.pool.execute(give("plumbline_enqueue")).await.expect("a role can be given");
    assert_eq!(count().await, 0, "an enqueuer");
    world.pool.execute(give("plumbline_watch")).await.expect("a role can be given");
    assert_eq!(count().await, 1, "one who may watch as well");
    let revoke = format!("REVOKE SELECT ON jobs FROM {}", user.name());
    world.pool.execute(AssertSqlSafe(revoke)).await.expect("a right can be taken back");
    user.leave(&world).await;
    world.finish().await;
}
