//! Releases change hands while jobs run: migrations only add, so that workers of neighbouring releases work side by
//! side. (What happens between the statements of a migration is tested with the store.)

use plumbline_system_tests::{Answer, PgPool, World, documents, eventually, jobs::NewJob, probe::Probed};

/// SQLSTATE: deadlock detected.
const DEADLOCK: &str = "40P01";

/// A later release's migration: adds to every table that a worker writes.
const EXPAND: [&str; 8] = [
    "ALTER TABLE jobs ADD COLUMN later text",
    "ALTER TABLE checkpoints ADD COLUMN later text NOT NULL DEFAULT 'unknown'",
    "ALTER TABLE messages ADD COLUMN later bigint",
    "ALTER TABLE todos ADD COLUMN later text",
    "ALTER TABLE requirement_cache ADD COLUMN later jsonb NOT NULL DEFAULT '{}'",
    "ALTER TABLE workers ADD COLUMN later text",
    "CREATE TABLE later (job_id uuid REFERENCES jobs ON DELETE CASCADE, noted timestamptz DEFAULT now())",
    "INSERT INTO _sqlx_migrations VALUES (99990101000000, 'later', now(), true, '', 0)",
];

/// Applies it, in one transaction; none where it met a worker's statement half-way and was chosen to be the one that gives
/// way, as may happen to any migration while workers are live: it is retried then.
async fn expand(pool: &PgPool) -> Option<()> {
    let mut migration = pool.begin().await.expect("the database is there");
    for statement in EXPAND {
        if let Err(error) = sqlx::query(statement).execute(&mut *migration).await {
            let code = error.as_database_error().and_then(|error| error.code());
            assert_eq!(code.as_deref(), Some(DEADLOCK), "a later migration can be applied: {error}");
            return None;
        }
    }
    migration.commit().await.expect("a later migration can be committed");
    Some(())
}

#[sqlx::test(migrations = false)]
async fn workers_of_the_previous_release_continue_while_the_schema_grows(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let insert = async || world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(9);
    let running = insert().await;
    let (one, two) = (
        Probed::start(&world, world.command(&["worker"])).await,
        Probed::start(&world, world.command(&["worker"])).await,
    );
    world.model.arrived(9).await;
    eventually("the migration to be applied", async || expand(&world.pool).await).await;

    let waiting = insert().await;
    world.model.answers(Answer::Work);
    for job in [running, waiting] {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 1), "the migration cost an attempt");
    }
    for worker in [&one, &two] {
        let (status, said) = worker.ask("/readyz").await;
        assert!(status == 503 && said["reason"].as_str().is_some_and(|reason| reason.contains("newer")), "{said}");
    }
    let refused = world.run(&["worker", "--until-idle"]).await;
    assert_eq!(refused.code, Some(1), "a worker that starts anew must be of the new release");
    assert!(refused.stderr.contains("use a newer plumbline"), "{}", refused.stderr);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    for worker in [one, two] {
        worker.program.stop().await;
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_migration_that_is_killed_is_finished_by_the_next_one(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    let applied = "SELECT count(*) FROM _sqlx_migrations";
    let count = async || sqlx::query_scalar::<_, i64>(applied).fetch_one(&world.pool).await.ok();
    let migrating = world.start(world.command(&["migrate"]));
    let at = eventually("the first migrations to be applied", async || count().await.filter(|count| *count > 0)).await;
    migrating.kill().await;
    let migrated = world.run(&["migrate"]).await;
    assert_eq!(migrated.code, Some(0), "killed after {at} migrations: {}", migrated.stderr);
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    world.finish().await;
}
