//! Worlds on databases of their own, for tests that are no `#[sqlx::test]`.

use plumbline_system_tests::{World, cluster::create_database};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, postgres::PgConnectOptions};
use std::str::FromStr;
use tokio::process::Command;

/// The server of `DATABASE_URL`.
///
/// # Panics
/// When it is not set.
pub(crate) fn server() -> PgConnectOptions {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL is set; `make faults` sees to it");
    PgConnectOptions::from_str(&url).expect("DATABASE_URL is an address of Postgres")
}

/// A new world on the server of `DATABASE_URL`.
pub(crate) async fn open() -> World {
    World::new(create_database(&server()).await).await
}

/// Ends a world: the invariants, and its database goes. A worker lives meanwhile, because a folder whose writer died
/// with the job's last step is repaired by whichever worker there is.
pub(crate) async fn close(world: World) {
    let pool = world.pool.clone();
    let worker = world.start(worker(&world, "closing"));
    world.finish().await;
    drop(worker);
    let options = pool.connect_options();
    pool.close().await;
    let name = options.get_database().expect("a world's database has a name").to_owned();
    let mut admin =
        options.as_ref().clone().database("postgres").connect().await.expect("the server takes connections");
    let dropped = admin.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await;
    dropped.expect("a database can be dropped");
}

/// A worker of the suite: short leases, and a name by which its row in `workers` is found.
pub(crate) fn worker(world: &World, name: &str) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("HOSTNAME", name).env("RUST_LOG", "info").env("PLUMBLINE_CONCURRENCY", "16");
    command.env("PLUMBLINE_LEASE_SECS", "2").env("PLUMBLINE_HEARTBEAT_SECS", "1");
    command
}
