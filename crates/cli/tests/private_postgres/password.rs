//! Who is kept out: on the loopback interface every account of the machine can connect.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::{WithPostgres, plumbline, reachable_folder};

/// The account `nobody`, whose number is the same everywhere.
const NOBODY: u32 = 65534;

#[test]
fn nobody_comes_in_without_the_password() {
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

#[test]
fn a_cluster_that_took_everybody_is_given_a_password() {
    let folder = reachable_folder();
    let mut first = WithPostgres::start_in(folder.path());
    first.sql("CREATE TABLE kept AS SELECT 42 AS value; SELECT 'made'");
    let rules = first.data.join("pg_hba.conf");
    assert!(first.end().success());
    open_up(folder.path(), &rules);

    let mut second = WithPostgres::start_in(folder.path());
    assert_eq!(second.sql("SELECT value FROM kept"), "42");
    assert_refused(&connect(&second, &without_password(&second.url)), "no password supplied");
    assert!(second.url.contains(&password_in(&folder.path().join("password"))));
}

#[test]
fn a_running_server_that_takes_everybody_is_not_joined() {
    let folder = reachable_folder();
    let first = WithPostgres::start_in(folder.path());
    open_up(folder.path(), &first.data.join("pg_hba.conf"));
    let refused = plumbline(&["--data", folder.path().to_str().unwrap()], &["true"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("asks nobody for a password") && said.contains("start again"), "{said}");
    assert!(first.end().success());
}

/// Makes of a cluster one as earlier versions made them.
fn open_up(folder: &Path, rules: &Path) {
    let text = std::fs::read_to_string(rules).unwrap();
    std::fs::write(rules, text.replace("scram-sha-256", "trust")).unwrap();
    std::fs::remove_file(folder.join("password")).unwrap();
}

/// Connects as another account of the machine where this one is root, who alone can.
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
