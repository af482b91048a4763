//! The documentation of the tools is the same in every job's folder, some forty files: it is stored once, and each
//! folder has hard links to it. Writing it for each job would cost more than all the job's own files, and a symbolic link
//! would lead nowhere in a copy of the folder.
//!
//! A change through one hard link affects all. Therefore the copies are read-only, none is linked without reading it,
//! and a repair compares every file with its row.

use super::real_dir::{META_DIR, ensure_dir};
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest as _, Sha256};
use std::io::{self, Write as _};
use uuid::Uuid;

const SHARED: &str = ".plumbline/shared";

/// The folder with the copies, open.
pub(crate) struct Shared(Dir);

/// The name of a file's copy, if jobs share the file.
fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix("tools/").filter(|name| name.ends_with(".md") && !name.contains('/'))
}

/// Whether jobs share the file at this path.
pub(crate) fn may_share(path: &str) -> bool {
    name_of(path).is_some()
}

impl Shared {
    /// Opens the folder with the copies, below the `root` of all jobs' folders. `None` is not an error: on a volume
    /// without hard links, every folder has its own files.
    pub(crate) fn open(root: &Dir) -> io::Result<Self> {
        ensure_dir(root, META_DIR)?;
        ensure_dir(root, SHARED)?;
        let shared = Self(root.open_dir(SHARED)?);
        shared.try_linking()?;
        Ok(shared)
    }

    fn try_linking(&self) -> io::Result<()> {
        let [one, other] = ["one", "other"].map(|name| format!("{name}.{}", Uuid::new_v4()));
        self.0.create(&one)?;
        let linked = self.0.hard_link(&one, &self.0, &other);
        // A remaining file only uses space.
        let _ = (self.0.remove_file(&one), self.0.remove_file(&other));
        linked
    }

    /// Ensures that there is a copy of the file with this content, and returns its name: each content has its own copy,
    /// so that none replaces one that is about to be linked. `None` if jobs do not share the file, or the copy could
    /// not be made.
    pub(crate) fn keep(&self, path: &str, content: &[u8]) -> Option<String> {
        let copy = format!("{}.{}", hex::encode(&Sha256::digest(content)[..8]), name_of(path)?);
        (self.has(&copy, content) || self.write(&copy, content).is_ok()).then_some(copy)
    }

    /// Hard-links `name` in `folder` to the copy. The number of links is limited (65,000 on ext4): a copy at the limit
    /// is replaced by a new one.
    pub(crate) fn link(&self, copy: &str, folder: &Dir, name: &str) -> io::Result<()> {
        match self.0.hard_link(copy, folder, name) {
            Err(error) if error.kind() == io::ErrorKind::TooManyLinks => {
                self.write(copy, &self.0.read(copy)?)?;
                self.0.hard_link(copy, folder, name)
            }
            linked => linked,
        }
    }

    fn has(&self, name: &str, content: &[u8]) -> bool {
        self.0.read(name).is_ok_and(|found| found == content)
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = format!("{name}.{}", Uuid::new_v4());
        let mut file = self.0.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
        let mut written = || {
            file.write_all(content)?;
            let mut permissions = file.metadata()?.permissions();
            permissions.set_readonly(true);
            file.set_permissions(permissions)?;
            file.sync_all()?;
            self.0.rename(&temporary, &self.0, name)
        };
        written().inspect_err(|_| {
            // The error is logged; a file that could not be removed only uses space.
            let _ = self.0.remove_file(&temporary);
        })
    }
}
