//! Files that many jobs share.

use crate::FileMeta;
use std::{fmt, sync::Arc};

/// A set of files, made once and referred to by all jobs that have it: a job's rows and memory hold its name, and the
/// files are held once. Jobs do not write to these paths.
#[derive(PartialEq, Eq)]
pub struct SharedFiles {
    /// The set's name: SHA-256 of its paths and hashes.
    pub id: [u8; 32],
    /// By path, each once.
    pub files: Vec<SharedFile>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    /// Workspace path, normalized like that of a [`crate::FileWrite`].
    pub path: String,
    /// The bytes.
    pub content: Arc<[u8]>,
    /// SHA-256 of the bytes.
    pub sha256: [u8; 32],
    /// What decisions need to know of it.
    pub facts: FileMeta,
}

impl fmt::Debug for SharedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter().map(|file| &file.path)).finish()
    }
}
