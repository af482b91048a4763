//! What a running server says about itself in `postmaster.pid`, and whether its process lives.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// How often a file or process is looked at while waiting for it, as `pg_ctl` does.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The contents of `postmaster.pid`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Postmaster {
    /// Its process.
    pub(crate) pid: i32,
    /// The port it listens on.
    pub(crate) port: u16,
    /// Its socket's folder, which is our run folder.
    pub(crate) run: PathBuf,
    /// Whether it takes connections.
    pub(crate) ready: bool,
}

impl Postmaster {
    /// Reads the file in a data folder; `None` when there is none or it is still being written.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(data.join("postmaster.pid")).ok()?)
    }

    /// The lines are: process, data folder, start time, port, socket folder, address, shared memory, status.
    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        Some(Self {
            pid: lines.first()?.parse().ok().filter(|pid| *pid > 1)?,
            port: lines.get(3)?.parse().ok()?,
            run: PathBuf::from(lines.get(4)?),
            ready: lines.get(7).is_some_and(|status| *status == "ready"),
        })
    }

    /// Whether the process lives and is the server of this data folder. After a crash its number may belong to
    /// anything, in a container most of all.
    pub(crate) fn lives(&self, data: &Path) -> bool {
        is_alive(self.pid) && command_line(self.pid).is_some_and(|line| line.contains(&*data.to_string_lossy()))
    }

    /// Asks the server to stop at once but in order: open transactions are rolled back, no crash recovery follows.
    pub(crate) fn stop_fast(&self) {
        signal(self.pid, Signal::INT);
    }

    /// Ends the server without order; the next start recovers.
    pub(crate) fn stop_now(&self) {
        signal(self.pid, Signal::QUIT);
    }
}

/// Whether a process of that number exists; one we may not signal exists too.
pub(crate) fn is_alive(pid: i32) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It fails only when the process has just ended, which is what is wanted.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The command line of a process: from `/proc` where there is one, because slim containers lack `ps`.
fn command_line(pid: i32) -> Option<String> {
    if let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) {
        return Some(String::from_utf8_lossy(&line).into_owned());
    }
    let answer = std::process::Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output().ok()?;
    Some(String::from_utf8_lossy(&answer.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "4711\n/x/data\n1700000000\n54321\n/tmp/plumbline-pg-abc\n127.0.0.1\n  5432001   7\nready   \n";

    #[test]
    fn a_ready_server_is_read() {
        let expected = Postmaster { pid: 4711, port: 54321, run: PathBuf::from("/tmp/plumbline-pg-abc"), ready: true };
        assert_eq!(Postmaster::parse(READY), Some(expected));
    }

    #[test]
    fn a_starting_server_is_not_ready() {
        assert!(!Postmaster::parse(&READY.replace("ready", "starting")).unwrap().ready);
    }

    #[test]
    fn a_half_written_file_is_no_server() {
        for lines in 0..4 {
            let text: String = READY.lines().take(lines).map(|line| format!("{line}\n")).collect();
            assert_eq!(Postmaster::parse(&text), None, "{lines} lines");
        }
    }

    #[test]
    fn another_process_with_the_same_number_is_not_the_server() {
        let us = i32::try_from(std::process::id()).unwrap();
        let postmaster = Postmaster { pid: us, ..Postmaster::parse(READY).unwrap() };
        assert!(is_alive(us));
        assert!(!postmaster.lives(Path::new("/no/such/data/folder")));
    }
}
