//! Removes the folder of a deleted job, after `plumbline prune` or a plain DELETE.

use super::Mirror;
use plumbline_bounds::blocking::on_files;
use std::{fs, io};
use uuid::Uuid;

impl Mirror {
    /// Removes a job's folder with its content; returns whether there was one. A link in its place is not followed.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub async fn remove(&self, job: Uuid) -> io::Result<bool> {
        let folder = self.path(job);
        let removed = on_files(move || gone(fs::remove_dir_all(folder)));
        removed.await.map_err(io::Error::other)?
    }
}

/// Whether there was something to remove.
fn gone(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
