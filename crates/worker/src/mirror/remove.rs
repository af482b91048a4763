//! The end of a folder: its job's rows are gone, by `plumbline prune` or by a plain DELETE.

use super::Mirror;
use std::{fs, io};
use uuid::Uuid;

impl Mirror {
    /// Removes a job's folder with all that is in it; whether there was one. A link in its place is not followed.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub async fn remove(&self, job: Uuid) -> io::Result<bool> {
        let folder = self.path(job);
        let removed = self.threads.spawn(move || match fs::remove_dir_all(&folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        });
        removed.await.map_err(io::Error::other)?
    }
}
