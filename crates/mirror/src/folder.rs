//! A job's folder, opened so that no path can escape from it.

use super::{
    IndexEntry, MirrorTrouble,
    real_dir::{META_DIR, make_and_open, way},
    shared::{self, Shared},
};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use rustix::fs::{Advice, fadvise};
use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::Path,
    sync::OnceLock,
};
use uuid::Uuid;

const TMP: &str = "tmp";
/// Folders that people expect in any workspace, even if empty. Rows contain only files.
const STANDARD_DIRS: [&str; 5] = ["archive", "input", "output", "tool_results", "tools"];
/// Folders of jobs with these tools, by the path of the tool's documentation.
const OF_TOOLS: [(&str, &str); 6] = [
    ("tools/chunk_document.md", "chunks"),
    ("tools/extract_document_text.md", "chunks"),
    ("tools/add_requirement.md", "candidates"),
    ("tools/add_requirement.md", "requirements"),
    ("tools/web_search.md", "web_sources"),
    ("tools/fetch_page.md", "web_sources"),
];

/// An open job folder. All paths are relative to it.
pub(crate) struct Folder {
    pub(crate) dir: Dir,
    /// The mirror's own data in it.
    pub(crate) own: Dir,
    /// Files that are being written.
    tmp: Dir,
    /// Its parent folder, if jobs share files; none for an export.
    root: Option<Root>,
    /// It did not exist before.
    pub(crate) is_new: bool,
}

/// The open parent folder of all jobs' folders.
struct Root {
    dir: Dir,
    /// Opened on first use; none if that is impossible.
    shared: OnceLock<Option<Shared>>,
}

/// A completely written file that is not yet renamed into place.
pub(crate) struct Temporary {
    pub(crate) path: String,
    content: Content,
}

/// Its content.
enum Content {
    /// A file written under this temporary name.
    Written(String, File),
    /// A hard link to this copy, which is already on disk.
    Shared(String),
}

/// Folders within a job's folder that are verified to be real, by path.
#[derive(Default)]
pub(crate) struct DirCache(HashMap<String, Dir>);

/// Opens the parent folder of all jobs' folders, creating it if missing.
fn open_root(root: &Path) -> io::Result<Root> {
    let open = || Dir::open_ambient_dir(root, ambient_authority());
    let opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Dir::create_ambient_dir_all(root, ambient_authority()).and_then(|()| open())
        }
        opened => opened,
    };
    Ok(Root { dir: opened?, shared: OnceLock::new() })
}

impl Folder {
    /// Opens `name` under `root`, both created when missing.
    pub(crate) fn open(root: &Path, name: &str) -> Result<Self, MirrorTrouble> {
        let opened = open_root(root).and_then(|root| {
            let (dir, is_new) = make_and_open(&root.dir, name)?;
            Self::of(dir, Some(root), is_new)
        });
        opened.map_err(|error| MirrorTrouble::at("open its folder", &root.join(name).display().to_string(), &error))
    }

    /// Opens `dir` itself, created when missing.
    pub(crate) fn at(dir: &Path) -> io::Result<Self> {
        Dir::create_ambient_dir_all(dir, ambient_authority())?;
        Self::of(Dir::open_ambient_dir(dir, ambient_authority())?, None, false)
    }

    fn of(dir: Dir, root: Option<Root>, is_new: bool) -> io::Result<Self> {
        let own = way(&dir, META_DIR)?;
        let tmp = way(&own, TMP)?;
        Ok(Self { dir, own, tmp, root, is_new })
    }

    /// Writes a temporary file, to be renamed into place after fsync.
    pub(crate) fn prepare(&self, path: &str, content: &[u8]) -> io::Result<Temporary> {
        workspace_path(path)?;
        let shares = if shared::may_share(path) { self.shared() } else { None };
        let content = match shares.and_then(|shared| shared.keep(path, content)) {
            Some(copy) => Content::Shared(copy),
            None => self.write(content)?,
        };
        Ok(Temporary { path: path.to_owned(), content })
    }

    fn write(&self, content: &[u8]) -> io::Result<Content> {
        let name = Uuid::new_v4().to_string();
        let mut file = self.tmp.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        match file.write_all(content) {
            Ok(()) => Ok(Content::Written(name, file)),
            Err(error) => {
                self.remove_temporary(&name);
                Err(error)
            }
        }
    }

    fn shared(&self) -> Option<&Shared> {
        let root = self.root.as_ref()?;
        root.shared.get_or_init(|| Shared::open(&root.dir).ok()).as_ref()
    }

    /// Renames a flushed file into place, atomically.
    pub(crate) fn place(&self, dirs: &mut DirCache, temporary: &Temporary) -> io::Result<()> {
        let parts = workspace_path(&temporary.path)?;
        let (name, parents) = parts.split_last().expect("a workspace path has a part");
        let parent = dirs.to(&self.dir, parents)?;
        match &temporary.content {
            Content::Written(written, _) => self.replace(written, parent, name)?,
            Content::Shared(copy) => self.link(copy, parent, name)?,
        }
        self.make_of_tool(&temporary.path)
    }

    /// Creates the folders of a tool, if the path is its documentation.
    fn make_of_tool(&self, path: &str) -> io::Result<()> {
        OF_TOOLS.iter().filter(|(tool, _)| *tool == path).try_for_each(|(_, folder)| self.make(folder))
    }

    fn make(&self, folder: &str) -> io::Result<()> {
        match self.dir.create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Hard-links `name` in `parent` to a shared copy. The name is usually free.
    fn link(&self, copy: &str, parent: &Dir, name: &str) -> io::Result<()> {
        let shared = self.shared().ok_or_else(|| io::Error::other("the folder of shared files is missing"))?;
        match shared.link(copy, parent, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let temporary = Uuid::new_v4().to_string();
                shared.link(copy, &self.tmp, &temporary)?;
                let replaced = self.replace(&temporary, parent, name);
                // If both names are already the same file, rename leaves both.
                self.remove_temporary(&temporary);
                replaced
            }
            linked => linked,
        }
    }

    fn replace(&self, temporary: &str, parent: &Dir, name: &str) -> io::Result<()> {
        match self.tmp.rename(temporary, parent, name) {
            // Rows are the source of truth, so a folder at this path is removed.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                parent.remove_dir_all(name)?;
                self.tmp.rename(temporary, parent, name)
            }
            replaced => replaced,
        }
    }

    /// Removes a temporary file that will not be renamed.
    pub(crate) fn discard(&self, temporary: &Temporary) {
        if let Content::Written(written, _) = &temporary.content {
            self.remove_temporary(written);
        }
    }

    fn remove_temporary(&self, name: &str) {
        // The error is reported; the next repair empties the folder again.
        let _ = self.tmp.remove_file(name);
    }

    /// Writes one file atomically.
    pub(crate) fn put(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let temporary = self.prepare(path, content)?;
        let placed = temporary.flush().and_then(|()| self.place(&mut DirCache::default(), &temporary));
        placed.inspect_err(|_| self.discard(&temporary))
    }

    /// Removes a file; a missing file is not an error.
    pub(crate) fn remove(&self, path: &str) -> io::Result<()> {
        workspace_path(path)?;
        match self.dir.remove_file(path) {
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes temporary files left by a killed process.
    pub(crate) fn sweep_temporaries(&self) -> io::Result<()> {
        for entry in self.tmp.entries()? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.tmp.remove_dir_all(entry.file_name())?,
                false => entry.remove_file()?,
            }
        }
        Ok(())
    }

    /// Removes everything in it except the mirror's own data.
    pub(crate) fn empty(&self) -> io::Result<()> {
        for entry in self.dir.entries()? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true if entry.file_name() == META_DIR => {}
                true => self.dir.remove_dir_all(entry.file_name())?,
                false => entry.remove_file()?,
            }
        }
        Ok(())
    }

    /// Creates the folders of a workspace with these files; existing entries are kept.
    pub(crate) fn make_usual(&self, index: &[IndexEntry]) -> io::Result<()> {
        STANDARD_DIRS.iter().try_for_each(|folder| self.make(folder))?;
        index.iter().try_for_each(|entry| self.make_of_tool(&entry.path))
    }
}

impl Temporary {
    /// Starts write-back without waiting. Files started before the first fsync reach the disk together; otherwise each
    /// fsync waits separately. A volume without support for this is only slower.
    pub(crate) fn begin_flush(&self) {
        if let Content::Written(_, file) = &self.content {
            let _ = fadvise(file, 0, None, Advice::DontNeed);
        }
    }

    /// Calls fsync.
    pub(crate) fn flush(&self) -> io::Result<()> {
        match &self.content {
            Content::Written(_, file) => file.sync_all(),
            Content::Shared(_) => Ok(()),
        }
    }
}

impl DirCache {
    /// The folder at `parts` under `top`, created if missing.
    fn to<'a>(&'a mut self, top: &'a Dir, parts: &[&str]) -> io::Result<&'a Dir> {
        let Some((first, rest)) = parts.split_first() else { return Ok(top) };
        let path = parts.join("/");
        if !self.0.contains_key(&path) {
            let opened = rest.iter().try_fold(way(top, first)?, |dir, part| way(&dir, part))?;
            self.0.insert(path.clone(), opened);
        }
        Ok(&self.0[&path])
    }
}

/// The parts of a workspace path: relative, without `.` or `..`, and not in the mirror's own folder.
fn workspace_path(path: &str) -> io::Result<Vec<&str>> {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = parts.iter().all(|part| !matches!(*part, "" | "." | "..") && !part.contains('\0'));
    match plain && parts[0] != META_DIR {
        true => Ok(parts),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path within the workspace")),
    }
}

#[cfg(test)]
mod tests {
    use super::workspace_path;

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
