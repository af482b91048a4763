//! The short temporary folder of a running server: its socket, whose path may not pass about 107 bytes, and the pipe
//! that its users hold. An ephemeral cluster keeps its data there too.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::cluster_dir::ClusterDir;
use super::error::Error;
use super::os_user::OsUser;

/// The beginning of these folders' names, by which left-overs are recognised.
pub(crate) const PREFIX: &str = "plumbline-pg-";

/// A socket's path is limited; this leaves room for the random part and `/.s.PGSQL.65535`.
const LONGEST_PARENT: usize = 60;

/// The temporary folder to use: the environment's, or `/tmp` when that one is too deep for a socket or closed to the
/// server's account.
pub(crate) fn parent(account: &OsUser) -> PathBuf {
    let wanted = std::env::temp_dir();
    let usable = wanted.is_absolute() && wanted.as_os_str().len() <= LONGEST_PARENT && account.can_reach(&wanted);
    if usable { wanted } else { PathBuf::from("/tmp") }
}

/// Makes a new temporary folder that only the server's account can enter.
pub(crate) fn make_temporary(account: &OsUser) -> Result<PathBuf, Error> {
    let parent = parent(account);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
    let made = builder.tempdir_in(&parent).map_err(Error::file("write to", &parent))?;
    let folder = made.keep();
    account.own(&folder)?;
    Ok(folder)
}

/// The run folder for a start of this cluster: its own folder when it is ephemeral, else a new one.
pub(crate) fn create(place: &ClusterDir, account: &OsUser) -> Result<PathBuf, Error> {
    if place.ephemeral { Ok(place.base.clone()) } else { make_temporary(account) }
}

/// The users' pipe in a run folder.
pub(crate) fn pipe(run: &Path) -> PathBuf {
    run.join("users.pipe")
}
