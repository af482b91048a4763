//! `.plumbline/mirror.json`: the row of the folder, the lease epoch of the last writer, and its last applied step.

use super::{MirrorTrouble, folder::Folder};
use serde::{Deserialize, Serialize};
use std::{
    io::{Read as _, Write as _},
    time::Duration,
};

pub(crate) const MARKER: &str = ".plumbline/mirror.json";
/// A more recent marker is not replaced only for a newer step: it shows an active writer, and its step is a lower
/// bound.
const YOUNG: Duration = Duration::from_secs(5);
/// Names within the mirror's own folder.
const NAME: &str = "mirror.json";
const NEW: &str = "mirror.json.new";

/// Identifies the writer of a folder; later ones are greater. An id may be used again by another row, whose folder is
/// not that of the earlier row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriterId {
    /// When the job's row was inserted, in microseconds since 1970.
    pub row: i64,
    /// Lease epoch of the worker.
    pub epoch: i64,
}

/// The state of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// When the job's row was inserted, in microseconds since 1970.
    pub row: i64,
    /// Lease epoch of the writer.
    pub epoch: i64,
    /// A step whose files are complete; later steps may be too.
    pub step: i64,
    /// Whether the writer finished: the job has left it and everything is applied.
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

/// The marker as read by a writer.
pub(crate) struct Seen {
    pub(crate) marker: Marker,
    /// Whether it was written within the last seconds. A time in the future comes from another machine's clock and is
    /// ignored.
    pub(crate) young: bool,
}

/// Whether no later writer has written.
pub(crate) fn is_open(folder: &Folder, writer: WriterId) -> bool {
    read(folder).is_none_or(|marker| marker.writer() <= writer)
}

/// Reads the marker. A missing or unreadable one counts as none: the rows decide, and a repair follows.
pub(crate) fn read(folder: &Folder) -> Option<Marker> {
    see(folder).map(|seen| seen.marker)
}

/// Reads the marker, and whether it is young.
pub(crate) fn see(folder: &Folder) -> Option<Seen> {
    let mut file = folder.own.open(NAME).ok()?;
    let metadata = file.metadata().ok()?;
    let mut text = Vec::with_capacity(128);
    file.read_to_end(&mut text).ok()?;
    let age = metadata.modified().ok()?.into_std().elapsed();
    Some(Seen { marker: serde_json::from_slice(&text).ok()?, young: age.is_ok_and(|age| age < YOUNG) })
}

/// Replaces the marker atomically, without fsync: after a power failure an older one, or none, may remain, and both
/// only mean another repair.
pub(crate) fn write(folder: &Folder, marker: Marker) -> Result<(), MirrorTrouble> {
    let replace = || {
        let mut file = folder.own.create(NEW)?;
        file.write_all(&serde_json::to_vec(&marker).expect("two numbers can be written as JSON"))?;
        folder.own.rename(NEW, &folder.own, NAME)
    };
    replace().map_err(|error| MirrorTrouble::at("write", MARKER, &error))
}

/// Clears the finished flag, so that the folder is repaired again.
pub(crate) fn reopen(folder: &Folder) -> Result<(), MirrorTrouble> {
    match read(folder) {
        Some(marker) if marker.done => write(folder, Marker { done: false, ..marker }),
        _ => Ok(()),
    }
}
