//! A PostgreSQL server that belongs to one checkout and to nobody else.
//!
//! `plumbline dev`, the tests and the benchmarks need a Postgres on machines where nothing is set up. This module
//! finds the server programs (or has the system's package manager install them), makes a cluster, starts it on a
//! free port of the loopback interface, and sees to it that nothing stays behind.
//!
//! * [`binaries`] finds `initdb` and `postgres`; [`install`] gets them when they are missing.
//! * [`os_user`] decides which account runs the server: Postgres refuses root.
//! * [`cluster_dir`] says where the data lies; [`run_folder`] makes the short folder for the socket and the pipe.
//! * [`cluster`] runs `initdb`; [`password`] keeps the other accounts of the machine out; [`server`] starts the server under its [`guard`]; [`leftovers`] clears the way after
//!   a kill.
//!
//! # How a server ends with its users
//! A server runs as the child of a small shell script, the guard. The guard reads from a named pipe whose write end
//! every user of the server holds open. The kernel closes those ends whatever happens to the users, an exit, a panic
//! or `kill -9`; once the last is closed the guard's read ends and it stops the server. So two `plumbline dev` in one
//! checkout share one server, and it stops with the second of them, not with the first.

mod binaries;
mod cluster;
mod cluster_dir;
mod error;
mod files;
mod guard;
mod install;
mod leftovers;
mod os_user;
mod password;
mod postmaster;
mod run_folder;
mod server;

use std::path::PathBuf;

use binaries::Binaries;
use cluster::Login;
use cluster_dir::ClusterDir;
pub(crate) use error::Error;
use os_user::OsUser;
use password::Password;
use server::Server;

/// What kind of cluster is wanted, and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// The folder that keeps the data, the log and the locks of a lasting cluster, usually `.plumbline/postgres`.
    /// Not used for an ephemeral one.
    pub(crate) dir: PathBuf,
    /// The folder with `initdb` and `postgres`; searched for when absent.
    pub(crate) bin_dir: Option<PathBuf>,
    /// Whether a commit survives a power cut. Off is two to three times faster, and right for data thrown away anyway.
    pub(crate) durable: bool,
    /// Whether the cluster lives in a temporary folder that is deleted when it stops.
    pub(crate) ephemeral: bool,
    /// Further server settings, name and value, as in `postgresql.conf`.
    pub(crate) settings: Vec<(String, String)>,
}

/// A running server that this process uses. It stops when the last process that uses it ends, in whatever way.
#[derive(Debug)]
pub(crate) struct PrivatePostgres {
    programs: Binaries,
    account: OsUser,
    place: ClusterDir,
    server: Server,
    login: Login,
}

/// Starts the cluster that `options` describe, or joins it when another process of this checkout already runs it.
///
/// # Errors
/// When the server programs cannot be found or installed, the folder cannot be used, or the server does not start;
/// the error says which, and what to do.
pub(crate) async fn start(options: Options) -> Result<PrivatePostgres, Error> {
    let account = OsUser::choose((!options.ephemeral).then_some(options.dir.as_path())).await?;
    leftovers::sweep_temporary_folders(&account);
    let place = ClusterDir::prepare(&options, &account)?;
    let programs = match find_programs(&options, &account, &place).await {
        Ok(programs) => programs,
        Err(error) => {
            place.discard_if_ephemeral();
            return Err(error);
        }
    };

    let _turn = place.take_turn().await?;
    let (server, password) = match leftovers::join_or_clear(&place).await? {
        Some(running) => (running, Password::read(&place)?.ok_or_else(|| open_to_everybody(&place))?),
        None => {
            let run = run_folder::create(&place, &account)?;
            let pipe = guard::Pipe::create(&run, &account).await?;
            let password = cluster::prepare(&programs, &account, &place).await?;
            (server::start(&programs, &account, &place, pipe, &options).await?, password)
        }
    };
    let login = Login { port: server.port, password };
    Ok(PrivatePostgres { programs, account, place, server, login })
}

/// Why a running server without a password is not joined.
fn open_to_everybody(place: &ClusterDir) -> Error {
    Error::ClusterDir {
        path: place.base.clone(),
        reason:
            "a server of an earlier version runs on it and asks nobody for a password; end what uses it (the other \
                 `plumbline dev`) and start again, which gives it one"
                .to_owned(),
    }
}

async fn find_programs(options: &Options, account: &OsUser, place: &ClusterDir) -> Result<Binaries, Error> {
    let programs = Binaries::find_or_install(options.bin_dir.as_deref(), &place.data).await?;
    account.require_access(&programs.bin_dir)?;
    Ok(programs)
}

impl PrivatePostgres {
    /// The connection string of a database in this cluster, the password in it: for programs, not for a terminal.
    pub(crate) fn url(&self, database: &str) -> String {
        self.login.url(database)
    }

    /// The same without the password, which is in [`PrivatePostgres::password_file`].
    pub(crate) fn address(&self, database: &str) -> String {
        self.login.address(database)
    }

    /// The file with the password, which only this account can read.
    pub(crate) fn password_file(&self) -> PathBuf {
        self.place.password_file()
    }

    /// The folder of the server's client programs, `psql` among them.
    pub(crate) fn bin_dir(&self) -> &std::path::Path {
        &self.programs.bin_dir
    }

    /// Creates a database unless it is there.
    ///
    /// # Errors
    /// When the server refuses.
    pub(crate) async fn create_database(&self, name: &str) -> Result<(), Error> {
        cluster::create_database(&self.programs, &self.account, &self.login, name).await
    }

    /// Gives up the server: stops it when nobody else uses it, and deletes an ephemeral cluster.
    ///
    /// # Errors
    /// When the server does not stop within half a minute or its folder cannot be deleted.
    pub(crate) async fn stop(self) -> Result<(), Error> {
        let _turn = self.place.take_turn().await?;
        self.server.stop(&self.place).await
    }
}
