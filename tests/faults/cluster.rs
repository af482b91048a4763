//! A Postgres of the suite's own, to be restarted, starved and locked.

use rustix::process::geteuid;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use std::{
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Who owns it; comes in without a password.
const OWNER: &str = "plumbline";

/// The role that workers are; has a password.
pub(crate) const WORKER: &str = "worker";
pub(crate) const PASSWORD: &str = "first";

/// A running cluster; stopped and deleted when dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: TempDir,
    port: u16,
    account: Option<(u32, u32)>,
}

impl Cluster {
    /// Makes and starts it.
    ///
    /// # Panics
    /// When the server's programs are not in the `PATH` or fail.
    pub(crate) fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("plumbline-faults-").tempdir_in("/tmp");
        let folder = folder.expect("a folder under /tmp can be made");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port is free").port();
        let cluster = Self { folder, port, account: account() };
        cluster.own(cluster.folder.path());
        cluster
            .run("initdb", &["--username", OWNER, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"]);
        let rules = format!("host all {WORKER} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
        std::fs::write(cluster.data().join("pg_hba.conf"), rules).expect("the cluster's folder can be written");
        let socket = cluster.folder.path().display().to_string();
        let settings = format!(
            "-p {port} -k {socket} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=100 \
             -c logging_collector=off"
        );
        let log = cluster.folder.path().join("log").display().to_string();
        cluster.run("pg_ctl", &["start", "-w", "-l", &log, "-o", &settings]);
        cluster
    }

    /// Restarts the server, `fast` (sessions are ended in order) or `immediate` (as by a crash), and waits until it
    /// takes connections again.
    pub(crate) async fn restart(&self, mode: &str) {
        let log = self.folder.path().join("log").display().to_string();
        let mut command = self.command("pg_ctl", &["restart", "-w", "-m", mode, "-l", &log]);
        let done = tokio::task::spawn_blocking(move || command.output()).await.expect("a program can be waited for");
        let done = done.expect("pg_ctl can be run");
        assert!(done.status.success(), "pg_ctl restart: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// As its owner.
    pub(crate) fn owner(&self) -> PgConnectOptions {
        PgConnectOptions::new().host("127.0.0.1").port(self.port).username(OWNER).database("postgres")
    }

    /// A pool of its owner's.
    pub(crate) fn admin(&self, database: &str) -> PgPool {
        PgPoolOptions::new().max_connections(3).connect_lazy_with(self.owner().database(database))
    }

    /// Gives a path to the server's account.
    pub(crate) fn own(&self, path: &Path) {
        if let Some((uid, gid)) = self.account {
            chown(path, Some(uid), Some(gid)).expect("root may give a folder away");
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/").env("LC_ALL", "C").env("PGDATA", self.data());
        if let Some((uid, gid)) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // The server inherits what is open and would keep a pipe from ending; so there is none.
        let log = std::fs::File::create(self.folder.path().join(format!("{program}.out"))).expect("a file can be made");
        let mut command = self.command(program, arguments);
        command.stdout(log.try_clone().expect("a file can be shared")).stderr(log);
        let status = command.status().unwrap_or_else(|error| panic!("{program} could not be run: {error}"));
        assert!(status.success(), "{program} {arguments:?} failed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What is left of it, if anything, goes with its folder.
        let _ = self.command("pg_ctl", &["stop", "-m", "immediate", "-w"]).output();
    }
}

/// Postgres refuses to run as root.
fn account() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let id = |flag: &str, name: &str| -> Option<u32> {
        let said = Command::new("id").args([flag, name]).output().ok()?;
        String::from_utf8(said.stdout).ok()?.trim().parse().ok()
    };
    ["postgres", "nobody"].iter().find_map(|name| Some((id("-u", name)?, id("-g", name)?)))
}
