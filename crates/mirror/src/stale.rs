//! Folders whose writer died before everything was applied. If the job continues, its next worker repairs them; a job
//! that ended with its worker's last step has no next worker, so the folders must be searched for.

use super::{
    Mirror,
    marker::{self, Marker},
};
use plumbline_bounds::blocking::on_files;
use std::{fs, io::ErrorKind, path::Path, time::Duration};
use uuid::Uuid;

/// A folder without the finished flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleFolder {
    /// The job.
    pub job: Uuid,
    /// Its row; see [`crate::WriterId`].
    pub row: i64,
    /// Lease epoch of the last writer.
    pub epoch: i64,
    /// Last applied step.
    pub step: i64,
}

impl Mirror {
    /// Unfinished folders that were not written for `silence`. An unreadable folder is skipped.
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

/// A folder without a marker, e.g. because it was deleted before the worker died, has epoch 0, so that any worker with
/// the job may write it.
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
