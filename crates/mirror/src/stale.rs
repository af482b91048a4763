//! Folders whose writer died before everything was shown. While the job goes on, its next worker repairs them; a job that
//! ended with the last thing its worker did has no next worker, so somebody has to look.

use super::{
    Mirror,
    marker::{self, Marker},
};
use plumbline_bounds::blocking::on_files;
use std::{fs, io::ErrorKind, path::Path, time::Duration};
use uuid::Uuid;

/// A folder of which no writer has said that it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleFolder {
    /// The job.
    pub job: Uuid,
    /// The row that it belongs to; see [`crate::WriterId`].
    pub row: i64,
    /// Lease epoch of the last writer.
    pub epoch: i64,
    /// Last step that is shown.
    pub step: i64,
}

impl Mirror {
    /// Folders that were last written longer ago than `silence` and are not finished. A folder that cannot be read is
    /// passed over.
    pub async fn stale(&self, silence: Duration) -> Vec<StaleFolder> {
        let root = self.root.clone();
        let found = on_files(move || scan(&root, silence)).await;
        found.unwrap_or_default()
    }
}

fn scan(root: &Path, silence: Duration) -> Vec<StaleFolder> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    entries.flatten().filter_map(|entry| look(root, entry.file_name().to_str()?, silence)).collect()
}

/// A folder without a marker, e.g. because somebody removed it under the worker that died, shows nothing of anybody's:
/// epoch 0, so that whoever has the job is in the right.
fn look(root: &Path, name: &str, silence: Duration) -> Option<StaleFolder> {
    let job = name.strip_prefix("job_")?.parse().ok()?;
    let folder = root.join(name);
    let path = folder.join(marker::MARKER);
    let (written, marker) = match fs::symlink_metadata(&path) {
        Ok(metadata) => (metadata.modified().ok()?, serde_json::from_slice(&fs::read(path).ok()?).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            (fs::symlink_metadata(folder).ok()?.modified().ok()?, None)
        }
        Err(_) => return None,
    };
    let marker = marker.unwrap_or(Marker { row: 0, epoch: 0, step: 0, done: false });
    let silent = written.elapsed().unwrap_or_default() >= silence;
    (!marker.done && silent).then_some(StaleFolder { job, row: marker.row, epoch: marker.epoch, step: marker.step })
}
