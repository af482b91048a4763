//! Making the cluster's data folder, and databases in it.

use std::path::Path;

use tokio::process::Command;

use super::account::Account;
use super::error::Error;
use super::files;
use super::place::Place;
use super::programs::Programs;

/// The role that owns everything in a private cluster.
pub(crate) const SUPERUSER: &str = "plumbline";

/// Runs `initdb` unless the cluster is there. It works under another name and renames at the end, so that a run that
/// is cut short leaves no half-made cluster behind.
pub(crate) async fn create_if_missing(programs: &Programs, account: &Account, place: &Place) -> Result<(), Error> {
    if place.data.join("PG_VERSION").exists() {
        return Ok(());
    }
    let unfinished = place.base.join("data.unfinished");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(Error::file("delete", &unfinished))?;
    }
    std::fs::create_dir(&unfinished).map_err(Error::file("create", &unfinished))?;
    account.own(&unfinished)?;

    let mut initdb = Command::new(programs.path("initdb"));
    initdb.args(["--username", SUPERUSER, "--auth", "trust", "--no-locale", "--encoding", "UTF8", "--pgdata"]);
    initdb.arg(&unfinished).kill_on_drop(true);
    if place.ephemeral {
        initdb.arg("--no-sync");
    }
    run("initdb", account, &mut initdb).await?;
    std::fs::rename(&unfinished, &place.data).map_err(Error::file("rename", &unfinished))
}

/// Creates a database unless it is there; two processes may do so at once.
pub(crate) async fn create_database(
    programs: &Programs,
    account: &Account,
    maintenance_url: &str,
    name: &str,
) -> Result<(), Error> {
    if exists(programs, account, maintenance_url, name).await? {
        return Ok(());
    }
    let mut createdb = Command::new(programs.path("createdb"));
    createdb.arg("--maintenance-db").arg(maintenance_url).arg(name);
    match run("createdb", account, &mut createdb).await {
        Err(_) if exists(programs, account, maintenance_url, name).await? => Ok(()),
        result => result.map(drop),
    }
}

async fn exists(programs: &Programs, account: &Account, maintenance_url: &str, name: &str) -> Result<bool, Error> {
    let mut psql = Command::new(programs.path("psql"));
    psql.args(["--no-psqlrc", "--tuples-only", "--no-align", "--list", maintenance_url]);
    let listed = run("psql", account, &mut psql).await?;
    Ok(listed.lines().any(|line| line.split('|').next() == Some(name)))
}

/// Runs a program of the server to its end and gives what it printed.
async fn run(program: &str, account: &Account, command: &mut Command) -> Result<String, Error> {
    account.apply(command);
    let ended = command.output().await.map_err(Error::file("run", Path::new(program)))?;
    if !ended.status.success() {
        return Err(Error::Program { program: program.to_owned(), said: files::reason(&ended) });
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
