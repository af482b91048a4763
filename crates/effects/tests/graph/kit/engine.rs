//! The openCypher engine as a process of the test.

use super::bolt::Bolt;
use std::env;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
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
            say_skipped();
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
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

/// A port of loopback that nobody listens at, another one each time: below those that the kernel gives out by itself, so
/// that nobody is given it between the look and the start of whoever is to have it.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(89);
    let mut ports = (0..).map(|_| 15_000 + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 5_000);
    let free = |port: u32| u16::try_from(port).ok().filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    ports.find_map(free).unwrap()
}

/// The program that a variable names, that is installed, or that `.ci/graph-engine` has built.
fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("KGLITE_BOLT_SERVER") {
        return Some(named.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    // A test is target/PROFILE/deps/NAME.
    let test = env::current_exe().unwrap();
    let built = test.ancestors().nth(3).map(|target| target.join("tools/bin"));
    let folders = env::split_paths(&path).chain(built);
    folders.map(|folder| folder.join("kglite-bolt-server")).find(|program| program.is_file())
}

/// Past the capture of a passed test's output: what was not tested must be seen.
fn say_skipped() {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: no openCypher engine; .ci/graph-engine builds one");
}
