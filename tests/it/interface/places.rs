//! Locations: the database by every form of its address, the tables with any search path, and the folder of a deleted
//! job.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, eventually, jobs::NewJob};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The libpq connection string equivalent to the world's address.
fn words(world: &World) -> String {
    let options = world.pool.connect_options();
    let place = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let database = options.get_database().expect("a test has a database of its own");
    let (port, user) = (options.get_port(), options.get_username());
    format!("host={place} port={port} user={user} dbname = '{database}'")
}

async fn status(world: &World, url: &str) -> plumbline_system_tests::Ended {
    let mut command = world.command(&["status"]);
    command.env("DATABASE_URL", url);
    world.start(command).ended().await
}

#[sqlx::test(migrations = false)]
async fn the_database_is_found_by_words_as_by_a_url(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob { prompt: "Wait", in_seconds: 86_400.0, ..NewJob::default() }).await;
    // Only the test's own address may contain a password.
    if !world.url().split('@').next().unwrap_or_default().trim_start_matches("postgres://").contains(':') {
        let found = status(&world, &words(&world)).await;
        assert_eq!((found.code, found.stderr.as_str()), (Some(0), ""));
        assert!(found.stdout.contains(&job.to_string()), "{}", found.stdout);
    }
    for (address, said) in [
        ("plumbline", "such as `host=db port=5432 user=me dbname=plumbline`"),
        ("mysql://me:secret@db/plumbline", "such as postgres://user:password@host:5432/database"),
        ("host=/nowhere/at/all user=me", "could not connect to the database"),
        ("postgres://me@%2Fnowhere%2Fat%2Fall/plumbline", "could not connect to the database"),
    ] {
        let refused = status(&world, address).await;
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{address}: {refused:?}");
        assert!(refused.stderr.contains(said) && !refused.stderr.contains("secret"), "{address}: {}", refused.stderr);
    }
    world.finish().await;
}

/// A role's `search_path` may lack the schema of the tables, as may that of an enqueuer.
#[sqlx::test(migrations = false)]
async fn a_search_path_without_public_still_finds_the_tables(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    let database = world.pool.connect_options().get_database().expect("a test has a database of its own").to_owned();
    for statement in ["CREATE SCHEMA app".to_owned(), format!("ALTER DATABASE \"{database}\" SET search_path = app")] {
        sqlx::query(AssertSqlSafe(statement)).execute(&world.pool).await.expect("the test's own database");
    }
    assert_eq!(world.run(&["migrate"]).await.code, Some(0));
    let mut elsewhere = PgConnection::connect_with(&world.pool.connect_options()).await.expect("a connection");
    let path: String = sqlx::query_scalar("SHOW search_path").fetch_one(&mut elsewhere).await.expect("a setting");
    assert_eq!(path, "app");
    let job: Uuid = sqlx::query_scalar("INSERT INTO public.jobs (prompt) VALUES ('Say what records are') RETURNING id")
        .fetch_one(&mut elsewhere)
        .await
        .expect("a plain INSERT");
    let other: Uuid = sqlx::query_scalar("SELECT public.enqueue_job('Another', idempotency_key => 'once')")
        .fetch_one(&mut elsewhere)
        .await
        .expect("enqueue_job");
    for (call, expected) in [
        ("SELECT public.pause_job($1)", "paused"),
        ("SELECT public.resume_job($1, 'Mind the annex.')", "pending"),
        ("SELECT public.send_feedback($1, 'Mind the index.')", "pending"),
        ("SELECT public.cancel_job($1)", "cancelled"),
        ("SELECT public.retry_job($1)", "pending"),
    ] {
        let became: String = sqlx::query_scalar(call).bind(other).fetch_one(&mut elsewhere).await.expect(call);
        assert_eq!(became, expected, "{call}");
    }
    for status in ["paused", "pending"] {
        let update = "UPDATE public.jobs SET status = $1 WHERE id = $2";
        let done = sqlx::query(update).bind(status).bind(other).execute(&mut elsewhere).await.expect("a plain UPDATE");
        assert_eq!(done.rows_affected(), 1, "{status}");
    }
    assert_eq!(world.run(&["worker", "--until-idle"]).await.code, Some(0));
    for call in [
        "SELECT status FROM public.job_summary WHERE id = $1",
        "SELECT CASE WHEN length(public.workspace_file($1, 'main_plan.md')) > 0 THEN 'completed' END",
        "SELECT CASE WHEN public.fork_job($1, 1) IS NOT NULL THEN 'completed' END",
        "SELECT CASE WHEN count(*) > 0 THEN 'completed' END FROM public.workspace_files WHERE job_id = $1",
        "DELETE FROM public.jobs WHERE id = $1 RETURNING status",
    ] {
        let found: String = sqlx::query_scalar(call).bind(job).fetch_one(&mut elsewhere).await.expect(call);
        assert_eq!(found, "completed", "{call}");
    }
    // The checking connection has the ordinary path. No connection of the pool may have been opened before, because it
    // would keep the other path.
    let back = format!("ALTER DATABASE \"{database}\" RESET search_path");
    sqlx::query(AssertSqlSafe(back)).execute(&mut elsewhere).await.expect("the test's own database");
    drop(elsewhere);
    world.work_until_idle().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_folder_of_a_job_that_is_deleted_while_it_runs_goes_with_it(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let stays = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let deleted = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(4);
    let worker = world.worker();
    world.model.arrived(4).await;
    let folder = world.workspace().join(format!("job_{deleted}"));
    eventually("the folder is there", async || folder.join("instructions.md").is_file().then_some(())).await;
    sqlx::query("DELETE FROM jobs WHERE id = $1").bind(deleted).execute(&world.pool).await.expect("a plain DELETE");
    world.model.answers(Answer::Work);
    eventually("the folder is gone", async || (!folder.exists()).then_some(())).await;
    world.becomes(stays, "completed").await;
    assert!(world.workspace().join(format!("job_{stays}")).join("instructions.md").is_file());
    worker.stop().await;
    assert!(!folder.exists(), "nothing made it again");
    world.finish().await;
}

/// `null` in a job's own `config` removes values; for a group, everything set over the defaults.
#[sqlx::test(migrations = false)]
async fn groups_of_a_configuration_can_be_removed_by_null(pool: PgPool) {
    let world = World::new(pool).await;
    let config = serde_json::json!({"llm": null, "limits": null, "phase_settings": null, "connections": null});
    let job = world.insert(&NewJob { prompt: "Say what records are", config: Some(config), ..NewJob::default() }).await;
    world.work_until_idle().await;
    let row = world.job(job).await;
    assert_eq!((row.status.as_str(), row.error), ("completed", None));
    world.finish().await;
}
