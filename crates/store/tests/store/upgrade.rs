//! Getting from one schema to the next: interrupted, in competition, half done, too early, too late.

use crate::support::{execute, store, until, value};
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
    // Makes the table of applied migrations.
    first(0).run(&pool).await.unwrap();
    for done in 0..versions().len() {
        first(done).run(&pool).await.unwrap();
        let before = value(&pool, TABLES).await;
        // The next one runs its statements and then waits for this lock to say that it has.
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

/// A job goes through the schema as it is.
async fn works(pool: &PgPool) {
    let store = store(pool);
    let job = crate::support::running(&store).await;
    crate::story::tell(&store, job.lease()).await;
    store.fork(job.id, 2).await.unwrap();
    assert_eq!(store.invariants(std::time::Duration::from_secs(60)).await.unwrap(), []);
}

#[sqlx::test(migrations = false)]
async fn rows_of_an_older_schema_are_taken_along(pool: PgPool) {
    first(6).run(&pool).await.unwrap();
    execute(&pool, r#"INSERT INTO jobs (prompt, context) VALUES ('x', '{"concurrency_key": "a"}'), ('y', '[]')"#)
        .await
        .unwrap();
    store(&pool).migrate().await.unwrap();
    let keys = "SELECT string_agg(prompt || '=' || concurrency_key, ' ' ORDER BY prompt) FROM jobs";
    assert_eq!(value(&pool, keys).await.as_deref(), Some("x=a y="));
}
