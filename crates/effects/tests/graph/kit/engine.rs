//! The openCypher engine as a process of the test.

use super::bolt::Bolt;
use std::env;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running engine with an empty graph; ends with the test.
pub(crate) struct Engine {
    pub(crate) port: u16,
    process: Child,
    _folder: TempDir,
}

impl Engine {
    /// Starts one, or says that the test is skipped.
    pub(crate) async fn start() -> Option<Self> {
        let Some(program) = program() else {
            eprintln!("SKIPPED: kglite-bolt-server is not installed, so no openCypher engine was asked");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new(program)
            .args(["--storage", "memory", "--port", &port.to_string(), "--graph"])
            .arg(folder.path().join("graph.kgl"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut engine = Self { port, process, _folder: folder };
        while Bolt::connect(port).await.is_err() {
            assert!(engine.process.try_wait().unwrap().is_none(), "the engine ended before it listened");
            tokio::task::yield_now().await;
        }
        Some(engine)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("KGLITE_BOLT_SERVER") {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join("kglite-bolt-server")).find(|program| program.is_file())
}
