//! Making the cluster's data folder, and databases in it.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::binaries::Binaries;
use super::cluster_dir::ClusterDir;
use super::error::Error;
use super::files;
use super::os_user::OsUser;
use super::password::{NewPassword, Password};

/// The role that owns everything in a private cluster.
pub(crate) const SUPERUSER: &str = "plumbline";
/// How whoever connects shows who they are, over TCP and over the socket.
const METHOD: &str = "scram-sha-256";

/// How a running server is reached.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    /// The port on 127.0.0.1.
    pub(crate) port: u16,
    /// The password of [`SUPERUSER`].
    pub(crate) password: Password,
}

impl Login {
    /// The connection string of a database, the password in it.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}:{}@127.0.0.1:{}/{database}", self.password.text(), self.port)
    }

    /// The same without the password, for a terminal or a command line.
    pub(crate) fn address(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}@127.0.0.1:{}/{database}", self.port)
    }
}

/// Gives the password of the cluster, which is made when it is missing. The caller holds the cluster's turn, and no
/// server runs on it.
pub(crate) async fn prepare(programs: &Binaries, account: &OsUser, place: &ClusterDir) -> Result<Password, Error> {
    if !place.data.join("PG_VERSION").exists() {
        return create(programs, account, place).await;
    }
    match Password::read(place)? {
        Some(password) => Ok(password),
        None => close(programs, account, place).await,
    }
}

/// Runs `initdb`. It works under another name and renames at the end, so that a run that is cut short leaves no
/// half-made cluster behind.
async fn create(programs: &Binaries, account: &OsUser, place: &ClusterDir) -> Result<Password, Error> {
    let unfinished = place.base.join("data.unfinished");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(Error::file("delete", &unfinished))?;
    }
    std::fs::create_dir(&unfinished).map_err(Error::file("create", &unfinished))?;
    account.own(&unfinished)?;

    let password = NewPassword::write(place, account)?;
    let mut initdb = Command::new(programs.path("initdb"));
    initdb.args(["--username", SUPERUSER, "--auth", METHOD, "--no-locale", "--encoding", "UTF8", "--pwfile"]);
    initdb.arg(&password.file).arg("--pgdata").arg(&unfinished).kill_on_drop(true);
    if place.ephemeral {
        initdb.arg("--no-sync");
    }
    run("initdb", account, &mut initdb).await?;
    std::fs::rename(&unfinished, &place.data).map_err(Error::file("rename", &unfinished))?;
    password.keep()
}

/// Gives a password to a cluster that lets everybody in, as earlier versions made them, or whose password was lost.
async fn close(programs: &Binaries, account: &OsUser, place: &ClusterDir) -> Result<Password, Error> {
    let password = NewPassword::write(place, account)?;
    // Without a server, and so without anybody else: the statement comes through the program's input.
    let mut single = Command::new(programs.path("postgres"));
    single.arg("--single").arg("-D").arg(&place.data).arg("postgres").kill_on_drop(true);
    account.apply(&mut single);
    single.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut single = single.spawn().map_err(Error::file("run", Path::new("postgres")))?;
    let statement = format!("ALTER ROLE {SUPERUSER} PASSWORD '{}'\n", password.text());
    let mut input = single.stdin.take().expect("it was asked for");
    // A program that ended early says why in its output.
    let _ = input.write_all(statement.as_bytes()).await;
    drop(input);
    let ended = single.wait_with_output().await.map_err(Error::file("run", Path::new("postgres")))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    // An error of the statement does not change the exit code.
    if !ended.status.success() || said.contains("ERROR:") {
        return Err(Error::Program { program: "postgres --single".to_owned(), said: files::reason(&ended) });
    }

    let rules = place.data.join("pg_hba.conf");
    let text = std::fs::read_to_string(&rules).map_err(Error::file("read", &rules))?;
    std::fs::write(&rules, without_trust(&text)).map_err(Error::file("write", &rules))?;
    password.keep()
}

/// The rules of `pg_hba.conf` with a password wherever none was asked for.
fn without_trust(rules: &str) -> String {
    let closed = rules.lines().map(|line| match line.trim_end().strip_suffix("trust") {
        Some(rule) if !rule.trim_start().starts_with('#') => format!("{rule}{METHOD}\n"),
        _ => format!("{line}\n"),
    });
    closed.collect()
}

/// Creates a database unless it is there; two processes may do so at once.
pub(crate) async fn create_database(
    programs: &Binaries,
    account: &OsUser,
    server: &Login,
    name: &str,
) -> Result<(), Error> {
    if exists(programs, account, server, name).await? {
        return Ok(());
    }
    let mut createdb = Command::new(programs.path("createdb"));
    createdb.arg("--no-password").arg("--maintenance-db").arg(server.address("postgres")).arg(name);
    match run_client("createdb", account, server, createdb).await {
        Err(_) if exists(programs, account, server, name).await? => Ok(()),
        result => result.map(drop),
    }
}

async fn exists(programs: &Binaries, account: &OsUser, server: &Login, name: &str) -> Result<bool, Error> {
    let mut psql = Command::new(programs.path("psql"));
    psql.args(["--no-psqlrc", "--no-password", "--tuples-only", "--no-align", "--list"]);
    psql.arg(server.address("postgres"));
    let listed = run_client("psql", account, server, psql).await?;
    Ok(listed.lines().any(|line| line.split('|').next() == Some(name)))
}

/// Runs a program of the server to its end and gives what it printed.
async fn run(program: &str, account: &OsUser, command: &mut Command) -> Result<String, Error> {
    account.apply(command);
    output(program, command).await
}

/// The same for a program that connects. A command line can be read by every account, an environment cannot.
async fn run_client(program: &str, account: &OsUser, server: &Login, mut command: Command) -> Result<String, Error> {
    account.apply(&mut command);
    command.env("PGPASSWORD", server.password.text());
    output(program, &mut command).await
}

async fn output(program: &str, command: &mut Command) -> Result<String, Error> {
    let ended = command.output().await.map_err(Error::file("run", Path::new(program)))?;
    if !ended.status.success() {
        return Err(Error::Program { program: program.to_owned(), said: files::reason(&ended) });
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_asked_for_nothing_ask_for_a_password() {
        let rules = "# host all all all trust\nlocal all all trust\nhost  all all ::1/128   trust  \nhost all me 10.0.0.0/8 md5\n";
        let closed = "# host all all all trust\nlocal all all scram-sha-256\nhost  all all ::1/128   scram-sha-256\nhost all me 10.0.0.0/8 md5\n";
        assert_eq!(without_trust(rules), closed);
    }
}
