//! A throw-away cluster: it serves its command and leaves nothing.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::harness::{WithPostgres, plumbline, wait_for_end};

#[test]
fn the_command_has_a_database_of_its_own_and_nothing_is_left() {
    let mut postgres = WithPostgres::start(&[]);
    assert_eq!(postgres.sql("SELECT current_database()"), "plumbline");
    assert_eq!(postgres.sql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), "t");
    assert_eq!(postgres.sql("SHOW server_encoding"), "UTF8");
    assert_eq!(postgres.sql("SHOW fsync"), "off");
    let (server, folder) = (postgres.server, postgres.data.parent().unwrap().to_path_buf());
    assert!(postgres.end().success());
    wait_for_end(server);
    assert!(!folder.exists());
}

#[test]
fn other_users_cannot_enter_its_folder() {
    let postgres = WithPostgres::start(&[]);
    let folder = postgres.data.parent().unwrap().metadata().unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_exit_code_is_the_command_s() {
    assert_eq!(plumbline(&[], &["sh", "-c", "exit 7"]).status().unwrap().code(), Some(7));
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let ended = plumbline(&[], &["/no/such/program"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("/no/such/program"), "{said}");
}

#[test]
fn durable_keeps_the_disk_in_the_loop() {
    let mut postgres = WithPostgres::start(&["--durable"]);
    assert_eq!(postgres.sql("SHOW fsync"), "on");
    assert_eq!(postgres.sql("SHOW synchronous_commit"), "on");
}

#[test]
fn two_at_once_have_different_servers() {
    let (first, mut second) = (WithPostgres::start(&[]), WithPostgres::start(&[]));
    assert_ne!(first.url, second.url);
    assert!(first.end().success());
    assert_eq!(second.sql("SELECT 1"), "1");
    assert!(second.end().success());
}

#[test]
fn a_termination_reaches_the_command_and_then_ends_the_server() {
    let mut postgres = WithPostgres::start(&[]);
    assert_eq!(postgres.shell("trap 'echo told; exit 3' TERM; echo ready; while :; do :; done"), "ready");
    postgres.signal(Signal::TERM);
    let server = postgres.server;
    assert_eq!(postgres.wait().code(), Some(3));
    wait_for_end(server);
}

#[test]
fn the_programs_may_be_anywhere() {
    let elsewhere = crate::harness::reachable_folder();
    let mut command = plumbline(&[], &["true"]);
    command.env("PLUMBLINE_PG_BIN", elsewhere.path());
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("initdb is missing") && said.contains(elsewhere.path().to_str().unwrap()), "{said}");

    let real = WithPostgres::start(&[]).server_programs();
    for program in ["initdb", "postgres", "pg_ctl"] {
        let script = format!("#!/bin/sh\nexec {real}/{program} \"$@\"\n");
        let file = elsewhere.path().join(program);
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}
