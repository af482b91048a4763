//! Input and output types of the mirror.

/// A change of a job's files by a committed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEvent {
    /// The file now has this content.
    Written {
        /// Workspace path.
        path: String,
        /// All its bytes.
        content: Vec<u8>,
    },
    /// The file is gone.
    Deleted {
        /// Workspace path.
        path: String,
    },
}

/// A file in the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Workspace path.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// Whether this worker may write the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The files show the step.
    Written,
    /// A worker of a newer epoch has the job; nothing was written, or nothing more.
    Stale,
    /// The folder was deleted externally since the last write; nothing was written, and it must be repaired.
    Wiped,
}

/// A file that a person put into `input/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Workspace path, beginning with `input/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The result of a scan of `input/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finds {
    /// Files to import.
    pub files: Vec<Found>,
    /// Paths of files with several hard links. Other links may be outside the folder, where the person who created the
    /// link may have no read permission: such files are not imported, like symbolic links.
    pub linked: Vec<String>,
}

/// The result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Whether a worker with a newer epoch has the job; then nothing was written.
    pub stale: bool,
    /// Files written because they were missing or differed.
    pub written: Vec<String>,
    /// Orphaned files that were removed.
    pub removed: Vec<String>,
}

/// Why the mirror is incomplete. The job continues: its rows are complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; the job continues and its rows are complete")]
pub struct MirrorTrouble {
    /// What and where.
    pub message: String,
}

impl MirrorTrouble {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    pub(crate) fn at(what: &str, path: &str, error: &std::io::Error) -> Self {
        Self::new(format!("the mirror could not {what} `{path}` ({error})"))
    }

    /// Combines several errors: the first sentence and the number of others.
    pub(crate) fn of_all(mut troubles: Vec<Self>) -> Result<(), Self> {
        if troubles.is_empty() {
            return Ok(());
        }
        let more = troubles.len() - 1;
        let first = troubles.swap_remove(0);
        Err(if more == 0 { first } else { Self::new(format!("{} and {more} more", first.message)) })
    }
}
