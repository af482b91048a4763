//! A private PostgreSQL server of one checkout.
//!
//! `plumbline dev`, the tests and the benchmarks need a Postgres without any setup. This crate finds the server
//! programs (or installs them with `apt-get`), creates a cluster, starts it on a free port of the loopback interface,
//! and stops it when its last user ends.
//!
//! * [`programs`] finds `initdb`, `postgres` and `pg_ctl`; [`install`] gets them when they are missing.
//! * [`account`] decides which account runs the server: Postgres refuses root.
//! * [`place`] is the cluster's folder and its two locks.
//! * [`cluster`] runs `initdb`; [`server`] calls `pg_ctl`.
//!
//! # How processes share a server
//! Each process that uses a cluster holds its `users.lock` shared; each that starts or stops the server holds
//! `turn.lock` exclusively for that time. A process that ends takes the turn, gives up its own share, and stops the
//! server when it can lock `users.lock` exclusively, that is, when no other process uses it. The kernel releases locks
//! with their process, so a killed user never holds a server. A server left running is taken over by the next start in
//! the same folder, or, for a temporary cluster, stopped and deleted by the next start of any.

mod account;
mod cluster;
mod error;
mod install;
mod place;
mod programs;
mod server;

use std::fs::File;
use std::path::{Path, PathBuf};

use account::Account;
pub use error::Error;
use place::Place;
use programs::Programs;

/// The role that owns everything in a private cluster.
const OWNER: &str = "plumbline";
/// The database in it.
const DATABASE: &str = "plumbline";

/// The kind and place of a cluster.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of a persistent cluster, usually `.plumbline/postgres`; none for a temporary cluster, which is in a
    /// temporary folder and is deleted when it stops.
    pub dir: Option<PathBuf>,
    /// Whether a commit survives a power cut. Off is two to three times faster, and right for data that is thrown away.
    pub durable: bool,
    /// Further server settings, name and value, as in `postgresql.conf`.
    pub settings: Vec<(String, String)>,
}

/// A running server that this process uses.
#[derive(Debug)]
pub struct PrivatePostgres {
    programs: Programs,
    account: Account,
    place: Place,
    /// On 127.0.0.1.
    port: u16,
    password: String,
    /// A shared lock, which marks this process as a user of the server.
    user: File,
}

/// Starts the cluster that `options` describe, or joins it when another process runs it already.
///
/// # Errors
/// If the server programs cannot be found or installed, the folder cannot be used, or the server does not start; the
/// error says which, and what to do.
pub async fn start(options: Options) -> Result<PrivatePostgres, Error> {
    let account = Account::choose(options.dir.as_deref()).await?;
    let wanted = options.dir.as_deref();
    let programs = Programs::find_or_install(wanted.map(|dir| dir.join("data")).as_deref()).await?;
    account.require_access(&programs.folder)?;
    server::sweep(&programs, &account).await;
    let place = Place::prepare(wanted, &account)?;

    let turn = place.take_turn().await?;
    let user = place.share()?;
    let password = cluster::prepare(&programs, &account, &place).await?;
    let port = match server::running(&place) {
        Some(port) => port,
        None => server::start(&programs, &account, &place, &options).await?,
    };
    drop(turn);
    Ok(PrivatePostgres { programs, account, place, port, password, user })
}

impl PrivatePostgres {
    /// The connection string of the cluster's database with the password: for programs, not for a terminal.
    pub fn url(&self) -> String {
        format!("postgres://{OWNER}:{}@127.0.0.1:{}/{DATABASE}", self.password, self.port)
    }

    /// The same without the password, which is in [`PrivatePostgres::password_file`].
    pub fn address(&self) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{DATABASE}", self.port)
    }

    /// The file with the password, which only the server's account can read.
    pub fn password_file(&self) -> PathBuf {
        self.place.password_file()
    }

    /// The folder of the server's programs.
    pub fn programs(&self) -> &Path {
        &self.programs.folder
    }

    /// Releases the server: stops it if no other process uses it, and deletes a temporary cluster.
    ///
    /// # Errors
    /// When the server does not stop or its folder cannot be deleted.
    pub async fn stop(self) -> Result<(), Error> {
        let _turn = self.place.take_turn().await?;
        if !self.place.is_last(&self.user)? {
            return Ok(());
        }
        server::stop(&self.programs, &self.account, &self.place.data()).await?;
        self.place.discard_if_throw_away()
    }
}
