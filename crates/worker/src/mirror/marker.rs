//! `.plumbline/mirror.json`: the lease epoch of the last writer, and the last step it showed.

use super::{MirrorTrouble, folder::Folder};
use serde::{Deserialize, Serialize};
use std::{io::Write as _, time::Duration};

pub(super) const MARKER: &str = ".plumbline/mirror.json";
/// A marker younger than this is not replaced for a newer step alone: it shows that somebody is at work, and the step is
/// one that the files have reached at least.
const YOUNG: Duration = Duration::from_secs(5);
const NEW_MARKER: &str = ".plumbline/mirror.json.new";

/// Whose view the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    /// Lease epoch of the writer.
    pub(super) epoch: i64,
    /// A step whose files are all there; those of the last seconds may be too.
    pub(super) step: i64,
    /// Whether the writer said that nothing more comes: the job has left it and everything is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) done: bool,
}

/// Reads the marker. A missing or unreadable one counts as none: the rows decide, and a repair follows.
pub(super) fn read(folder: &Folder) -> Option<Marker> {
    serde_json::from_slice(&folder.dir.read(MARKER).ok()?).ok()
}

/// Whether a worker with a newer epoch has written.
pub(super) fn is_stale(folder: &Folder, epoch: i64) -> bool {
    read(folder).is_some_and(|marker| marker.epoch > epoch)
}

/// Whether the marker was written within the last seconds. A time in the future comes from another machine's clock and
/// says nothing.
pub(super) fn is_young(folder: &Folder) -> bool {
    let age = || {
        let written = folder.dir.symlink_metadata(MARKER).ok()?.modified().ok()?.into_std();
        written.elapsed().ok()
    };
    age().is_some_and(|age| age < YOUNG)
}

/// Replaces the marker as a whole. It is not flushed to the disk: a machine that loses its power may keep an older one,
/// or none, and both only mean that somebody makes the folder equal to the rows once more.
pub(super) fn write(folder: &Folder, marker: Marker) -> Result<(), MirrorTrouble> {
    let replace = || {
        let mut file = folder.dir.create(NEW_MARKER)?;
        file.write_all(&serde_json::to_vec(&marker).expect("two numbers can be written as JSON"))?;
        folder.dir.rename(NEW_MARKER, &folder.dir, MARKER)
    };
    replace().map_err(|error| MirrorTrouble::at("write", MARKER, &error))
}
