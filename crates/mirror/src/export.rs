//! Writes a job's workspace from rows to a folder of the user's choice (`plumbline export`).

use super::folder::Folder;
use plumbline_bounds::blocking::on_files;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder is not empty.
    #[error("the folder {0} is not empty; give a new or an empty one")]
    NotEmpty(PathBuf),
    /// The system refused.
    #[error("{path} could not be written ({source}); check the folder's permissions and space")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Writes `files` (workspace path and content) to `dir`, which is created or must be empty. Returns their number.
///
/// # Errors
/// See [`ExportError`]; files written before the error are kept.
pub async fn export(
    dir: &Path,
    files: impl IntoIterator<Item = (String, Vec<u8>)> + Send + 'static,
) -> Result<usize, ExportError> {
    let dir = dir.to_owned();
    let path = dir.clone();
    let done = on_files(move || write_all(&dir, files)).await;
    done.unwrap_or_else(|error| Err(ExportError::Io { path, source: io::Error::other(error) }))
}

fn write_all(dir: &Path, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<usize, ExportError> {
    let failed = |path: PathBuf| move |source: io::Error| ExportError::Io { path, source };
    if dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(ExportError::NotEmpty(dir.to_owned()));
    }
    let folder = Folder::at(dir).map_err(failed(dir.to_owned()))?;
    let mut count = 0;
    for (path, content) in files {
        folder.put(&path, &content).map_err(failed(dir.join(&path)))?;
        count += 1;
    }
    // An export is a plain folder, not a mirror.
    folder.dir.remove_dir_all(super::real_dir::META_DIR).map_err(failed(dir.join(super::real_dir::META_DIR)))?;
    Ok(count)
}
