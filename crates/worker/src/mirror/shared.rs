//! The documentation of the tools is the same in every job's folder, some forty files: it is on the disk once, and each
//! folder has links to it. Writing it anew for each job would cost more than all the job's own files.
//!
//! A link gives one file several names, so what a person changes in one of them changes in all. The copies are
//! read-only for that reason, none is linked without a look at what is in it, and a repair compares every file with its
//! row.

use super::folder::{OWN, make_way};
use cap_std::fs::{Dir, OpenOptions};
use std::io::{self, Write as _};
use uuid::Uuid;

const SHARED: &str = ".plumbline/shared";

/// The name of a file's copy, if it is one of those that jobs share.
fn name_of(path: &str) -> Option<&str> {
    path.strip_prefix("tools/").filter(|name| name.ends_with(".md") && !name.contains('/'))
}

/// Makes `temporary` in a job's folder a link to the copy with this content. `false` where the file is not one that jobs
/// share, or the volume has no links.
pub(super) fn link(root: &Dir, path: &str, content: &[u8], folder: &Dir, temporary: &str) -> bool {
    let Some(name) = name_of(path) else { return false };
    let linked = || {
        make_way(root, OWN)?;
        make_way(root, SHARED)?;
        let shared = root.open_dir(SHARED)?;
        if !shared.read(name).is_ok_and(|found| found == content) {
            write(&shared, name, content)?;
        }
        shared.hard_link(name, folder, temporary)
    };
    let linked: io::Result<()> = linked();
    linked.is_ok()
}

fn write(shared: &Dir, name: &str, content: &[u8]) -> io::Result<()> {
    let temporary = format!("{name}.{}", Uuid::new_v4());
    let mut file = shared.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
    let mut written = || {
        file.write_all(content)?;
        let mut permissions = file.metadata()?.permissions();
        permissions.set_readonly(true);
        file.set_permissions(permissions)?;
        file.sync_all()?;
        shared.rename(&temporary, shared, name)
    };
    written().inspect_err(|_| {
        // The error is told; a file that could not be removed either only takes its room.
        let _ = shared.remove_file(&temporary);
    })
}
