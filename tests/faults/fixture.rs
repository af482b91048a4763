//! Workers of the suite.

use plumbline_system_tests::World;
use tokio::process::Command;

/// A worker of the suite, with a name by which its row in `workers` is found. Its lease outlasts any stall of a busy machine:
/// where a scene is about a lease that ends, it ends it with `World::age_worker`.
pub(crate) fn worker(world: &World, name: &str) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("HOSTNAME", name).env("RUST_LOG", "info").env("PLUMBLINE_CONCURRENCY", "16");
    command
}
