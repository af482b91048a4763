//! Workers of the suite.

use plumbline_system_tests::World;
use tokio::process::Command;

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
