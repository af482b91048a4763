//! Schema upgrades: interrupted, concurrent, half done, too early, too late, from before all releases.

use crate::support::{empty, execute, store, until, value};
use plumbline_store::{Error, MIGRATOR};
use sqlx::{PgPool, migrate::Migrator};
use std::borrow::Cow;

/// The first `count` migrations.
fn first(count: usize) -> Migrator {
    let migrations: Vec<_> = MIGRATOR.iter().take(count).cloned().collect();
    Migrator { migrations: Cow::Owned(migrations), ..Migrator::DEFAULT }
}

fn versions() -> Vec<i64> {
    MIGRATOR.iter().map(|migration| migration.version).collect()
}

#[sqlx::test(migrations = false)]
async fn a_migration_that_is_killed_leaves_nothing_and_is_done_again(pool: PgPool) {
    empty(&pool).await;
    // Creates the table of applied migrations.
    first(0).run(&pool).await.unwrap();
    for done in 0..versions().len() {
        first(done).run(&pool).await.unwrap();
        let before = value(&pool, TABLES).await;
        // The next migration runs its statements and then waits for this lock to record itself.
        let mut lock = pool.begin().await.unwrap();
        sqlx::query("LOCK TABLE _sqlx_migrations IN SHARE MODE").execute(&mut *lock).await.unwrap();
        let migrating = tokio::spawn({
            let pool = pool.clone();
            async move { first(done + 1).run(&pool).await }
        });
        until(&pool, BLOCKED).await;
        value(&pool, KILL).await;
        migrating.await.unwrap().expect_err("its connection was killed");
        lock.rollback().await.unwrap();
        assert_eq!(value(&pool, TABLES).await, before, "after {done} migrations");
    }
    store(&pool).migrate().await.unwrap();
    assert_eq!(store(&pool).schema_version().await.unwrap(), versions().last().copied());
    store(&pool).check_schema().await.unwrap();
}

const BLOCKED: &str = "SELECT count(*) = 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                       JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
                       WHERE c.relname = '_sqlx_migrations' AND NOT l.granted";
const KILL: &str = "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                    JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
                    WHERE c.relname = '_sqlx_migrations' AND NOT l.granted";
const TABLES: &str = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
                      WHERE relnamespace = 'public'::regnamespace";

#[sqlx::test(migrations = false)]
async fn an_older_schema_works_or_is_refused_with_what_to_do(pool: PgPool) {
    empty(&pool).await;
    let store = store(&pool);
    for done in 1..versions().len() {
        first(done).run(&pool).await.unwrap();
        match store.check_schema().await {
            Ok(()) => works(&pool).await,
            Err(error @ Error::SchemaOlder { .. }) => {
                assert!(error.to_string().ends_with("run `plumbline migrate`"), "{error}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// A job runs to its end with the current schema.
async fn works(pool: &PgPool) {
    let store = store(pool);
    let job = crate::support::running(&store).await;
    crate::story::tell(&store, job.lease()).await;
    store.fork(job.id, 2).await.unwrap();
    assert_eq!(store.invariants(std::time::Duration::from_secs(60)).await.unwrap(), []);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_schema_whose_chapter_was_edited_since_is_left_as_it_is(pool: PgPool) {
    let edited = versions()[3];
    execute(&pool, format!("UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = {edited}")).await.unwrap();
    let error = store(&pool).migrate().await.unwrap_err();
    assert!(matches!(error, Error::SchemaEdited(version) if version == edited), "{error}");
    assert!(error.to_string().contains("create a new database"), "{error}");
}

/// A database from before the first release, as far as `migrate` checks it.
const UNRELEASED: [&str; 5] = [
    "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, description text NOT NULL,
         installed_on timestamptz NOT NULL DEFAULT now(), success boolean NOT NULL, checksum bytea NOT NULL,
         execution_time bigint NOT NULL)",
    "INSERT INTO _sqlx_migrations VALUES (20261121090000, 'jobs', now(), true, '\\x01', 1)",
    "INSERT INTO _sqlx_migrations VALUES (20261124230000, 'whose default', now(), true, '\\x02', 1)",
    "CREATE TABLE jobs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), prompt text NOT NULL)",
    "INSERT INTO jobs (prompt) VALUES ('from before')",
];

#[sqlx::test(migrations = false)]
async fn a_schema_from_before_the_first_release_is_left_as_it_is(pool: PgPool) {
    empty(&pool).await;
    for statement in UNRELEASED {
        execute(&pool, statement).await.unwrap();
    }
    let rows = "SELECT (SELECT string_agg(m::text, ' ' ORDER BY version) FROM _sqlx_migrations m)
                       || (SELECT string_agg(j::text, ' ') FROM jobs j)";
    let before = (value(&pool, TABLES).await, value(&pool, rows).await);
    let store = store(&pool);
    for refused in [store.migrate().await, store.check_schema().await] {
        let error = refused.unwrap_err();
        assert!(matches!(error, Error::SchemaUnreleased { found: 20_261_124_230_000 }), "{error}");
        assert!(error.to_string().contains("create a new database"), "{error}");
    }
    assert_eq!((value(&pool, TABLES).await, value(&pool, rows).await), before);
}
