//! The real binary: started, observed, signalled, and always stopped.

use crate::wait::CEILING;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

/// How a process ended, and its output.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A running process; dropping it kills it and all its children.
#[derive(Debug)]
pub struct Program {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
    shown: String,
}

/// Path of the binary under test: the one that `PLUMBLINE_TEST_PROGRAM` names, e.g. a release build, or the one beside
/// the folder of this test executable.
///
/// # Panics
/// When it is missing, with what to do.
pub fn path() -> PathBuf {
    if let Some(named) = std::env::var_os("PLUMBLINE_TEST_PROGRAM") {
        return named.into();
    }
    let test = std::env::current_exe().expect("the path of a running program is known");
    let profile = test.parent().and_then(Path::parent).expect("a test executable lies in target/<profile>/deps");
    let binary = profile.join("plumbline");
    assert!(binary.is_file(), "{} is missing: run `cargo build -p plumbline` first", binary.display());
    binary
}

/// A command line of the binary in a clean environment: no variable of the tester reaches it.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.args(arguments).env_clear();
    for kept in ["PATH", "HOME", "USER", "LANG", "TMPDIR"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}

impl Program {
    /// Starts a command in its own process group; its output goes to files under `logs`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut command: Command, logs: &Path) -> Self {
        let shown = format!("{:?}", command.as_std().get_args().collect::<Vec<_>>());
        let unique = uuid::Uuid::now_v7();
        let [stdout, stderr] = ["out", "err"].map(|kind| logs.join(format!("{unique}.{kind}")));
        let create = |path: &PathBuf| Stdio::from(File::create(path).expect("the log folder can be written"));
        command.stdin(Stdio::null()).stdout(create(&stdout)).stderr(create(&stderr)).process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("plumbline {shown} could not be started: {error}"));
        Self { child, stdout, stderr, shown }
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When the process has already ended.
    pub fn signal(&self, signal: Signal) {
        let pid = self.pid().unwrap_or_else(|| panic!("plumbline {} has ended before {signal:?}", self.shown));
        kill_process(pid, signal).expect("a child that was not waited for can be signalled");
    }

    /// Sends SIGKILL and waits until it is gone.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn kill(mut self) {
        self.signal(Signal::KILL);
        timeout(CEILING, self.child.wait()).await.expect("a killed process ends").expect("a child can be waited for");
    }

    /// Asks it to stop, as a supervisor does, and waits until it has stopped.
    ///
    /// # Panics
    /// When it does not stop or reports a failure.
    pub async fn stop(self) {
        self.signal(Signal::TERM);
        let ended = self.ended().await;
        assert_eq!(ended.code, Some(0), "a program that was asked to stop failed: {}", ended.stderr);
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn ended(mut self) -> Ended {
        let Ok(status) = timeout(CEILING, self.child.wait()).await else {
            panic!("plumbline {} did not end within {CEILING:?}\n{}", self.shown, self.stderr());
        };
        let code = status.expect("a child can be waited for").code();
        Ended { code, stdout: self.stdout(), stderr: self.stderr() }
    }

    /// Whether it is still running.
    ///
    /// # Panics
    /// When the system does not say.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked for its state").is_none()
    }

    /// Its peak memory, in MiB.
    ///
    /// # Panics
    /// When it has already ended.
    pub fn peak_memory_mib(&self) -> u64 {
        let pid = self.pid().unwrap_or_else(|| panic!("plumbline {} has ended", self.shown));
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()));
        let status = status.expect("the kernel tells of a running child");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the kernel keeps the peak");
        let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("it is a number");
        kib / 1024
    }

    /// Its stdout so far.
    pub fn stdout(&self) -> String {
        std::fs::read_to_string(&self.stdout).unwrap_or_default()
    }

    /// Its stderr so far.
    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The parser of a document is a child of the worker and in its group. An ended process no longer has a pid.
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
            if std::thread::panicking() {
                eprintln!("--- plumbline {}, when its test failed:\n{}", self.shown, self.stderr());
            }
        }
    }
}
