//! `.plumbline/mirror.json`: the row that the folder belongs to, the lease epoch of the last writer, and the last step it
//! showed.

use super::{MirrorTrouble, folder::Folder};
use cap_std::fs::{Metadata, MetadataExt as _};
use serde::{Deserialize, Serialize};
use std::{
    io::{Read as _, Write as _},
    time::Duration,
};

pub(crate) const MARKER: &str = ".plumbline/mirror.json";
/// A marker younger than this is not replaced for a newer step alone: it shows that somebody is at work, and the step is
/// one that the files have reached at least.
const YOUNG: Duration = Duration::from_secs(5);
/// The names within the mirror's own folder.
const NAME: &str = "mirror.json";
const NEW: &str = "mirror.json.new";

/// Who writes a folder; the later one is the greater one. An id may come again with another row, whose folder is not that of
/// the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriterId {
    /// When the job's row was inserted, in microseconds since 1970.
    pub row: i64,
    /// Lease epoch of the worker that has it.
    pub epoch: i64,
}

/// Whose view the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// When the job's row was inserted, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub row: i64,
    /// Lease epoch of the writer.
    pub epoch: i64,
    /// A step whose files are all there; those of the last seconds may be too.
    pub step: i64,
    /// Whether the writer said that nothing more comes: the job has left it and everything is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

impl Marker {
    /// Who wrote it.
    pub fn writer(&self) -> WriterId {
        WriterId { row: self.row, epoch: self.epoch }
    }

    pub(crate) fn of(writer: WriterId, step: i64) -> Self {
        Self { row: writer.row, epoch: writer.epoch, step, done: false }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(row: &i64) -> bool {
    *row == 0
}

/// The marker as a writer has found it.
pub(crate) struct Seen {
    pub(crate) marker: Marker,
    /// Whether it was written within the last seconds. A time in the future comes from another machine's clock and says
    /// nothing.
    pub(crate) young: bool,
    stamp: Stamp,
}

/// What changes whenever the marker is replaced: the file, and when.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, i64, i64);

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self(metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
    }
}

/// Keeps a worker that lost the job from writing.
pub(crate) struct Fence {
    writer: WriterId,
    /// The marker that was found to be no newer worker's.
    passed: Option<Stamp>,
}

impl Fence {
    /// A writer's, by what it has `seen` of the marker before.
    pub(crate) fn new(writer: WriterId, seen: Option<&Seen>) -> Self {
        let passed = seen.filter(|seen| seen.marker.writer() <= writer).map(|seen| seen.stamp);
        Self { writer, passed }
    }

    /// Whether no later writer has written. The marker is read only when it is another file than before.
    pub(crate) fn is_open(&mut self, folder: &Folder) -> bool {
        let stamp = folder.own.symlink_metadata(NAME).ok().map(|metadata| Stamp::of(&metadata));
        if stamp.is_some() && stamp == self.passed {
            return true;
        }
        let open = read(folder).is_none_or(|marker| marker.writer() <= self.writer);
        self.passed = stamp.filter(|_| open);
        open
    }
}

/// Reads the marker. A missing or unreadable one counts as none: the rows decide, and a repair follows.
pub(crate) fn read(folder: &Folder) -> Option<Marker> {
    see(folder).map(|seen| seen.marker)
}

/// Reads the marker and what a fence needs of it.
pub(crate) fn see(folder: &Folder) -> Option<Seen> {
    let mut file = folder.own.open(NAME).ok()?;
    let metadata = file.metadata().ok()?;
    let mut text = Vec::with_capacity(128);
    file.read_to_end(&mut text).ok()?;
    let age = metadata.modified().ok()?.into_std().elapsed();
    Some(Seen {
        marker: serde_json::from_slice(&text).ok()?,
        young: age.is_ok_and(|age| age < YOUNG),
        stamp: Stamp::of(&metadata),
    })
}

/// Replaces the marker as a whole. It is not flushed to the disk: a machine that loses its power may keep an older one,
/// or none, and both only mean that somebody makes the folder equal to the rows once more.
pub(crate) fn write(folder: &Folder, marker: Marker) -> Result<(), MirrorTrouble> {
    let replace = || {
        let mut file = folder.own.create(NEW)?;
        file.write_all(&serde_json::to_vec(&marker).expect("two numbers can be written as JSON"))?;
        folder.own.rename(NEW, &folder.own, NAME)
    };
    replace().map_err(|error| MirrorTrouble::at("write", MARKER, &error))
}

/// Takes back that everything is shown, whoever said so: somebody makes the folder equal to the rows once more.
pub(crate) fn reopen(folder: &Folder) -> Result<(), MirrorTrouble> {
    match read(folder) {
        Some(marker) if marker.done => write(folder, Marker { done: false, ..marker }),
        _ => Ok(()),
    }
}
