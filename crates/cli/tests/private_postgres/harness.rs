//! Runs `plumbline __with-postgres` with a command that reports about its server and then waits for its end.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// A running `__with-postgres` and its command's report about the server.
pub(crate) struct WithPostgres {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The command's `DATABASE_URL`.
    pub(crate) url: String,
    /// The server's data folder, as the server names it.
    pub(crate) data: PathBuf,
    /// The server's process.
    pub(crate) server: i32,
}

/// Prints the address and the data folder, and runs each line of its input as a command until the input ends.
const REPORTER: &str = r#"
echo "$DATABASE_URL"
psql -XAtc 'show data_directory' "$DATABASE_URL"
while read -r line; do eval "$line"; done
"#;

impl WithPostgres {
    /// Starts it with the given options and waits for the report.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_command(plumbline(options, &["sh", "-c", REPORTER]))
    }

    /// Starts it in the lasting cluster of a folder.
    pub(crate) fn start_in(folder: &Path) -> Self {
        Self::start(&["--data", folder.to_str().unwrap()])
    }

    fn start_command(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().expect("the command reports about its server").unwrap();
        let (url, data) = (next(), PathBuf::from(next()));
        let server = server_of(&data).expect("a running server has a pid file");
        Self { child, lines, url, data, server }
    }

    /// Has the command run a line of shell and gives the first line that prints.
    pub(crate) fn shell(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        self.lines.next().expect("the line prints something").unwrap()
    }

    /// Has the command run a statement and gives the first value.
    pub(crate) fn sql(&mut self, statement: &str) -> String {
        self.shell(&format!("psql -XAqtc \"{statement}\" \"$DATABASE_URL\" 2>&1"))
    }

    /// The folder of the programs that this server was started from.
    pub(crate) fn server_programs(&self) -> String {
        let line = Command::new("ps").args(["-o", "args=", "-p", &self.server.to_string()]).output().unwrap().stdout;
        let line = String::from_utf8(line).unwrap();
        let (folder, _) = line.split_once("/postgres ").expect("the server's command line begins with its path");
        folder.to_owned()
    }

    /// Lets the command end and waits for `plumbline` to end.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        self.child.wait().unwrap()
    }

    /// Sends a signal to `plumbline` alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.child.id().cast_signed(), signal);
    }

    /// Waits for `plumbline` to end after a signal.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for WithPostgres {
    /// No test leaves a server to the next, nor waits for ever for one that it failed.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The command line of a `__with-postgres`.
pub(crate) fn plumbline(options: &[&str], command: &[&str]) -> Command {
    let mut plumbline = Command::new(env!("CARGO_BIN_EXE_plumbline"));
    plumbline.arg("__with-postgres").args(options).arg("--").args(command);
    plumbline
}

/// A temporary folder that every account can enter.
pub(crate) fn reachable_folder() -> tempfile::TempDir {
    folder_with_mode(0o755)
}

/// A temporary folder with the given permissions.
pub(crate) fn folder_with_mode(mode: u32) -> tempfile::TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempdir_in("/tmp").unwrap()
}

/// The process of the server on a data folder, from its pid file.
pub(crate) fn server_of(data: &Path) -> Option<i32> {
    std::fs::read_to_string(data.join("postmaster.pid")).ok()?.lines().next()?.trim().parse().ok()
}

/// Whether a process runs. One that has ended and only waits for its parent to take notice does not.
pub(crate) fn runs(pid: i32) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap().stdout;
    state.first().is_some_and(|letter| !matches!(letter, b'Z' | b'\n'))
}

/// Sends a signal to one process.
pub(crate) fn kill(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// The longest that a test waits.
const CEILING: Duration = include!("../../../../tests/src/wait/ceiling.rs");

/// Waits until the server's process has ended. `pg_ctl stop` waits only until the pid file is gone, and a server runs for
/// a moment after it deleted that.
pub(crate) fn wait_for_end(server: i32) {
    let begun = Instant::now();
    while runs(server) {
        assert!(begun.elapsed() < CEILING, "the server {server} still runs");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
