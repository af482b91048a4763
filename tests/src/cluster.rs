//! A test's own Postgres server, to be restarted, starved, filled and locked.

use crate::{
    port,
    wait::{CEILING, eventually},
};
use rustix::process::geteuid;
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use std::{
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Its owner; each cluster has its own password.
const OWNER: &str = "plumbline";

/// The workers' role in tests about roles.
pub const WORKER: &str = "worker";
/// The password of [`WORKER`], until a test changes it.
pub const PASSWORD: &str = "first";

/// A running cluster; stopped and deleted when dropped.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    data: PathBuf,
    port: u16,
    account: Option<(u32, u32)>,
    /// Of [`OWNER`]: any user of the machine can reach the port.
    password: String,
}

impl Cluster {
    /// Whether the server's programs are in the `PATH`, which `plumbline __with-postgres` ensures. Without them, a test
    /// that needs them says so and ends.
    pub fn is_installed() -> bool {
        let installed = Command::new("initdb").arg("--version").output().is_ok_and(|said| said.status.success());
        if !installed {
            crate::skipped("initdb is not in the PATH", "make test");
        }
        installed
    }

    /// Creates and starts it.
    ///
    /// # Panics
    /// When the server's programs are not in the `PATH` or fail.
    pub fn start() -> Self {
        let folder = folder();
        let data = folder.path().join("data");
        Self::start_with(folder, data, &[])
    }

    /// The same with its data in this folder, e.g. on a small volume, and with more settings.
    ///
    /// # Panics
    /// As [`Cluster::start`].
    pub fn start_in(data: &Path, settings: &[&str]) -> Self {
        Self::start_with(folder(), data.to_owned(), settings)
    }

    fn start_with(folder: TempDir, data: PathBuf, settings: &[&str]) -> Self {
        let cluster = Self { folder, data, port: port::free(), account: account(), password: random_password() };
        cluster.own(cluster.folder.path());
        // The folder and its contents are closed to others.
        let file = cluster.folder.path().join("password");
        std::fs::write(&file, &cluster.password).expect("the cluster's folder can be written");
        cluster.own(&file);
        let file = file.display().to_string();
        let options =
            ["--username", OWNER, "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync"];
        cluster.run("initdb", &[options.as_slice(), &["--pwfile", &file]].concat());
        cluster.begin(settings);
        cluster
    }

    /// An up-to-date standby of it: from now on, commits here are acknowledged once the standby has them.
    ///
    /// # Panics
    /// As [`Cluster::start`]; also when the standby does not follow.
    pub async fn standby(&self) -> Self {
        let folder = folder();
        let data = folder.path().join("data");
        let password = self.password.clone();
        let standby = Self { folder, data, port: port::free(), account: self.account, password };
        standby.own(standby.folder.path());
        let (port, data) = (self.port.to_string(), standby.data.display().to_string());
        standby.run(
            "pg_basebackup",
            &["-h", "127.0.0.1", "-p", &port, "-U", OWNER, "-D", &data, "-R", "-c", "fast", "--no-sync"],
        );
        standby.begin(&[]);
        let admin = self.admin("postgres");
        for statement in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
            admin.execute(statement).await.expect("the owner may");
        }
        eventually("the standby to follow", async || {
            let follows = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')";
            let follows: bool = sqlx::query_scalar(follows).fetch_one(&admin).await.expect("the owner may look");
            follows.then_some(())
        })
        .await;
        standby
    }

    /// Promotes a standby.
    ///
    /// # Panics
    /// When the promotion fails.
    pub async fn promote(&self) {
        self.control(&["promote", "-w"]).await;
    }

    /// Starts the server with existing data.
    fn begin(&self, settings: &[&str]) {
        let (socket, port) = (self.folder.path().display().to_string(), self.port);
        let more: String = settings.iter().map(|setting| format!(" -c {setting}")).collect();
        let settings = format!(
            "-p {port} -k {socket} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=100 \
             -c logging_collector=off{more}"
        );
        self.run("pg_ctl", &["start", "-w", "-l", &self.log(), "-o", &settings]);
    }

    /// A new, empty database that belongs to its owner.
    ///
    /// # Panics
    /// When it cannot be created.
    pub async fn database(&self) -> PgPool {
        create_database(&self.owner()).await
    }

    /// Restarts the server, `fast` (sessions are ended in order) or `immediate` (as after a crash), and waits until it
    /// accepts connections again.
    ///
    /// # Panics
    /// When it does not.
    pub async fn restart(&self, mode: &str) {
        self.control(&["restart", "-w", "-m", mode, "-l", &self.log()]).await;
    }

    /// Stops it; [`Cluster::restart`] brings it back.
    ///
    /// # Panics
    /// When it does not stop.
    pub async fn stop(&self, mode: &str) {
        self.control(&["stop", "-w", "-m", mode]).await;
    }

    async fn control(&self, arguments: &[&str]) {
        let mut command = self.command("pg_ctl", arguments);
        let done =
            plumbline_bounds::blocking::unbounded(move || command.output()).await.expect("a program can be waited for");
        let done = done.expect("pg_ctl can be run");
        assert!(done.status.success(), "pg_ctl {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Its port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The password of its owner.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// As its owner.
    pub fn owner(&self) -> PgConnectOptions {
        let options = PgConnectOptions::new().host("127.0.0.1").port(self.port).database("postgres");
        options.username(OWNER).password(&self.password)
    }

    /// A pool of connections as its owner.
    pub fn admin(&self, database: &str) -> PgPool {
        PgPoolOptions::new().max_connections(3).connect_lazy_with(self.owner().database(database))
    }

    /// Makes the server's account the owner of a path.
    ///
    /// # Panics
    /// When the path is not there.
    pub fn own(&self, path: &Path) {
        if let Some((uid, gid)) = self.account {
            chown(path, Some(uid), Some(gid)).expect("root may give a folder away");
        }
    }

    fn log(&self) -> String {
        self.folder.path().join("log").display().to_string()
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/").env("LC_ALL", "C").env("PGDATA", &self.data);
        // How long pg_ctl waits; a minute by default.
        command.env("PGCTLTIMEOUT", CEILING.as_secs().to_string());
        command.env("PGPASSWORD", &self.password);
        if let Some((uid, gid)) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // The server inherits open descriptors and would keep a pipe open, so its output goes to a file.
        let log = std::fs::File::create(self.folder.path().join(format!("{program}.out"))).expect("a file can be made");
        let mut command = self.command(program, arguments);
        command.stdout(log.try_clone().expect("a file can be shared")).stderr(log);
        let status = command.status().unwrap_or_else(|error| panic!("{program} could not be run: {error}"));
        assert!(status.success(), "{program} {arguments:?} failed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Any leftovers are deleted with its folder.
        let _ = self.command("pg_ctl", &["stop", "-m", "immediate", "-w"]).output();
    }
}

/// Creates a database with a unique name on a server.
///
/// # Panics
/// When the server refuses.
pub async fn create_database(server: &PgConnectOptions) -> PgPool {
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    let mut admin = server.connect().await.expect("the server takes connections");
    admin.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a database can be created");
    admin.close().await.expect("a connection can be closed");
    PgPoolOptions::new().max_connections(6).connect_lazy_with(server.clone().database(&name))
}

/// A password that needs no escaping anywhere.
fn random_password() -> String {
    format!("{}{}", uuid::Uuid::now_v7().simple(), uuid::Uuid::now_v7().simple())
}

/// A short path, because it contains the server's socket.
fn folder() -> TempDir {
    tempfile::Builder::new().prefix("plumbline-faults-").tempdir_in("/tmp").expect("a folder under /tmp can be made")
}

/// User and group for programs that refuse to run as root, such as Postgres and PgBouncer.
pub(crate) fn account() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let id = |flag: &str, name: &str| -> Option<u32> {
        let said = Command::new("id").args([flag, name]).output().ok()?;
        String::from_utf8(said.stdout).ok()?.trim().parse().ok()
    };
    ["postgres", "nobody"].iter().find_map(|name| Some((id("-u", name)?, id("-g", name)?)))
}
