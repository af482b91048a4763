//! What earlier runs left: a server that still runs, a pid file of a server that does not, and temporary folders whose
//! guard was killed.

use std::path::Path;
use std::time::{Duration, Instant};

use super::cluster_dir::ClusterDir;
use super::error::Error;
use super::guard::Hold;
use super::os_user::OsUser;
use super::postmaster::{LOOK_EVERY, Postmaster};
use super::run_folder;
use super::server::{self, Server};

const STOP_WITHIN: Duration = Duration::from_secs(20);
/// A folder without a pipe may be one that is just being made.
const SURELY_ABANDONED: Duration = Duration::from_secs(3600);

/// Joins the server that runs on this cluster, or clears the way for a new one.
pub(crate) async fn join_or_clear(place: &ClusterDir) -> Result<Option<Server>, Error> {
    let pid_file = place.data.join("postmaster.pid");
    let Some(found) = Postmaster::read(&place.data) else {
        return remove_if_there(&pid_file).map(|()| None);
    };
    if found.lives(&place.data) {
        if let Some(server) = server::join(place, &found).await? {
            return Ok(Some(server));
        }
        // Its guard is gone or already stops it; either way it must not run on without one.
        stop(&found, &place.data).await?;
    }
    remove_if_there(&pid_file)?;
    Ok(None)
}

/// Stops a server that nobody guards, in order if it will and without if it must.
async fn stop(postmaster: &Postmaster, data: &Path) -> Result<(), Error> {
    for end in [Postmaster::stop_fast, Postmaster::stop_now] {
        end(postmaster);
        let deadline = Instant::now() + STOP_WITHIN;
        while Instant::now() < deadline {
            if !postmaster.lives(data) {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Err(Error::Stop { pid: postmaster.pid, secs: 2 * STOP_WITHIN.as_secs() })
}

/// Deletes temporary folders of ours that no guard watches any more, and stops what still runs in them. Best effort:
/// a folder that cannot be cleared now is met again at the next start.
pub(crate) fn sweep_temporary_folders(account: &OsUser) {
    let Ok(entries) = std::fs::read_dir(run_folder::parent(account)) else { return };
    for entry in entries.flatten() {
        let Ok(found) = entry.metadata() else { continue };
        let ours = entry.file_name().to_string_lossy().starts_with(run_folder::PREFIX)
            && found.is_dir()
            && account.is_owner(&found);
        if ours && is_abandoned(&entry.path(), &found) {
            clear(&entry.path());
        }
    }
}

fn is_abandoned(folder: &Path, found: &std::fs::Metadata) -> bool {
    if run_folder::pipe(folder).exists() {
        return Hold::join(folder).is_none();
    }
    let age = found.modified().ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > SURELY_ABANDONED)
}

fn clear(folder: &Path) {
    let data = folder.join("data");
    match Postmaster::read(&data) {
        // It needs a moment to stop; the folder goes at the next sweep.
        Some(running) if running.lives(&data) => running.stop_fast(),
        _ => drop(std::fs::remove_dir_all(folder)),
    }
}

fn remove_if_there(file: &Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("delete", file)(error)),
        _ => Ok(()),
    }
}
