//! Files shared by many jobs.

use crate::FileMeta;
use std::{fmt, sync::Arc};

/// An immutable set of files, referenced by all jobs that have it: a job's rows and memory contain its id, and the
/// files are stored once. Jobs do not write to these paths.
#[derive(PartialEq, Eq)]
pub struct SharedFiles {
    /// The set's id: SHA-256 of its paths and hashes.
    pub id: [u8; 32],
    /// By path, each once.
    pub files: Vec<SharedFile>,
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    /// Workspace path, normalized like that of a [`crate::FileWrite`].
    pub path: String,
    /// The bytes.
    pub content: Arc<[u8]>,
    /// SHA-256 of the bytes.
    pub sha256: [u8; 32],
    /// The properties that decisions need.
    pub facts: FileMeta,
}

impl fmt::Debug for SharedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter().map(|file| &file.path)).finish()
    }
}
