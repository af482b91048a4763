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

/// Ends a world: the invariants, and its database goes.
pub(crate) async fn close(world: World) {
    let pool = world.pool.clone();
    world.finish_repaired().await;
    let options = pool.connect_options();
    pool.close().await;
    let name = options.get_database().expect("a world's database has a name").to_owned();
    let mut admin =
        options.as_ref().clone().database("postgres").connect().await.expect("the server takes connections");
    let dropped = admin.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await;
    dropped.expect("a database can be dropped");
}

/// Seconds of a lease that really runs out within the suite. A process that stands still for so long on a busy machine loses
/// its jobs, which is no fault of theirs as long as it happens seldom.
pub(crate) const LEASE_SECS: u64 = 4;

/// A worker of the suite: short leases, and a name by which its row in `workers` is found.
pub(crate) fn worker(world: &World, name: &str) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("HOSTNAME", name).env("RUST_LOG", "info").env("PLUMBLINE_CONCURRENCY", "16");
    command.env("PLUMBLINE_LEASE_SECS", LEASE_SECS.to_string());
    command
}
