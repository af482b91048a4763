//! Compares the folder with the rows.

use super::{Finds, Found, IndexEntry, MirrorTrouble, folder::Folder, real_dir::META_DIR};
use cap_std::{
    fs::{Dir, Metadata, MetadataExt as _},
    time::SystemClock,
};
use sha2::{Digest, Sha256};
use std::{
    collections::{HashMap, HashSet},
    io::{self, Read as _},
    time::Duration,
};

/// The folder in which people may put files.
const INPUT: &str = "input/";
/// Maximum files imported by one scan, and their maximum total bytes, which is also the maximum of one file. The next
/// scan continues with the rest: each scan is a step of the job and is held in memory.
const MOST_FOUND: usize = 100;
const MOST_FOUND_BYTES: u64 = 128 << 20;
/// A more recent file may be copied incompletely.
const SETTLING: Duration = Duration::from_secs(1);
/// Deeper folders are not scanned; the job's own are two or three deep.
const DEEPEST: usize = 32;

/// The result of a scan of the folder.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// Files of the index that are missing or differ.
    pub(crate) wanted: Vec<String>,
    /// Orphans: files, links and other entries without a row, outside `input/`.
    pub(crate) strays: Vec<String>,
}

/// Compares the folder with the index.
pub(crate) fn diff(folder: &Folder, index: &[IndexEntry]) -> Result<Diff, MirrorTrouble> {
    let present: HashMap<String, bool> = walk(&folder.dir, "")?.into_iter().collect();
    let known: HashSet<&str> = index.iter().map(|entry| entry.path.as_str()).collect();
    let is_as_it_should = |entry: &IndexEntry| present.get(&entry.path) == Some(&true) && same(&folder.dir, entry);
    let wanted = index.iter().filter(|entry| !is_as_it_should(entry)).map(|entry| entry.path.clone()).collect();
    let mut strays: Vec<String> =
        present.keys().filter(|path| !known.contains(path.as_str()) && !path.starts_with(INPUT)).cloned().collect();
    strays.sort();
    Ok(Diff { wanted, strays })
}

/// New files under `input/` that are stable, up to the limit of one scan.
pub(crate) fn found(folder: &Folder, known: &HashSet<String>) -> Result<Finds, MirrorTrouble> {
    let (mut found, mut room) = (Finds::default(), MOST_FOUND_BYTES);
    if folder.dir.symlink_metadata("input").is_ok_and(|metadata| metadata.is_dir()) {
        let mut files = walk(&folder.dir, "input")?;
        files.sort();
        for (path, is_file) in files {
            let hidden = path.split('/').any(|part| part.starts_with('.'));
            if is_file && !hidden && !known.contains(&path) && found.files.len() < MOST_FOUND {
                match take(&folder.dir, &path, room)? {
                    Taken::Bytes(bytes) => {
                        room -= bytes.len() as u64;
                        found.files.push(Found { path, bytes });
                    }
                    Taken::Linked => found.linked.push(path),
                    Taken::Later => {}
                }
            }
        }
    }
    Ok(found)
}

/// The result for a file in a scan.
enum Taken {
    Bytes(Vec<u8>),
    /// It has several hard links.
    Linked,
    /// It is not stable, or exceeds the limit of the scan.
    Later,
}

fn take(dir: &Dir, path: &str, room: u64) -> Result<Taken, MirrorTrouble> {
    let read = || -> io::Result<Taken> {
        let file = dir.open(path)?;
        let metadata = file.metadata()?;
        if metadata.nlink() > 1 {
            return Ok(Taken::Linked);
        }
        if !is_settled(&metadata) || metadata.len() > room {
            return Ok(Taken::Later);
        }
        let mut bytes = Vec::new();
        // It may grow while it is read; then it is not stable.
        file.take(room + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() as u64 <= room { Taken::Bytes(bytes) } else { Taken::Later })
    };
    read().map_err(|error| MirrorTrouble::at("read", path, &error))
}

/// A time in the future comes from another machine's clock and is ignored.
fn is_settled(metadata: &Metadata) -> bool {
    let now = SystemClock::new(cap_std::ambient_authority()).now();
    metadata.modified().map_or(true, |at| now.duration_since(at).map_or(true, |age| age >= SETTLING))
}

fn same(dir: &Dir, entry: &IndexEntry) -> bool {
    let Ok(metadata) = dir.metadata(&entry.path) else { return false };
    metadata.len() == entry.size && dir.open(&entry.path).and_then(hash).is_ok_and(|hash| hash == entry.sha256)
}

fn hash(mut file: impl io::Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher)?;
    Ok(hex::encode(hasher.finalize()))
}

/// Everything below `start` except folders, with whether it is a regular file. Links are not followed.
fn walk(dir: &Dir, start: &str) -> Result<Vec<(String, bool)>, MirrorTrouble> {
    let mut entries = Vec::new();
    let mut folders = vec![(start.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let place = if folder.is_empty() { "." } else { &folder };
        let trouble = |error: io::Error| MirrorTrouble::at("list", place, &error);
        for entry in dir.read_dir(place).map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            // A name that is not UTF-8 cannot be in a row; it is left alone.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(trouble)?;
            match kind.is_dir() {
                true if path == META_DIR || depth == DEEPEST => {}
                true => folders.push((path, depth + 1)),
                false => entries.push((path, kind.is_file())),
            }
        }
    }
    Ok(entries)
}
