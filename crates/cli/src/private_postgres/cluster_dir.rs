//! Where a cluster lies: in the checkout when it lasts, in a temporary folder when it does not.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::os_user::OsUser;
use super::{Options, files, run_folder};

/// The file in the folder that was asked for which names the folder that is used in its place; for `make clean-demo`.
const POINTER: &str = "moved-to";

/// The files of one cluster.
#[derive(Debug, Clone)]
pub(crate) struct ClusterDir {
    /// The folder of all of them.
    pub(crate) base: PathBuf,
    /// The server's data folder.
    pub(crate) data: PathBuf,
    /// The server's log.
    pub(crate) log: PathBuf,
    /// Held shared by each process that uses the server.
    pub(crate) users_lock: PathBuf,
    /// Whether `base` is a temporary folder, deleted when the server stops.
    pub(crate) ephemeral: bool,
}

impl ClusterDir {
    /// Makes the folders. A lasting cluster moves out of a checkout that the server's account cannot reach, such as
    /// one beneath root's home, and says so.
    pub(crate) fn prepare(options: &Options, account: &OsUser) -> Result<Self, Error> {
        let base = if options.ephemeral {
            run_folder::make_temporary(account)?
        } else {
            lasting_folder(&options.dir, account)?
        };
        let place = Self {
            data: base.join("data"),
            log: base.join("server.log"),
            users_lock: base.join("users.lock"),
            ephemeral: options.ephemeral,
            base,
        };
        place.refuse_foreign_data(account)?;
        Ok(place)
    }

    /// Waits until no other process starts or stops this cluster; the turn ends when the file is dropped.
    pub(crate) async fn take_turn(&self) -> Result<File, Error> {
        files::lock_exclusive(&self.base.join("start.lock")).await
    }

    /// Deletes the folder of a throw-away cluster that was not even begun.
    pub(crate) fn discard_if_ephemeral(&self) {
        if self.ephemeral {
            // Best effort; the error that led here is the one to tell.
            let _ = fs::remove_dir_all(&self.base);
        }
    }

    /// The file with the cluster's password.
    pub(crate) fn password_file(&self) -> PathBuf {
        self.base.join("password")
    }

    fn refuse_foreign_data(&self, account: &OsUser) -> Result<(), Error> {
        match self.data.metadata() {
            Ok(found) if !account.is_owner(&found) => Err(Error::ClusterDir {
                path: self.data.clone(),
                reason: format!(
                    "it belongs to user {} and this runs as user {}; delete it or run as that user",
                    found.uid(),
                    account.uid()
                ),
            }),
            _ => Ok(()),
        }
    }
}

fn lasting_folder(wanted: &Path, account: &OsUser) -> Result<PathBuf, Error> {
    fs::create_dir_all(wanted).map_err(Error::file("create", wanted))?;
    let wanted = wanted.canonicalize().map_err(Error::file("resolve", wanted))?;
    if account.can_reach(&wanted) {
        return Ok(wanted);
    }
    let instead = outside_the_checkout(&wanted, account)?;
    let pointer = wanted.join(POINTER);
    fs::write(&pointer, instead.as_os_str().as_encoded_bytes()).map_err(Error::file("write", &pointer))?;
    eprintln!(
        "The server's account cannot reach {}: the private Postgres keeps its data in {}.",
        wanted.display(),
        instead.display()
    );
    Ok(instead)
}

/// A folder that lasts over reboots, is found again by the next run, and cannot be prepared by somebody else.
fn outside_the_checkout(wanted: &Path, account: &OsUser) -> Result<PathBuf, Error> {
    let mut hasher = DefaultHasher::new();
    wanted.hash(&mut hasher);
    let folder = PathBuf::from("/var/tmp").join(format!("plumbline-{}-{:016x}", account.uid(), hasher.finish()));
    match fs::DirBuilder::new().mode(0o711).create(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::file("create", &folder)(error));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(&folder).map_err(Error::file("examine", &folder))?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::ClusterDir {
            path: folder,
            reason: "it is not a folder of this user; remove it".to_owned(),
        });
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o711)).map_err(Error::file("open up", &folder))?;
    Ok(folder)
}
