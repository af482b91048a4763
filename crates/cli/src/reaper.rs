//! PID 1 of a container. The kernel reparents every orphan of the container to it, and without waiting for them zombies
//! accumulate. So PID 1 runs the command as a child, forwards signals to it, and reaps every process.

use crate::with_postgres::pass_on_to;
use rustix::process::{Signal, WaitOptions, WaitStatus, wait};
use std::io::{self, IsTerminal};
use std::process::{self, ExitCode};
use tokio::signal::unix::{SignalKind, signal};

/// If this process is PID 1, runs this program again as a child and returns the child's exit code; `None` if it is not,
/// or if no child can be started: the command then runs here, without reaping orphans.
pub(crate) fn run_as_child() -> Option<ExitCode> {
    if process::id() != 1 {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    match runtime.block_on(reap()) {
        Ok(code) => Some(ExitCode::from(code)),
        Err(error) => {
            eprintln!(
                "plumbline is PID 1 and cannot run as a child of it ({error}): orphaned processes are not reaped"
            );
            None
        }
    }
}

async fn reap() -> io::Result<u8> {
    let mut ended = signal(SignalKind::child())?;
    let [mut term, mut interrupt, mut hangup] =
        [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
    // Ctrl-C at a terminal reaches the child as well, and sent twice it means "now".
    let from_terminal = io::stdin().is_terminal();
    let program = std::env::current_exe()?;
    let child = process::Command::new(program).args(std::env::args_os().skip(1)).spawn()?.id();
    loop {
        // Several ending processes may raise a single signal.
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid.as_raw_nonzero().get().cast_unsigned() == child {
                return Ok(code_of(status));
            }
        }
        tokio::select! {
            _ = ended.recv() => {}
            _ = term.recv() => pass_on_to(child, Signal::TERM),
            _ = interrupt.recv() => if !from_terminal { pass_on_to(child, Signal::INT) },
            _ = hangup.recv() => if !from_terminal { pass_on_to(child, Signal::HUP) },
        }
    }
}

/// The child's exit code, or the shell's convention for a signal.
fn code_of(status: WaitStatus) -> u8 {
    let code = status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}
