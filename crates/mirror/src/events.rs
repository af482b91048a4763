//! What goes into the mirror and what comes out.

/// A change to a job's files, as a committed step made it.
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

/// A file as the rows have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Workspace path.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// Whether the mirror was this worker's to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The files show the step.
    Written,
    /// A worker of a newer epoch has the job; nothing was written, or nothing more.
    Stale,
    /// Somebody took the folder away since it was last written; nothing was written, and it must be repaired.
    Wiped,
}

/// A file that somebody put into `input/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Workspace path, beginning with `input/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What a look at `input/` came back with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finds {
    /// To be taken in.
    pub files: Vec<Found>,
    /// Paths of files with more than one name. The others may lie outside the folder, where whoever put the link here need
    /// not be able to read: they are not taken in, as symbolic links are not.
    pub linked: Vec<String>,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Whether a worker of a newer epoch has the job; then nothing was written.
    pub stale: bool,
    /// Files written because they were missing or differed.
    pub written: Vec<String>,
    /// Files removed because no row knows them.
    pub removed: Vec<String>,
}

/// Why the mirror does not show everything. The job goes on: its rows are complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; the job goes on and its rows are complete")]
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

    /// One trouble for several: the first sentence and how many more there are.
    pub(crate) fn of_all(mut troubles: Vec<Self>) -> Result<(), Self> {
        if troubles.is_empty() {
            return Ok(());
        }
        let more = troubles.len() - 1;
        let first = troubles.swap_remove(0);
        Err(if more == 0 { first } else { Self::new(format!("{} and {more} more", first.message)) })
    }
}
