//! Setting Plumbline up: migrations, configurations, and the doctor's word on all of it.

use plumbline_system_tests::{Ended, PgPool, World};
use serde_json::Value;
use std::{fs, path::Path};

#[sqlx::test(migrations = false)]
async fn migrate_may_be_run_by_many_at_once_and_again(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    let unready = world.run(&["worker", "--until-idle"]).await;
    assert_eq!(unready.code, Some(1));
    assert!(unready.stderr.contains("plumbline migrate"), "{}", unready.stderr);

    let together = [(); 3].map(|()| world.start(world.command(&["migrate"])));
    for migrate in together {
        assert_migrated(&migrate.ended().await);
    }
    assert_migrated(&world.run(&["migrate"]).await);
    let applied: i64 =
        sqlx::query_scalar("SELECT count(*) - count(DISTINCT version) FROM _sqlx_migrations WHERE success")
            .fetch_one(&world.pool)
            .await
            .expect("the list of migrations can be read");
    assert_eq!(applied, 0, "a migration was applied twice");
    world.work_until_idle().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn migrate_leaves_a_schema_from_before_the_first_release_as_it_is(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    let unreleased = [
        "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, description text NOT NULL,
             installed_on timestamptz NOT NULL DEFAULT now(), success boolean NOT NULL, checksum bytea NOT NULL,
             execution_time bigint NOT NULL)",
        "INSERT INTO _sqlx_migrations VALUES (20261124230000, 'whose default', now(), true, '\\x01', 1)",
        "CREATE TABLE jobs (id uuid PRIMARY KEY)",
    ];
    for statement in unreleased {
        sqlx::query(statement).execute(&world.pool).await.expect("a table can be made");
    }
    for command in ["migrate", "worker", "status"] {
        let refused = world.run(&[command]).await;
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{command}: {}", refused.stderr);
        for word in ["20261124230000 from before version 0.1.0", "create a new database", "pg_dump --data-only"] {
            assert!(refused.stderr.contains(word), "{command}: `{word}` is not in: {}", refused.stderr);
        }
    }
    assert_verdict(&world.run(&["doctor"]).await, 1, "FAIL  schema: ", "create a new database");
    let tables = "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'public'";
    let tables: String = sqlx::query_scalar(tables).fetch_one(&world.pool).await.expect("the tables can be listed");
    assert_eq!(tables, "_sqlx_migrations jobs");
    sqlx::query("DROP TABLE _sqlx_migrations, jobs").execute(&world.pool).await.expect("the tables can go");
    assert_migrated(&world.run(&["migrate"]).await);
    world.finish().await;
}

fn assert_migrated(ended: &Ended) {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("schema version 2"), "{}", ended.stdout);
}

#[sqlx::test(migrations = false)]
async fn doctor_names_what_is_missing(pool: PgPool) {
    let mut world = World::with_empty_database(pool).await;
    assert_verdict(&world.run(&["doctor"]).await, 1, "FAIL  schema: ", "plumbline migrate");
    assert_eq!(world.run(&["migrate"]).await.code, Some(0));
    let well = world.run(&["doctor"]).await;
    assert_eq!(well.code, Some(0), "{}", well.stdout);
    for part in ["database: ", "schema: ", "workspace: ", "job type: ", "model: "] {
        assert!(well.stdout.lines().any(|line| line.starts_with(&format!("ok    {part}"))), "{part}{}", well.stdout);
    }
    let base_url = world.model.base_url();
    world.model.close().await;
    assert_verdict(&world.run(&["doctor"]).await, 1, "FAIL  model: ", &base_url);
    world.model.open().await;

    let mut elsewhere = world.command(&["doctor"]);
    elsewhere.env("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing");
    assert_verdict(&world.start(elsewhere).ended().await, 1, "FAIL  database: ", "DATABASE_URL");

    sqlx::query("INSERT INTO jobs (prompt) VALUES ('Say what records are')")
        .execute(&world.pool)
        .await
        .expect("insert");
    assert_verdict(&world.run(&["doctor"]).await, 0, "note  queue: 1 runnable", "plumbline worker");
    world.finish().await;
}

/// Asserts the exit code, and a line with this beginning and content.
fn assert_verdict(ended: &Ended, code: i32, begins: &str, has: &str) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    let line = ended.stdout.lines().find(|line| line.starts_with(begins)).unwrap_or_default();
    assert!(line.contains(has), "no line `{begins}… {has} …` in:\n{}", ended.stdout);
}

#[sqlx::test(migrations = false)]
async fn config_show_resolves_and_config_check_points_at_the_line(pool: PgPool) {
    let world = World::new(pool).await;
    let shown = world.run(&["config", "show", "creator"]).await;
    let shown: Value = serde_json::from_str(&shown.stdout).expect("the configuration is JSON");
    assert_eq!(shown["llm"]["model"], plumbline_rehearsal::MODEL, "the environment's word is in it");
    assert_eq!(shown["limits"]["max_iterations"], 1000, "and the defaults'");
    let unknown = world.run(&["config", "show", "craetor"]).await;
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("creator") && unknown.stderr.lines().count() == 1, "{}", unknown.stderr);

    let good = world.run(&["config", "check"]).await;
    assert_eq!(good.code, Some(0), "{}{}", good.stdout, good.stderr);
    assert!(good.stdout.contains("creator"), "{}", good.stdout);

    let dir = world.folder().join("configs");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs"), &dir);
    assert_eq!(world.run(&["config", "check", "configs"]).await.code, Some(0), "an untouched copy is in order");
    let file = dir.join("creator/config.json");
    fs::write(
        &file,
        "{\n  \"$extends\": \"defaults\",\n  \"job_type\": \"creator\",\n  \"limits\": {\n    \"max_iteratoins\": 5\n  }\n}\n",
    )
    .expect("the copy can be written");
    let bad = world.run(&["config", "check", "configs"]).await;
    assert_eq!(bad.code, Some(1), "{}{}", bad.stdout, bad.stderr);
    let said = bad.stdout + &bad.stderr;
    for word in ["configs/creator/config.json:5", "max_iteratoins", "max_iterations"] {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
    world.finish().await;
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file can be copied");
        }
    }
}
