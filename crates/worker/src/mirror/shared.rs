//! The documentation of the tools is the same in every job's folder, some forty files: it is on the disk once, and each
//! folder has links to it. Writing it anew for each job would cost more than all the job's own files.
//!
//! A link gives one file several names, so what a person changes in one of them changes in all. The copies are
//! read-only for that reason, none is linked without a look at what is in it (see [`super::looks`]), and a repair
//! compares every file with its row.

use super::{
    folder::{OWN, Root, make_way},
    looks,
};
use cap_std::fs::{Dir, OpenOptions};
use std::io::{self, Read as _, Write as _};
use uuid::Uuid;

const SHARED: &str = ".plumbline/shared";

/// The folder with the copies, open.
pub(super) struct Shared(Dir);

/// The name of a file's copy, if it is one of those that jobs share.
fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix("tools/").filter(|name| name.ends_with(".md") && !name.contains('/'))
}

/// Makes `temporary` in `folder` a link to the copy with this content. `false` where the file is not one that jobs
/// share, or the volume has no links.
pub(super) fn link(root: &Root, path: &str, content: &[u8], folder: &Dir, temporary: &str) -> bool {
    let Some(name) = name_of(path) else { return false };
    let shared = root.shared.get_or_init(|| Shared::open(&root.dir).ok());
    shared.as_ref().is_some_and(|shared| shared.link(name, content, folder, temporary).is_ok())
}

impl Shared {
    fn open(root: &Dir) -> io::Result<Self> {
        make_way(root, OWN)?;
        make_way(root, SHARED)?;
        root.open_dir(SHARED).map(Self)
    }

    fn link(&self, name: &str, content: &[u8], folder: &Dir, temporary: &str) -> io::Result<()> {
        if !self.has(name, content) {
            self.write(name, content)?;
        }
        self.0.hard_link(name, folder, temporary)
    }

    fn has(&self, name: &str, content: &[u8]) -> bool {
        let seen = self.0.symlink_metadata(name);
        let Ok(metadata) = seen.as_ref() else { return false };
        if looks::has(metadata, content) {
            return true;
        }
        let read = || {
            let mut file = self.0.open(name)?;
            let (metadata, mut found) = (file.metadata()?, Vec::with_capacity(content.len() + 1));
            file.read_to_end(&mut found)?;
            io::Result::Ok((metadata, found))
        };
        let Ok((metadata, found)) = read() else { return false };
        looks::remember(&metadata, &found);
        found == content
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
            // The error is told; a file that could not be removed either only takes its room.
            let _ = self.0.remove_file(&temporary);
        })
    }
}
