//! The machine and the server of the measurements.

use crate::{database::Database, error::Error};
use std::fs;

/// The settings that determine the figures.
const SETTINGS: [&str; 9] = [
    "server_version",
    "shared_buffers",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_compression",
    "max_wal_size",
    "checkpoint_timeout",
    "max_connections",
];

/// Name and value of each part of the machine.
pub(crate) fn machine() -> Vec<(String, String)> {
    let cpu = line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let named = |name: &str, value: String| (name.to_owned(), value);
    vec![
        named("processor", format!("{cpu}, {cores} cores")),
        named("memory", line("/proc/meminfo", "MemTotal").unwrap_or_default()),
        named("kernel", kernel.trim().to_owned()),
        // Figures from a machine with other load are worth little.
        named("load before the run", load),
    ]
}

/// The server's settings.
pub(crate) async fn postgres(database: &Database) -> Result<Vec<(String, String)>, Error> {
    let mut settings = Vec::new();
    for name in SETTINGS {
        settings.push((format!("postgres {name}"), database.setting(name).await?));
    }
    Ok(settings)
}

fn line(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let found = text.lines().find(|line| line.starts_with(name))?;
    Some(found.split_once(':')?.1.trim().to_owned())
}
