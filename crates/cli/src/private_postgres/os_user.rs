//! Which account runs the server. Postgres refuses to run as root, and root is the usual user of a container or a CI
//! machine; there the server runs as `postgres` or, where that is missing, as `nobody`.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use tokio::process::Command;

use super::error::Error;

/// The accounts tried in this order when the user is root. Both must be in the system's user list: `initdb` looks its
/// own account up.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// The account of the server's processes and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OsUser {
    uid: u32,
    gid: u32,
    /// Whether it differs from the account of this process.
    switch: bool,
}

impl OsUser {
    /// Our own account, or for root another one: the owner of the data in a lasting cluster's folder, so that a cluster
    /// made by an ordinary user stays theirs, else the first of the candidates.
    pub(crate) async fn choose(lasting: Option<&Path>) -> Result<Self, Error> {
        let own =
            Self { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw(), switch: false };
        if own.uid != 0 {
            return Ok(own);
        }
        if let Some(dir) = lasting
            && let Ok(data) = dir.join("data").metadata()
            && data.uid() != 0
        {
            return Ok(Self { uid: data.uid(), gid: data.gid(), switch: true });
        }
        for name in CANDIDATES {
            if let (Some(uid), Some(gid)) = (id("-u", name).await, id("-g", name).await)
                && uid != 0
            {
                return Ok(Self { uid, gid, switch: true });
            }
        }
        Err(Error::Missing {
            reason: "PostgreSQL refuses to run as root".to_owned(),
            advice: "create an account for it (useradd --system postgres) or run this as an ordinary user".to_owned(),
        })
    }

    /// Prepares a command to run under this account, in a folder it can read and without the caller's `PG*`
    /// variables, which would send the client programs to another server.
    pub(crate) fn apply(&self, command: &mut Command) {
        if self.switch {
            command.uid(self.uid).gid(self.gid).env("HOME", "/");
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(&name);
            }
        }
        command.env("LC_ALL", "C").current_dir("/");
    }

    /// Gives a file or folder to this account.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        if self.switch {
            chown(path, Some(self.uid), Some(self.gid)).map_err(Error::file("give to the server's account", path))?;
        }
        Ok(())
    }

    /// Whether every folder on the way to `path`, which must exist and be absolute, lets this account pass.
    pub(crate) fn can_reach(&self, path: &Path) -> bool {
        !self.switch || path.ancestors().all(|folder| folder.metadata().is_ok_and(|found| self.may_enter(&found)))
    }

    /// Refuses a program folder that this account cannot enter, such as one beneath root's own home.
    pub(crate) fn require_access(&self, bin_dir: &Path) -> Result<(), Error> {
        if self.can_reach(bin_dir) {
            return Ok(());
        }
        Err(Error::Unusable {
            dir: bin_dir.to_path_buf(),
            reason: format!(
                "the server must run as user {} because Postgres refuses root, and that user cannot enter the folder; \
                 install PostgreSQL where everybody can read it",
                self.uid
            ),
        })
    }

    /// Whether this account owns what `found` describes.
    pub(crate) fn is_owner(&self, found: &std::fs::Metadata) -> bool {
        found.uid() == self.uid
    }

    /// The account's number, for messages and names.
    pub(crate) fn uid(&self) -> u32 {
        self.uid
    }

    fn may_enter(&self, found: &std::fs::Metadata) -> bool {
        let needed = if found.uid() == self.uid {
            0o100
        } else if found.gid() == self.gid {
            0o010
        } else {
            0o001
        };
        found.mode() & needed != 0
    }
}

/// Asks the system for the number of an account or its group; `None` when there is no such account.
async fn id(flag: &str, name: &str) -> Option<u32> {
    let answer = Command::new("id").args([flag, name]).output().await.ok()?;
    String::from_utf8(answer.stdout).ok()?.trim().parse().ok()
}
