//! Access control: on the loopback interface every account of the machine can connect.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::{WithPostgres, reachable_folder};

/// The account `nobody`, whose number is the same everywhere.
const NOBODY: u32 = 65534;

#[test]
fn no_access_without_the_password() {
    let postgres = WithPostgres::start(&[]);
    let asked = connect(&postgres, &without_password(&postgres.url));
    assert_refused(&asked, "no password supplied");
    let wrong = postgres.url.replacen(password_of(&postgres.url), "wrong", 1);
    assert_refused(&connect(&postgres, &wrong), "password authentication failed");
    let let_in = connect(&postgres, &postgres.url);
    assert!(let_in.status.success(), "{}", String::from_utf8_lossy(&let_in.stderr));
}

#[test]
fn only_the_server_s_account_can_read_the_password_and_it_lasts() {
    let folder = reachable_folder();
    let file = folder.path().join("password");
    let first = WithPostgres::start_in(folder.path());
    let (found, owner) = (file.metadata().unwrap(), first.data.metadata().unwrap().uid());
    assert_eq!((found.permissions().mode() & 0o777, found.uid()), (0o600, owner));
    let password = password_in(&file);
    assert!(first.url.contains(&format!("plumbline:{password}@")), "{}", first.url);
    let beside = WithPostgres::start_in(folder.path());
    assert_eq!(beside.url, first.url);
    assert!(first.end().success() && beside.end().success());

    let second = WithPostgres::start_in(folder.path());
    assert_eq!(password_in(&file), password);
    drop(second);
    assert_ne!(password_of(&WithPostgres::start(&[]).url), password, "each cluster has its own");
}

/// Connects as another account of the machine, if this one is root.
fn connect(postgres: &WithPostgres, url: &str) -> Output {
    let mut psql = Command::new(format!("{}/psql", postgres.server_programs()));
    psql.args(["-XAtw", "-c", "SELECT 1", url]).env_remove("PGPASSWORD").env("HOME", "/").current_dir("/");
    if rustix::process::geteuid().is_root() {
        psql.uid(NOBODY).gid(NOBODY);
    }
    psql.output().unwrap()
}

fn assert_refused(asked: &Output, reason: &str) {
    let said = String::from_utf8_lossy(&asked.stderr);
    assert!(!asked.status.success() && said.contains(reason), "{said}");
}

fn password_in(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap().trim().to_owned()
}

fn password_of(url: &str) -> &str {
    url.split([':', '@']).nth(2).unwrap()
}

fn without_password(url: &str) -> String {
    url.replacen(&format!(":{}@", password_of(url)), "@", 1)
}
