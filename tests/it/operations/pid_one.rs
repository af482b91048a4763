//! The program as PID 1, as a container runs it: it waits for orphans, passes signals on, and ends with the command's code.

use plumbline_system_tests::{eventually, port, program, skipped};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::{fs, path::Path, process::Command as Sync};

/// A command line in a new PID namespace, where it is PID 1.
fn in_a_namespace(program: &Path) -> Sync {
    let mut unshare = Sync::new("unshare");
    unshare.args(["--pid", "--fork", "--kill-child"]).arg(program);
    unshare
}

/// The children of a process, and the letter of each one's state.
fn children(parent: u32) -> Vec<(u32, char)> {
    let listed = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let pids = listed.split_whitespace().filter_map(|pid| pid.parse().ok());
    let state = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit(") ").next()?.chars().next();
    pids.filter_map(|pid| Some((pid, state(pid)?))).collect()
}

#[tokio::test]
async fn orphans_are_waited_for_and_signals_reach_the_command() {
    if !geteuid().is_root() || !in_a_namespace(Path::new("true")).status().is_ok_and(|ended| ended.success()) {
        return skipped("a PID namespace cannot be made", "root and util-linux");
    }
    let listen = format!("127.0.0.1:{}", port::free());
    let mut unshare =
        in_a_namespace(&program::path()).args(["rehearse", "--listen", &listen]).spawn().expect("it runs");
    let first = eventually("PID 1 to run", async || children(unshare.id()).first().map(|(pid, _)| *pid)).await;
    eventually("the model to listen", async || std::net::TcpStream::connect(&listen).ok()).await;
    assert_eq!(children(first).len(), 1, "PID 1 runs the command as its child");

    // Each sleeper's parent ends at once, which makes it a child of PID 1.
    let orphans = "for n in 1 2 3 4 5; do sleep 0.2 & done";
    let mut nsenter = Sync::new("nsenter");
    nsenter.args(["--pid", "--target", &first.to_string(), "sh", "-c", orphans]);
    assert!(nsenter.status().expect("nsenter runs").success());
    assert!(children(first).len() > 1, "PID 1 has the orphans");
    eventually("the orphans to be waited for", async || (children(first).len() == 1).then_some(())).await;

    let pid = Pid::from_raw(first.cast_signed()).expect("a process has a number");
    kill_process(pid, Signal::TERM).expect("PID 1 can be signalled");
    let ended = plumbline_bounds::blocking::unbounded(move || unshare.wait()).await.expect("it is no panic");
    assert_eq!(ended.expect("it can be waited for").code(), Some(0), "the command's own code");
}
