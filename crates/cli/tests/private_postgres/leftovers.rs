//! Leftovers of a crash, which the next run handles.

use rustix::process::Signal;

use crate::harness::{WithPostgres, kill, plumbline, reachable_folder, runs, server_of, wait_for_end};

#[test]
fn a_server_whose_user_was_killed_is_taken_over_and_ended_by_the_next() {
    let folder = reachable_folder();
    let mut first = WithPostgres::start_in(folder.path());
    first.sql("CREATE TABLE kept AS SELECT 42 AS value; SELECT 'made'");
    let orphan = first.server;
    first.signal(Signal::KILL);
    first.wait();
    assert!(runs(orphan));

    let mut second = WithPostgres::start_in(folder.path());
    assert_eq!(second.server, orphan);
    assert_eq!(second.sql("SELECT value FROM kept"), "42");
    assert!(second.end().success());
    wait_for_end(orphan);
}

#[test]
fn a_cluster_whose_processes_were_all_killed_recovers() {
    let folder = reachable_folder();
    let mut first = WithPostgres::start_in(folder.path());
    first.sql("CREATE TABLE kept AS SELECT 42 AS value; SELECT 'made'");
    kill_all_of(first);
    assert!(server_of(&folder.path().join("data")).is_some(), "the pid file is left");

    let mut second = WithPostgres::start_in(folder.path());
    assert_eq!(second.sql("SELECT value FROM kept"), "42");
}

#[test]
fn a_pid_file_that_names_another_process_is_no_server() {
    let folder = reachable_folder();
    let data = folder.path().join("data");
    assert!(WithPostgres::start_in(folder.path()).end().success());
    let us = std::process::id();
    let stale = format!("{us}\n{}\n1\n5432\n/tmp\n127.0.0.1\n  1 1\nready\n", data.display());
    std::fs::write(data.join("postmaster.pid"), stale).unwrap();
    let mut next = WithPostgres::start_in(folder.path());
    assert_eq!(next.sql("SELECT 1"), "1");
}

#[test]
fn a_throw_away_cluster_whose_user_was_killed_is_cleared_by_the_next_run() {
    let first = WithPostgres::start(&[]);
    let (server, folder) = (first.server, first.data.parent().unwrap().to_path_buf());
    first.signal(Signal::KILL);
    first.wait();
    assert!(plumbline(&[], &["true"]).status().unwrap().success());
    assert!(!folder.exists());
    wait_for_end(server);
}

#[test]
fn a_throw_away_cluster_whose_processes_were_all_killed_is_cleared_by_the_next_run() {
    let first = WithPostgres::start(&[]);
    let folder = first.data.parent().unwrap().to_path_buf();
    kill_all_of(first);
    assert!(plumbline(&[], &["true"]).status().unwrap().success());
    assert!(!folder.exists());
}

/// As a machine that runs out of memory would: the user and the server at once.
fn kill_all_of(postgres: WithPostgres) {
    let server = postgres.server;
    postgres.signal(Signal::KILL);
    kill(server, Signal::KILL);
    postgres.wait();
    wait_for_end(server);
}
