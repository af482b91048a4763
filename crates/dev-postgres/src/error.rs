//! Errors, each as one sentence for the person at the terminal.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no private Postgres.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server programs are missing and were not installed, or there is no account to run them.
    #[error("the private Postgres is not available: {reason}; {advice}")]
    Missing {
        /// What is missing, and why it was not installed.
        reason: String,
        /// The command that the user should run.
        advice: String,
    },

    /// A folder lacks required content, or cannot be used.
    #[error("the folder {} cannot be used for the private Postgres: {reason}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The problem and the remedy.
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

    /// A file operation failed.
    #[error("could not {what} {}: {source}; check the permissions and the space there, or start it in another folder", path.display())]
    File {
        /// The attempted operation, as a verb.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: a file operation named by a verb.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { what, path, source }
    }
}

/// The last non-empty lines of what a program wrote, on one line.
pub(crate) fn last_lines(output: &[u8], count: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("; ")
}
