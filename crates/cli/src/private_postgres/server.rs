//! Starting and stopping the server of a cluster.

use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::process::Child;

use super::binaries::Binaries;
use super::cluster_dir::ClusterDir;
use super::error::Error;
use super::guard::{Hold, Pipe};
use super::os_user::OsUser;
use super::postmaster::{LOOK_EVERY, Postmaster, is_alive};
use super::{Options, files};

/// Long enough for the recovery of a demo's cluster after a power cut on a slow disk.
const START_WITHIN: Duration = Duration::from_secs(120);
const STOP_WITHIN: Duration = Duration::from_secs(30);
/// A free port may be taken by somebody else between our look and the server's; three misses in a row are no chance.
const TRIES: usize = 4;
/// In bytes.
const LARGEST_LOG: u64 = 8 << 20;
/// What the server logs when another try, with another port or a moment later, can help.
const PASSING: [&str; 3] = ["could not bind", "Address already in use", "shared memory block"];

/// A server that this process holds.
#[derive(Debug)]
pub(crate) struct Server {
    /// The port on 127.0.0.1.
    pub(crate) port: u16,
    pid: i32,
    run: PathBuf,
    /// The guard, when this process started the server and did not join it.
    guard: Option<Child>,
    hold: Hold,
    /// Says to the others that somebody uses the server.
    user: File,
}

/// Starts the server of a cluster that nobody runs.
pub(crate) async fn start(
    programs: &Binaries,
    account: &OsUser,
    place: &ClusterDir,
    pipe: Pipe,
    options: &Options,
) -> Result<Server, Error> {
    let log = open_log(&place.log)?;
    let mut tries = 0;
    loop {
        tries += 1;
        let log_start = log.metadata().map_err(Error::file("examine", &place.log))?.len();
        let port = free_port()?;
        let command_line = command_line(programs, place, pipe.run(), port, options);
        let mut guard = pipe.start(&command_line, &log, account)?;
        match wait_until_ready(&mut guard, &place.data).await {
            Ok(pid) => {
                let user = share(place)?;
                let run = pipe.run().to_path_buf();
                return Ok(Server { port, pid, run, guard: Some(guard), hold: pipe.into_hold()?, user });
            }
            Err(why) => {
                let said = files::last_lines(&place.log, log_start, 4);
                let passing = PASSING.iter().any(|text| said.contains(text));
                if !passing || tries == TRIES {
                    let reason = if said.is_empty() { why.to_owned() } else { said };
                    return Err(Error::Start { reason, log: place.log.clone() });
                }
            }
        }
    }
}

/// Uses a server that another process started; `None` when it is no longer to be had.
pub(crate) async fn join(place: &ClusterDir, found: &Postmaster) -> Result<Option<Server>, Error> {
    let Some(hold) = Hold::join(&found.run) else { return Ok(None) };
    let user = share(place)?;
    let deadline = Instant::now() + START_WITHIN;
    while hold.is_read() && Instant::now() < deadline {
        match Postmaster::read(&place.data) {
            Some(now) if now.pid == found.pid && now.ready => {
                let (port, pid, run) = (now.port, now.pid, now.run);
                return Ok(Some(Server { port, pid, run, guard: None, hold, user }));
            }
            _ if !is_alive(found.pid) => break,
            _ => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
    Ok(None)
}

impl Server {
    /// Lets go of the server, and when nobody else holds it waits for its end and clears its run folder away. The
    /// caller holds the cluster's turn, so nobody joins meanwhile.
    pub(crate) async fn stop(self, place: &ClusterDir) -> Result<(), Error> {
        let Self { pid, run, guard, hold, user, .. } = self;
        user.unlock().map_err(Error::file("unlock", &place.users_lock))?;
        let last = user.try_lock().is_ok();
        drop(hold);
        if !last {
            return Ok(());
        }
        wait_for_end(pid, guard).await?;
        match std::fs::remove_dir_all(&run) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("delete", &run)(error)),
            _ => Ok(()),
        }
    }
}

async fn wait_for_end(pid: i32, guard: Option<Child>) -> Result<(), Error> {
    let gone = async {
        match guard {
            // The guard ends after the server, and after it has cleared up.
            Some(mut guard) => drop(guard.wait().await),
            None => {
                while is_alive(pid) {
                    tokio::time::sleep(LOOK_EVERY).await
                }
            }
        }
    };
    let stopped = tokio::time::timeout(STOP_WITHIN, gone).await;
    stopped.map_err(|_elapsed| Error::Stop { pid, secs: STOP_WITHIN.as_secs() })
}

/// Waits until the server takes connections and gives its process; an error says why it will not.
async fn wait_until_ready(guard: &mut Child, data: &Path) -> Result<i32, &'static str> {
    let deadline = Instant::now() + START_WITHIN;
    while Instant::now() < deadline {
        if !matches!(guard.try_wait(), Ok(None)) {
            return Err("it ended at once");
        }
        if let Some(found) = Postmaster::read(data)
            && found.ready
            && found.lives(data)
        {
            return Ok(found.pid);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err("it was not ready in time")
}

/// Opens the log to append to, emptied when it has grown large over many runs.
fn open_log(path: &Path) -> Result<File, Error> {
    let log = OpenOptions::new().create(true).append(true).open(path).map_err(Error::file("open", path))?;
    if log.metadata().is_ok_and(|found| found.len() > LARGEST_LOG) {
        log.set_len(0).map_err(Error::file("empty", path))?;
    }
    Ok(log)
}

fn share(place: &ClusterDir) -> Result<File, Error> {
    let file = files::open_lock(&place.users_lock)?;
    // Nobody holds it exclusively for longer than a look, and only in their turn, which is ours now.
    file.lock_shared().map_err(Error::file("lock", &place.users_lock))?;
    Ok(file)
}

fn free_port() -> Result<u16, Error> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    bound.map(|address| address.port()).map_err(Error::file("find a free port on", Path::new("127.0.0.1")))
}

fn command_line(programs: &Binaries, place: &ClusterDir, run: &Path, port: u16, options: &Options) -> Vec<String> {
    let mut settings = vec![
        ("port".to_owned(), port.to_string()),
        ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
        ("unix_socket_directories".to_owned(), run.display().to_string()),
        ("logging_collector".to_owned(), "off".to_owned()),
    ];
    if options.ephemeral {
        settings.push(("max_connections".to_owned(), "200".to_owned()));
    }
    if !options.durable {
        for name in ["fsync", "synchronous_commit", "full_page_writes"] {
            settings.push((name.to_owned(), "off".to_owned()));
        }
    }
    settings.extend(options.settings.iter().cloned());

    let mut line = vec![programs.path("postgres"), "-D".to_owned(), place.data.display().to_string()];
    for (name, value) in settings {
        line.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    line
}
