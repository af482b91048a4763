//! `docker/worker.sql`: the login with which compose's workers come in.

use super::user::world;
use plumbline_system_tests::{PgPool, World};
use sqlx::{Connection as _, Executor as _, PgConnection};

const LOGIN: &str = "plumbline_worker";

/// Runs the file as compose does.
async fn run_file(world: &World, password: &str) {
    let url = world.url();
    let mut psql = tokio::process::Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--file"]).arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/worker.sql"));
    // The rest of the address is for the driver, and `psql` would refuse it.
    psql.arg(url.split('?').next().unwrap_or(&url)).env("WORKER_PASSWORD", password);
    let ended = psql.output().await.expect("psql can be started");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[sqlx::test(migrations = "../migrations")]
async fn its_workers_have_the_rights_of_the_work_role_and_no_others(pool: PgPool) {
    let world = world(pool).await;
    run_file(&world, "first").await;
    run_file(&world, "an o'clock").await;
    let login = world.pool.connect_options().as_ref().clone().username(LOGIN);
    let refused = PgConnection::connect_with(&login.clone().password("first")).await;
    assert!(refused.is_err(), "the password is the last one that was set");
    let mut worker = PgConnection::connect_with(&login.password("an o'clock")).await.expect("the worker can log in");
    let roles = "SELECT rolname::text FROM pg_roles WHERE pg_has_role(oid, 'MEMBER') ORDER BY 1";
    let roles: Vec<String> = sqlx::query_scalar(roles).fetch_all(&mut worker).await.expect("roles can be read");
    assert_eq!(roles, ["plumbline_work", LOGIN]);
    for statement in ["CREATE TABLE mine ()", "DROP TABLE jobs", "DELETE FROM jobs", "CREATE ROLE another"] {
        assert!(worker.execute(statement).await.is_err(), "`{statement}` is the owner's");
    }
    worker.close().await.expect("a connection can be closed");
    world.pool.execute("DROP ROLE plumbline_worker").await.expect("the login can be dropped");
    world.finish().await;
}
