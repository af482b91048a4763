//! Showing one step.

use super::{
    Applied, FileEvent, MirrorTrouble,
    folder::Folder,
    marker::{self, Marker},
};

/// Writes what the step changed. One bad file does not keep the others from being shown. A folder without a marker is
/// not the one that a repair left, and lacks more than this step.
pub(super) fn apply(folder: &Folder, epoch: i64, step: i64, events: Vec<FileEvent>) -> Result<Applied, MirrorTrouble> {
    let Some(marker) = marker::read(folder) else {
        return Ok(Applied::Wiped);
    };
    if !claim(folder, epoch, Some(marker))? {
        return Ok(Applied::Stale);
    }
    let mut troubles = Vec::new();
    for event in events {
        match show(folder, epoch, event) {
            Ok(Applied::Written) => {}
            Ok(left) => return Ok(left),
            Err(trouble) => troubles.push(trouble),
        }
    }
    MirrorTrouble::of_all(troubles)?;
    if marker.done || !marker::is_young(folder) {
        marker::write(folder, Marker { epoch, step, done: false })?;
    }
    Ok(Applied::Written)
}

/// Says whose folder it is before the first file is written, so that an older worker stops from here on. The step
/// stays: how far the files have got is only known after they are written.
pub(super) fn claim(folder: &Folder, epoch: i64, marker: Option<Marker>) -> Result<bool, MirrorTrouble> {
    match marker {
        Some(marker) if marker.epoch > epoch => Ok(false),
        Some(marker) if marker.epoch == epoch => Ok(true),
        older => marker::write(folder, Marker { epoch, step: older.map_or(0, |marker| marker.step), done: false })
            .map(|()| true),
    }
}

pub(super) fn show(folder: &Folder, epoch: i64, event: FileEvent) -> Result<Applied, MirrorTrouble> {
    let ours = || !marker::is_stale(folder, epoch);
    match event {
        FileEvent::Written { path, content } => match folder.put(&path, &content, ours) {
            Ok(true) => Ok(Applied::Written),
            Ok(false) => Ok(Applied::Stale),
            Err(error) => Err(MirrorTrouble::at("write", &path, &error)),
        },
        FileEvent::Deleted { .. } if !ours() => Ok(Applied::Stale),
        FileEvent::Deleted { path } => match folder.remove(&path) {
            Ok(()) => Ok(Applied::Written),
            Err(error) => Err(MirrorTrouble::at("delete", &path, &error)),
        },
    }
}
