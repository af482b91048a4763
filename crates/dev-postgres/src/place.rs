//! The place of a cluster: in the checkout if it is persistent, otherwise in a temporary folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::error::Error;

/// Prefix of the names of temporary clusters, by which a later start finds those left by a killed process.
pub(crate) const PREFIX: &str = "plumbline-pg-";
/// Prefix of the names of persistent clusters outside the checkout; never swept.
const LASTING_PREFIX: &str = "plumbline-lasting-pg-";
/// Their parent folder, which survives a reboot.
const LASTING_PARENT: &str = "/var/tmp";

/// The files of one cluster.
#[derive(Debug)]
pub(crate) struct Place {
    base: PathBuf,
    throw_away: bool,
}

impl Place {
    /// Creates the folder, in `wanted` or, for a temporary cluster, below the temporary folder.
    pub(crate) fn prepare(wanted: Option<&Path>, account: &Account) -> Result<Self, Error> {
        let base = match wanted {
            Some(wanted) => lasting_folder(wanted, account)?,
            None => temporary_folder(&throw_away_parent(account), PREFIX, 0o700)?,
        };
        let place = Self { base, throw_away: wanted.is_none() };
        if place.throw_away {
            account.own(&place.base)?;
        }
        place.refuse_foreign_data(account)?;
        Ok(place)
    }

    /// The temporary cluster in a folder that a killed process may have left; `None` if it is in use.
    pub(crate) fn abandoned(base: PathBuf) -> Option<Self> {
        let place = Self { base, throw_away: true };
        let users = File::open(place.users_lock()).ok()?;
        users.try_lock().is_ok().then_some(place)
    }

    /// The server's data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.base.join("data")
    }

    /// The folder of `initdb` until the cluster is complete.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.base.join("data.unfinished")
    }

    /// The server's log.
    pub(crate) fn log(&self) -> PathBuf {
        self.base.join("server.log")
    }

    /// The file with the password of the cluster's owner.
    pub(crate) fn password_file(&self) -> PathBuf {
        self.base.join("password")
    }

    fn users_lock(&self) -> PathBuf {
        self.base.join("users.lock")
    }

    /// Whether the cluster is deleted when it stops.
    pub(crate) fn is_throw_away(&self) -> bool {
        self.throw_away
    }

    /// Waits until no other process starts or stops this cluster; the turn ends when the file is dropped.
    pub(crate) async fn take_turn(&self) -> Result<File, Error> {
        let path = self.base.join("turn.lock");
        let file = open_lock(&path)?;
        let locked = plumbline_bounds::blocking::unbounded(move || file.lock().map(|()| file)).await;
        locked.expect("locking a file does not panic").map_err(Error::file("lock", &path))
    }

    /// Marks this process as a user of the server while the file is open. The lock file appears under its name only
    /// when it is locked, so that a sweep never treats a cluster in creation as abandoned.
    pub(crate) fn share(&self) -> Result<File, Error> {
        let path = self.users_lock();
        let made_at = if self.throw_away { path.with_extension("new") } else { path.clone() };
        let file = open_lock(&made_at)?;
        file.lock_shared().map_err(Error::file("lock", &path))?;
        if self.throw_away {
            fs::rename(&made_at, &path).map_err(Error::file("rename", &made_at))?;
        }
        Ok(file)
    }

    /// Releases a share and returns whether it was the last one. The caller holds the turn.
    pub(crate) fn is_last(&self, user: &File) -> Result<bool, Error> {
        user.unlock().map_err(Error::file("unlock", &self.users_lock()))?;
        Ok(user.try_lock().is_ok())
    }

    /// Deletes the folder of a throw-away cluster.
    pub(crate) fn discard_if_throw_away(&self) -> Result<(), Error> {
        match self.throw_away {
            true => fs::remove_dir_all(&self.base).map_err(Error::file("delete", &self.base)),
            false => Ok(()),
        }
    }

    fn refuse_foreign_data(&self, account: &Account) -> Result<(), Error> {
        let data = self.data();
        match data.metadata() {
            Ok(found) if found.uid() != account.uid => Err(Error::Folder {
                path: data,
                reason: format!(
                    "it belongs to user {} and the server runs as user {}; delete it or run as that user",
                    found.uid(),
                    account.uid
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// The parent of temporary clusters: the environment's temporary folder, or `/tmp` if the server's account cannot reach
/// that one.
pub(crate) fn throw_away_parent(account: &Account) -> PathBuf {
    Some(std::env::temp_dir()).filter(|parent| account.can_reach(parent)).unwrap_or_else(|| "/tmp".into())
}

/// The requested folder. If the server's account cannot reach it, such as beneath root's home, it becomes a symbolic
/// link to a folder that the account can reach.
fn lasting_folder(wanted: &Path, account: &Account) -> Result<PathBuf, Error> {
    let is_dangling = wanted.is_symlink() && !wanted.exists();
    if is_dangling {
        fs::remove_file(wanted).map_err(Error::file("delete", wanted))?;
    }
    fs::create_dir_all(wanted).map_err(Error::file("create", wanted))?;
    let found = wanted.canonicalize().map_err(Error::file("resolve", wanted))?;
    if account.can_reach(&found) {
        return Ok(found);
    }
    let elsewhere = temporary_folder(Path::new(LASTING_PARENT), LASTING_PREFIX, 0o711)?;
    fs::remove_dir(&found).map_err(Error::file("replace by a link", &found))?;
    symlink(&elsewhere, &found).map_err(Error::file("link", &found))?;
    eprintln!("The server's account cannot reach {}: it links to {}.", found.display(), elsewhere.display());
    Ok(elsewhere)
}

fn temporary_folder(parent: &Path, prefix: &str, mode: u32) -> Result<PathBuf, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(mode));
    Ok(builder.tempdir_in(parent).map_err(Error::file("write to", parent))?.keep())
}

fn open_lock(path: &Path) -> Result<File, Error> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(Error::file("open", path))
}

/// Deletes a file that may be missing.
pub(crate) fn remove_if_there(file: &Path) -> Result<(), Error> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file("delete", file)(error)),
        _ => Ok(()),
    }
}
