//! A cluster that lasts: kept from run to run, shared by runs at the same time.

use rustix::process::Signal;

use crate::harness::{WithPostgres, folder_with_mode, plumbline, reachable_folder, server_of, wait_for_end};

#[test]
fn the_next_run_finds_the_data() {
    let folder = reachable_folder();
    let mut first = WithPostgres::start_in(folder.path());
    assert_eq!(first.sql("SHOW fsync"), "on");
    first.sql("CREATE TABLE kept AS SELECT 42 AS value; SELECT 'made'");
    let server = first.server;
    assert!(first.end().success());
    wait_for_end(server);

    let mut second = WithPostgres::start_in(folder.path());
    assert_eq!(second.sql("SELECT value FROM kept"), "42");
}

#[test]
fn two_runs_share_a_server_that_ends_with_the_last() {
    let folder = reachable_folder();
    let (first, mut second) = (WithPostgres::start_in(folder.path()), WithPostgres::start_in(folder.path()));
    let server = first.server;
    assert_eq!(second.server, server);
    // The one that started the server goes first.
    assert!(first.end().success());
    assert_eq!(second.sql("SELECT 1"), "1");
    assert!(second.end().success());
    wait_for_end(server);
}

#[test]
fn a_killed_user_does_not_take_the_server_from_the_other() {
    let folder = reachable_folder();
    let (first, mut second) = (WithPostgres::start_in(folder.path()), WithPostgres::start_in(folder.path()));
    let server = first.server;
    first.signal(Signal::KILL);
    first.wait();
    assert_eq!(second.sql("SELECT 1"), "1");
    assert!(second.end().success());
    // A killed user holds no server.
    wait_for_end(server);
}

#[test]
fn many_first_runs_at_once_all_succeed() {
    let folder = reachable_folder();
    let path = folder.path().to_str().unwrap();
    let statement = "psql -XAtc 'SELECT 1' \"$DATABASE_URL\" >/dev/null";
    let runs: Vec<_> =
        (0..6).map(|_| plumbline(&["--data", path], &["sh", "-c", statement]).spawn().unwrap()).collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(server_of(&folder.path().join("data")), None);
}

#[test]
fn a_folder_that_the_server_cannot_reach_becomes_a_link() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // Closed to all but root, as root's home is.
    let folder = folder_with_mode(0o700);
    let wanted = folder.path().join("postgres");
    let mut linked = WithPostgres::start_in(&wanted);
    let base = linked.data.parent().unwrap().to_path_buf();
    assert_eq!(std::fs::read_link(&wanted).unwrap(), base);
    linked.sql("CREATE TABLE kept AS SELECT 42 AS value; SELECT 'made'");
    assert!(linked.end().success());
    let mut again = WithPostgres::start_in(&wanted);
    assert_eq!(again.sql("SELECT value FROM kept"), "42");
    assert!(again.end().success());

    // A folder removed by a cleaner of temporary files is created again.
    std::fs::remove_dir_all(base).unwrap();
    let mut anew = WithPostgres::start_in(&wanted);
    assert_eq!(anew.sql("SELECT to_regclass('kept') IS NULL"), "t");
    let base = anew.data.parent().unwrap().to_path_buf();
    assert!(anew.end().success());
    std::fs::remove_dir_all(base).unwrap();
}
