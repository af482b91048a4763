//! `.plumbline/mirror.json`: the lease epoch of the last writer, and the last step it showed.

use super::{MirrorTrouble, folder::Folder};
use serde::{Deserialize, Serialize};
use std::io::Write as _;

pub(super) const MARKER: &str = ".plumbline/mirror.json";
const NEW_MARKER: &str = ".plumbline/mirror.json.new";

/// Whose view the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    /// Lease epoch of the writer.
    pub(super) epoch: i64,
    /// Last step whose files are all there.
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

/// Replaces the marker as a whole.
pub(super) fn write(folder: &Folder, marker: Marker) -> Result<(), MirrorTrouble> {
    let replace = || {
        let mut file = folder.dir.create(NEW_MARKER)?;
        file.write_all(&serde_json::to_vec(&marker).expect("two numbers can be written as JSON"))?;
        file.sync_all()?;
        folder.dir.rename(NEW_MARKER, &folder.dir, MARKER)
    };
    replace().map_err(|error| MirrorTrouble::at("write", MARKER, &error))
}
