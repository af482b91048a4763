//! What can go wrong with the private Postgres, each as one sentence for the person at the terminal.

use std::io;
use std::path::{Path, PathBuf};

/// Why the private Postgres is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The server programs are missing and were not installed.
    #[error("the PostgreSQL server programs (initdb, postgres) were not found and {reason}; {advice}")]
    Missing {
        /// Why they were not installed.
        reason: String,
        /// What the user should run.
        advice: String,
    },

    /// The folder that was named does not hold usable programs.
    #[error("{} holds no usable PostgreSQL server: {reason}", dir.display())]
    Unusable {
        /// The folder.
        dir: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },

    /// The cluster's folder cannot be used.
    #[error("the folder {} cannot hold the private Postgres: {reason}", path.display())]
    ClusterDir {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },

    /// A program that came with the server failed.
    #[error("{program} failed: {said}")]
    Program {
        /// The program's name.
        program: String,
        /// Its last words.
        said: String,
    },

    /// The server ended while starting, or did not become ready.
    #[error("the private Postgres did not start: {reason} (its log is {})", log.display())]
    Start {
        /// The server's last words.
        reason: String,
        /// The whole log.
        log: PathBuf,
    },

    /// The server is still there after it was told to stop.
    #[error("the private Postgres (process {pid}) did not stop within {secs} s; end it with: kill -QUIT {pid}")]
    Stop {
        /// Its process id.
        pid: i32,
        /// How long it was waited for.
        secs: u64,
    },

    /// A file operation failed.
    #[error("could not {what} {}: {source}; check the permissions and the space there, or start it in another folder", path.display())]
    File {
        /// What was tried, as a verb.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: a file operation named by a verb.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { what, path, source }
    }
}
