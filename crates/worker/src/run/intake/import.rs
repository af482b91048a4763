//! Reads `document_path`: a file or a folder, only under the import folder.
//!
//! The path is untrusted. The kernel resolves it beneath the import folder (cap-std), so neither `..` nor a link can
//! escape, even if the folder changes meanwhile.

use super::{Content, Document, Refused};
use cap_std::{ambient_authority, fs::Dir};
use plumbline_documents::composed;
use std::{
    collections::HashMap,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

/// Maximum documents of one job.
pub(crate) const MOST_FILES: usize = 1000;
/// Maximum bytes of all documents of one job: as many as a worker imports at once.
pub(crate) const MOST_BYTES: u64 = 256 << 20;
/// Folders nested deeper than this are refused.
pub(crate) const DEEPEST: usize = 16;

/// The documents at `path`; those of a folder keep their relative paths. `roots` are the subfolders of the import
/// folder that a job of this type may read, if restricted.
pub(crate) fn read(root: &Path, roots: Option<&[String]>, path: &str) -> Result<Vec<Document>, Refused> {
    let (root, relative) = place(root, roots, path)?;
    let (import, is_folder) = open(&root, &relative, path)?;
    if is_folder { import.folder(&relative) } else { import.file(&relative) }
}

/// How many bytes [`read`] would read.
pub(crate) fn size(root: &Path, roots: Option<&[String]>, path: &str) -> Result<u64, Refused> {
    let (root, relative) = place(root, roots, path)?;
    let (import, is_folder) = open(&root, &relative, path)?;
    let mut files = Vec::new();
    match is_folder {
        true => import.list(&relative, Path::new(""), 0, &mut files)?,
        false => files.push(PathBuf::new()),
    }
    let size = |file: &PathBuf| {
        let file = if file.as_os_str().is_empty() { relative.clone() } else { relative.join(file) };
        import.dir.metadata(&file).map_or(0, |metadata| metadata.len())
    };
    Ok(files.iter().map(size).sum())
}

/// The folder that a path must not leave, and the path relative to it.
fn place(root: &Path, roots: Option<&[String]>, path: &str) -> Result<(PathBuf, PathBuf), Refused> {
    let relative = below(root, path)?;
    match roots {
        None => Ok((root.to_owned(), relative)),
        Some(roots) => within(roots, &relative, path).map(|(folder, relative)| (root.join(folder), relative)),
    }
}

/// The folder that contains a path, and the path relative to it: no link in the folder leads out of it.
fn within(roots: &[String], relative: &Path, path: &str) -> Result<(PathBuf, PathBuf), Refused> {
    let plain: PathBuf = relative.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let folders = roots.iter().map(|folder| folder.trim_matches('/'));
    let found = folders.filter_map(|folder| Some((PathBuf::from(folder), plain.strip_prefix(folder).ok()?))).next();
    let (folder, rest) = found.ok_or_else(|| {
        format!(
            "`{path}` in document_path lies in none of the folders that jobs of this type may read (`document_roots`: \
             {}); put the document there",
            roots.join(", ")
        )
    })?;
    Ok((folder, if rest.as_os_str().is_empty() { PathBuf::from(".") } else { rest.to_owned() }))
}

fn open<'a>(root: &'a Path, relative: &Path, path: &'a str) -> Result<(Import<'a>, bool), Refused> {
    let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(|error| {
        format!("the import folder {} cannot be opened ({error}); create it and put `{path}` there", root.display())
    })?;
    let import = Import { dir, root, path };
    let metadata = import.dir.metadata(relative).map_err(|error| import.refuse(path, &error))?;
    Ok((import, metadata.is_dir()))
}

/// `path` relative to the import folder. An absolute path is allowed if it lies within.
fn below(root: &Path, path: &str) -> Result<PathBuf, Refused> {
    if path.trim().is_empty() {
        return Err("document_path is empty; name a file or folder under the import folder or leave it out".into());
    }
    let outside = || {
        format!("`{path}` in document_path leads outside the import folder {}; put the document there", root.display())
    };
    let given = Path::new(path);
    let relative = if given.is_absolute() {
        let canonical = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let inside = given.strip_prefix(root).or_else(|_| given.strip_prefix(&canonical));
        inside.map_err(|_| outside())?
    } else {
        given
    };
    if path.contains('\0')
        || relative.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(outside());
    }
    Ok(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative.to_owned() })
}

/// A normal form of names that people's file systems treat as equal: case, and composed or decomposed letters.
pub(crate) fn alike(name: &str) -> String {
    composed(&composed(name).to_lowercase()).into_owned()
}

/// cap-std's error for a path or link that leads out has no errno.
fn leads_outside(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// A path in a form that can be stored and shown.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace(is_odd, "\u{fffd}")
}

/// Whether no tool can name a file with this character.
fn is_odd(character: char) -> bool {
    character.is_control() || character == '\\'
}

/// Whether a tool can name the file: white space at the end of a path belongs to no name.
fn is_readable(file: &Path) -> bool {
    file.to_str().is_some_and(|name| !name.contains(is_odd) && !name.ends_with(char::is_whitespace))
}

fn unreadable(file: &Path) -> Refused {
    let shown = shown(file);
    format!("`{shown}` is no readable file name; rename it with plain characters and without white space at its end")
}

struct Import<'a> {
    dir: Dir,
    root: &'a Path,
    path: &'a str,
}

impl Import<'_> {
    fn file(&self, relative: &Path) -> Result<Vec<Document>, Refused> {
        let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or("document").to_owned();
        if !is_readable(Path::new(&name)) {
            return Err(unreadable(Path::new(&name)));
        }
        let bytes = self.bytes(relative, MOST_BYTES)?;
        Ok(vec![Document::new(name, bytes)])
    }

    fn folder(&self, relative: &Path) -> Result<Vec<Document>, Refused> {
        let mut files = Vec::new();
        self.list(relative, Path::new(""), 0, &mut files)?;
        if files.is_empty() {
            return Err(format!("the folder `{}` in document_path has no files; put the documents there", self.path));
        }
        files.sort();
        let mut left = MOST_BYTES;
        let mut documents: Vec<Document> = Vec::with_capacity(files.len());
        let mut names = HashMap::new();
        for file in files {
            let shown = shown(&file);
            let content = match self.entry(relative, &file, left)? {
                Ok(bytes) => match names.insert(alike(&shown), shown.clone()) {
                    None => Content::Bytes(bytes),
                    Some(twin) => Content::Unread(format!(
                        "the names `{twin}` and `{shown}` are told apart by no folder that people see, so that only the first \
                         was taken in; rename one of them"
                    )),
                },
                Err(reason) => Content::Unread(reason),
            };
            let document = Document { name: shown, content };
            left -= document.size();
            documents.push(document);
        }
        Ok(documents)
    }

    /// A file of a folder, or why it cannot be read: that does not stop the others. A path that leads outside, or a
    /// size beyond the bound, does.
    fn entry(&self, relative: &Path, file: &Path, left: u64) -> Result<Result<Vec<u8>, Refused>, Refused> {
        if !is_readable(file) {
            return Ok(Err(unreadable(file)));
        }
        let path = relative.join(file);
        match self.dir.metadata(&path) {
            Err(error) if leads_outside(&error) => Err(self.refuse(&path.display().to_string(), &error)),
            Err(error) => Ok(Err(self.not_had(&path, &error))),
            Ok(metadata) if !metadata.is_file() => Ok(self.bytes(&path, left)),
            Ok(_) => match self.dir.open(&path) {
                Err(error) if !leads_outside(&error) => Ok(Err(self.not_had(&path, &error))),
                _ => self.bytes(&path, left).map(Ok),
            },
        }
    }

    /// Why an entry of a folder cannot be read: usually a dangling link.
    fn not_had(&self, path: &Path, error: &io::Error) -> Refused {
        let shown = shown(path);
        let is_link = self.dir.symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        match error.kind() {
            _ if is_link && error.kind() != io::ErrorKind::PermissionDenied => {
                format!(
                    "`{shown}` is a link to a file that is not there; put the document itself there, or remove the link"
                )
            }
            _ => self.refuse(&shown, error),
        }
    }

    /// Collects the files below a folder. Names that begin with a dot belong to the system and are not documents.
    fn list(&self, start: &Path, below: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Refused> {
        let folder = start.join(below);
        let refuse = |error: io::Error| self.refuse(&folder.display().to_string(), &error);
        for entry in self.dir.read_dir(&folder).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = below.join(name);
            // Links are followed, so that one to a document works and one that leads outside is refused by name.
            let shown = start.join(&path);
            let metadata = match self.dir.metadata(&shown) {
                Err(error) if leads_outside(&error) => return Err(self.refuse(&shown.display().to_string(), &error)),
                found => found.ok(),
            };
            // An entry without metadata is reported when it is read.
            if !metadata.is_some_and(|metadata| metadata.is_dir()) {
                files.push(path);
            } else if depth == DEEPEST {
                return Err(format!(
                    "`{}` is nested too deep (more than {DEEPEST} folders); flatten it",
                    shown.display()
                ));
            } else {
                self.list(start, &path, depth + 1, files)?;
            }
            if files.len() > MOST_FILES {
                return Err(format!("`{}` has more than {MOST_FILES} files; split the job", self.path));
            }
        }
        Ok(())
    }

    fn bytes(&self, relative: &Path, most: u64) -> Result<Vec<u8>, Refused> {
        let shown = relative.display().to_string();
        // Opening a pipe would wait for a writer, so the type is checked first.
        let metadata = self.dir.metadata(relative).map_err(|error| self.refuse(&shown, &error))?;
        if !metadata.is_file() {
            return Err(format!("`{shown}` under the import folder is no regular file; supply a copy of the document"));
        }
        let file = self.dir.open(relative).map_err(|error| self.refuse(&shown, &error))?;
        // Growing by doubling would need twice the document's size at the end.
        let expected = usize::try_from(metadata.len().min(most) + 1).unwrap_or_default();
        let mut bytes = Vec::with_capacity(expected);
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| self.refuse(&shown, &error))?;
        if bytes.len() as u64 > most {
            let limit = MOST_BYTES >> 20;
            return Err(format!(
                "the documents of `{}` are larger than {limit} MiB together; split the job",
                self.path
            ));
        }
        Ok(bytes)
    }

    fn refuse(&self, shown: &str, error: &io::Error) -> Refused {
        let root = self.root.display();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                format!(
                    "the document `{shown}` was not found under the import folder {root}; put it there or correct document_path"
                )
            }
            _ if leads_outside(error) => {
                format!(
                    "`{shown}` is a link that leads outside the import folder {root}; put the document itself there"
                )
            }
            _ => format!(
                "the document `{shown}` under the import folder {root} could not be read ({error}); make it readable"
            ),
        }
    }
}
