//! Starts and stops the server of a cluster with `pg_ctl`, which detaches the server from the terminal, so that a
//! Ctrl-C ends the command but not the database under it.

use std::fs::{self, OpenOptions};
use std::net::TcpListener;
use std::path::Path;

use tokio::process::Command;

use crate::account::Account;
use crate::error::{Error, last_lines};
use crate::place::{self, Place, remove_if_there};
use crate::programs::Programs;
use crate::{Options, cluster};

/// Seconds; long enough for the recovery of a demo's cluster after a power cut on a slow disk.
const START_WITHIN: &str = "120";
/// Another process may take the free port between our check and the server's start; three consecutive failures are not
/// chance.
const TRIES: usize = 4;
/// Maximum log size in bytes; a longer log is truncated.
const LARGEST_LOG: u64 = 8 << 20;

/// The port of the running server of this cluster. The caller holds the turn, so none is starting or stopping.
pub(crate) fn running(place: &Place) -> Option<u16> {
    let data = place.data();
    // Its lines are: process, data folder, start time, port, socket folder, address, shared memory, status.
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let mut lines = text.lines().map(str::trim);
    let pid = lines.next()?;
    let port = lines.nth(2)?.parse().ok()?;
    (runs_on(pid, &data) && text.lines().any(|line| line.trim() == "ready")).then_some(port)
}

/// Starts the server on a free port and waits until it takes connections.
pub(crate) async fn start(
    programs: &Programs,
    account: &Account,
    place: &Place,
    options: &Options,
) -> Result<u16, Error> {
    let data = place.data();
    // After a crash its process id may belong to any process, especially in a container. If a server is running on the
    // data anyway, its shared memory refuses a second one.
    remove_if_there(&data.join("postmaster.pid"))?;
    prepare_log(place, account)?;
    for tries_left in (0..TRIES).rev() {
        let port = free_port()?;
        let file = cluster::settings_file(&data);
        fs::write(&file, settings(port, options)).map_err(Error::file("write", &file))?;
        let logged = fs::metadata(place.log()).map_or(0, |log| log.len());
        let mut pg_ctl = pg_ctl(programs, &data);
        pg_ctl.args(["--wait", "--timeout", START_WITHIN, "--log"]).arg(place.log()).arg("start");
        let Err(error) = account.run(&mut pg_ctl).await else { return Ok(port) };
        let said = log_since(place, logged);
        if tries_left == 0 || !said.contains("could not bind") {
            let said = if said.is_empty() { error.to_string() } else { said };
            return Err(Error::Program { program: "starting the server".to_owned(), said });
        }
    }
    unreachable!("the last try returns")
}

/// Stops the server in order: open transactions are rolled back, no crash recovery follows.
pub(crate) async fn stop(programs: &Programs, account: &Account, data: &Path) -> Result<(), Error> {
    account.run(pg_ctl(programs, data).args(["--wait", "--mode", "fast", "stop"])).await
}

/// Stops and deletes temporary clusters left by killed processes. Best effort: the next start retries.
pub(crate) async fn sweep(programs: &Programs, account: &Account) {
    let Ok(entries) = fs::read_dir(place::throw_away_parent(account)) else { return };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(place::PREFIX));
    for place in ours.filter_map(|entry| Place::abandoned(entry.path())) {
        if running(&place).is_some() && stop(programs, account, &place.data()).await.is_err() {
            continue;
        }
        let _ = place.discard_if_throw_away();
    }
}

fn pg_ctl(programs: &Programs, data: &Path) -> Command {
    let mut command = Command::new(programs.path("pg_ctl"));
    command.arg("--silent").arg("--pgdata").arg(data);
    command
}

/// The settings of this start, in the syntax of `postgresql.conf`. There is no socket: its path may not pass 107 bytes.
fn settings(port: u16, options: &Options) -> String {
    let port = port.to_string();
    let mut settings = vec![
        ("port", port.as_str()),
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
        ("logging_collector", "off"),
    ];
    if options.dir.is_none() {
        settings.push(("max_connections", "200"));
    }
    if !options.durable {
        settings.extend(["fsync", "synchronous_commit", "full_page_writes"].map(|name| (name, "off")));
    }
    settings.extend(options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    settings.iter().map(|(name, value)| format!("{name} = '{}'\n", value.replace('\'', "''"))).collect()
}

/// The server's account writes the log; the folder around it is not its own.
fn prepare_log(place: &Place, account: &Account) -> Result<(), Error> {
    let path = place.log();
    let log = OpenOptions::new().create(true).append(true).open(&path).map_err(Error::file("open", &path))?;
    if log.metadata().is_ok_and(|found| found.len() > LARGEST_LOG) {
        log.set_len(0).map_err(Error::file("empty", &path))?;
    }
    account.own(&path)
}

/// The last lines of the server's log after this byte, for an error message.
fn log_since(place: &Place, from: u64) -> String {
    let bytes = fs::read(place.log()).unwrap_or_default();
    let start = usize::try_from(from).unwrap_or(0).min(bytes.len());
    last_lines(&bytes[start..], 4)
}

fn free_port() -> Result<u16, Error> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    bound.map(|address| address.port()).map_err(Error::file("find a free port on", Path::new("127.0.0.1")))
}

/// Whether a process is the server of this data folder: by `/proc` if there is one, because slim containers lack `ps`.
fn runs_on(pid: &str, data: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok().or_else(|| {
        let listed = std::process::Command::new("ps").args(["-o", "command=", "-p", pid]).output();
        listed.ok().map(|listed| listed.stdout)
    });
    line.is_some_and(|line| String::from_utf8_lossy(&line).contains(&*data.to_string_lossy()))
}
