//! Creates a cluster: its data folder, its owner with a password, its database.
//!
//! The server listens on the loopback interface, where every account of the machine can connect, and its only role owns
//! everything. So access is protected by a password, whose file only the server's account can read.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use uuid::Uuid;

use crate::account::Account;
use crate::error::Error;
use crate::place::{Place, remove_if_there};
use crate::programs::Programs;
use crate::{DATABASE, OWNER};

/// Added to `postgresql.conf`, whose other lines stay those of `initdb`.
const INCLUDE: &str = "\ninclude_if_exists = 'plumbline.conf'\n";

/// The settings of each start, in the data folder.
pub(crate) fn settings_file(data: &Path) -> PathBuf {
    data.join("plumbline.conf")
}

/// Returns the password of the cluster, which is created if missing. The caller holds the cluster's turn.
pub(crate) async fn prepare(programs: &Programs, account: &Account, place: &Place) -> Result<String, Error> {
    if !place.data().join("PG_VERSION").exists() {
        create(programs, account, place).await?;
    }
    let path = place.password_file();
    fs::read_to_string(&path).map(|text| text.trim().to_owned()).map_err(Error::file("read", &path))
}

/// Runs `initdb` in a temporary folder and renames it at the end, so that an interrupted run leaves no incomplete
/// cluster.
async fn create(programs: &Programs, account: &Account, place: &Place) -> Result<(), Error> {
    let unfinished = place.unfinished();
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(Error::file("delete", &unfinished))?;
    }
    fs::create_dir(&unfinished).map_err(Error::file("create", &unfinished))?;
    account.own(&unfinished)?;
    write_password(&place.password_file(), account)?;

    let mut initdb = Command::new(programs.path("initdb"));
    initdb.args(["--username", OWNER, "--auth", "scram-sha-256", "--no-locale", "--encoding", "UTF8", "--pwfile"]);
    initdb.arg(place.password_file()).arg("--pgdata").arg(&unfinished);
    if place.is_throw_away() {
        initdb.arg("--no-sync");
    }
    account.run(&mut initdb).await?;
    let conf = unfinished.join("postgresql.conf");
    let text = fs::read_to_string(&conf).map_err(Error::file("read", &conf))?;
    fs::write(&conf, text + INCLUDE).map_err(Error::file("write", &conf))?;
    create_database(programs, account, &unfinished).await?;
    fs::rename(&unfinished, place.data()).map_err(Error::file("rename", &unfinished))
}

/// Before there is a server, by Postgres' single-user mode, which reads statements from its input.
async fn create_database(programs: &Programs, account: &Account, data: &Path) -> Result<(), Error> {
    let path = data.with_extension("sql");
    fs::write(&path, format!("CREATE DATABASE {DATABASE}\n")).map_err(Error::file("write", &path))?;
    let statements = fs::File::open(&path).map_err(Error::file("open", &path))?;
    let mut single = Command::new(programs.path("postgres"));
    single.arg("--single").arg("-D").arg(data).arg("postgres").stdin(statements);
    account.run(&mut single).await?;
    remove_if_there(&path)
}

/// A UUID of version 4 has 122 random bits, and its digits need no escaping in a URL.
fn write_password(path: &Path, account: &Account) -> Result<(), Error> {
    remove_if_there(path)?;
    let created = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let text = format!("{}\n", Uuid::new_v4().simple());
    created
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .map_err(Error::file("write", path))?;
    account.own(path)
}
