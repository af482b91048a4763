//! A PgBouncer in front of a server, in one of its three modes.

use crate::cluster::{Cluster, account};
use std::{
    os::unix::{fs::chown, process::CommandExt},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// A running PgBouncer; stopped when dropped.
#[derive(Debug)]
pub struct PgBouncer {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl PgBouncer {
    /// Whether it is installed. Without it, a test that needs it says so and ends.
    pub fn is_installed() -> bool {
        let version = Command::new("pgbouncer").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    }

    /// Starts it in front of a cluster, with the configuration that a careful operator would write: the address, the
    /// mode, and who may connect.
    ///
    /// # Panics
    /// When it cannot be started or accepts no connections.
    pub async fn start(cluster: &Cluster, mode: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let port = crate::port::free();
        let file = folder.path().join("pgbouncer.ini");
        let users = folder.path().join("users.txt");
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {}\npool_mode = {mode}\n",
            cluster.port(),
            users.display(),
        );
        let login = format!("\"{}\" \"{}\"\n", cluster.owner().get_username(), cluster.password());
        for (path, content) in [(&file, settings), (&users, login)] {
            std::fs::write(path, content).expect("a temporary folder can be written");
        }
        let mut command = Command::new("pgbouncer");
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((uid, gid)) = account() {
            chown(folder.path(), Some(uid), Some(gid)).expect("root may give a folder away");
            command.uid(uid).gid(gid);
        }
        let child = command.spawn().expect("pgbouncer can be started");
        let bouncer = Self { child, port, _folder: folder };
        crate::eventually("pgbouncer to take connections", async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()
        })
        .await;
        bouncer
    }

    /// Its port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // It has nothing to clean up.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
