//! One job's folder, opened so that no path leads out of it.

use super::{MirrorTrouble, shared};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use std::{
    io::{self, Write as _},
    path::{Component, Path},
};
use uuid::Uuid;

/// What is the mirror's own and no file of the job.
pub(super) const OWN: &str = ".plumbline";
const TMP: &str = ".plumbline/tmp";
/// What people may look for in any workspace, also while nothing is in it. Rows know files only.
const USUAL: [&str; 9] =
    ["archive", "candidates", "chunks", "input", "output", "requirements", "tool_results", "tools", "web_sources"];

/// An open job folder. All paths are relative to it.
pub(super) struct Folder {
    pub(super) dir: Dir,
    /// What it is in, where jobs share files; none for an export.
    root: Option<Dir>,
}

impl Folder {
    /// Opens `name` under `root`, both created when missing.
    pub(super) fn open(root: &Path, name: &str) -> Result<Self, MirrorTrouble> {
        // Almost always it is there, whole: that takes two looks instead of five.
        if let Some(folder) = Self::whole(root, name) {
            return Ok(folder);
        }
        let open = || {
            Dir::create_ambient_dir_all(root, ambient_authority())?;
            let root = Dir::open_ambient_dir(root, ambient_authority())?;
            make_way(&root, name)?;
            let folder = Self { dir: root.open_dir(name)?, root: Some(root) };
            make_way(&folder.dir, OWN)?;
            make_way(&folder.dir, TMP)?;
            Ok(folder)
        };
        open().map_err(|error| MirrorTrouble::at("open its folder", &root.join(name).display().to_string(), &error))
    }

    /// A folder that lacks nothing of its own.
    fn whole(root: &Path, name: &str) -> Option<Self> {
        let root = Dir::open_ambient_dir(root, ambient_authority()).ok()?;
        let is_folder = |dir: &Dir, path: &str| dir.symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let dir = is_folder(&root, name).then(|| root.open_dir(name).ok()).flatten()?;
        is_folder(&dir, TMP).then_some(Self { dir, root: Some(root) })
    }

    /// Opens `dir` itself, created when missing.
    pub(super) fn at(dir: &Path) -> io::Result<Self> {
        Dir::create_ambient_dir_all(dir, ambient_authority())?;
        let folder = Self { dir: Dir::open_ambient_dir(dir, ambient_authority())?, root: None };
        make_way(&folder.dir, OWN)?;
        make_way(&folder.dir, TMP)?;
        Ok(folder)
    }

    /// Puts a file into its place, whole or not at all. `allowed` is asked last, when only the rename is left to do;
    /// `false` from it leaves everything as it was.
    pub(super) fn put(&self, path: &str, content: &[u8], allowed: impl FnOnce() -> bool) -> io::Result<bool> {
        let parts = workspace_path(path)?;
        let temporary = format!("{TMP}/{}", Uuid::new_v4());
        let placed = self.write_temporary(&temporary, path, content).and_then(|()| {
            if !allowed() {
                return Ok(false);
            }
            self.make_parents(&parts)?;
            self.clear_folder_in_the_way(path)?;
            self.dir.rename(&temporary, &self.dir, path).map(|()| true)
        });
        if !matches!(placed, Ok(true)) {
            // Whatever went wrong is reported; the next repair empties the folder once more.
            let _ = self.dir.remove_file(&temporary);
        }
        placed
    }

    fn write_temporary(&self, temporary: &str, path: &str, content: &[u8]) -> io::Result<()> {
        if self.root.as_ref().is_some_and(|root| shared::link(root, path, content, &self.dir, temporary)) {
            return Ok(());
        }
        let mut file = self.dir.open_with(temporary, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(content)?;
        file.sync_all()
    }

    /// Removes a file; one that is not there is no error.
    pub(super) fn remove(&self, path: &str) -> io::Result<()> {
        workspace_path(path)?;
        match self.dir.remove_file(path) {
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Err(error),
            _ => Ok(()),
        }
    }

    /// Empties the folder of unfinished writes that a killed process left.
    pub(super) fn sweep_temporaries(&self) -> io::Result<()> {
        if self.dir.read_dir(TMP)?.next().is_none() {
            return Ok(());
        }
        self.dir.remove_dir_all(TMP)?;
        self.dir.create_dir(TMP)
    }

    /// Makes the folders that every workspace has; what stands there already is left alone.
    pub(super) fn make_usual(&self) -> io::Result<()> {
        USUAL.iter().try_for_each(|path| match self.dir.create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        })
    }

    fn make_parents(&self, parts: &[&str]) -> io::Result<()> {
        for end in 1..parts.len() {
            make_way(&self.dir, &parts[..end].join("/"))?;
        }
        Ok(())
    }

    /// A file cannot be renamed onto a folder. Rows are the truth, so a folder that stands there goes.
    fn clear_folder_in_the_way(&self, path: &str) -> io::Result<()> {
        match self.dir.symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.dir.remove_dir_all(path),
            _ => Ok(()),
        }
    }
}

/// Makes sure that `path` is a real folder: a link or a file that stands there goes, so that nothing is written
/// through it.
pub(super) fn make_way(dir: &Dir, path: &str) -> io::Result<()> {
    match dir.symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => dir.remove_file(path)?,
        Err(_) => {}
    }
    match dir.create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// The parts of a workspace path: relative, without `.` or `..`, and not in the mirror's own folder.
fn workspace_path(path: &str) -> io::Result<Vec<&str>> {
    let parts: Option<Vec<&str>> = Path::new(path)
        .components()
        .map(|component| match component {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    match parts {
        Some(parts) if !parts.is_empty() && parts[0] != OWN && parts.join("/") == path => Ok(parts),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path within the workspace")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, TMP, workspace_path};

    #[test]
    fn a_write_that_is_no_longer_allowed_leaves_the_file_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(root.path(), "job").unwrap();
        assert!(folder.put("a.md", b"new epoch", || true).unwrap());
        assert!(!folder.put("a.md", b"old epoch", || false).unwrap());
        assert_eq!(folder.dir.read("a.md").unwrap(), b"new epoch");
        assert_eq!(folder.dir.read_dir(TMP).unwrap().count(), 0);
    }

    #[test]
    fn only_plain_relative_paths_are_workspace_paths() {
        for path in ["a.md", "output/a b.md", "input/ä/…x"] {
            assert!(workspace_path(path).is_ok(), "{path}");
        }
        for path in ["", ".", "/etc/passwd", "../x", "a/../b", "a/./b", "a//b", "a/", ".plumbline/mirror.json"] {
            assert!(workspace_path(path).is_err(), "{path}");
        }
    }
}
