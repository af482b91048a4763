//! The account that runs the server. Postgres refuses root, so for root the server and its data belong to the system's
//! `postgres` or, if that is missing, to `nobody`.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use tokio::process::Command;

use crate::error::{Error, last_lines};

/// The accounts tried in this order when the user is root. Both must be in the system's user list: `initdb` looks its
/// own account up.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// The account of the server's processes and files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    gid: u32,
    /// Whether it differs from the account of this process.
    switch: bool,
}

impl Account {
    /// The current account, or for root another one: the owner of the data in a persistent cluster's folder, so that a
    /// cluster made by an ordinary user stays theirs, else the first candidate.
    pub(crate) async fn choose(lasting: Option<&Path>) -> Result<Self, Error> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        if uid != 0 {
            return Ok(Self { uid, gid, switch: false });
        }
        if let Some(Ok(data)) = lasting.map(|dir| dir.join("data").metadata())
            && data.uid() != 0
        {
            return Ok(Self { uid: data.uid(), gid: data.gid(), switch: true });
        }
        for name in CANDIDATES {
            if let (Some(uid), Some(gid)) = (id("-u", name).await, id("-g", name).await) {
                return Ok(Self { uid, gid, switch: true });
            }
        }
        Err(Error::Missing {
            reason: "PostgreSQL refuses to run as root".to_owned(),
            advice: "create an account for it (useradd --system postgres) or run this as an ordinary user".to_owned(),
        })
    }

    /// Runs a program of the server under this account and returns its output, or the end of its output as an error. It
    /// runs in a folder that the account can read, without the caller's `PG*` variables, which would redirect it.
    pub(crate) async fn run(&self, command: &mut Command) -> Result<(), Error> {
        if self.switch {
            command.uid(self.uid).gid(self.gid).env("HOME", "/");
        }
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        let program = Path::new(command.as_std().get_program()).to_path_buf();
        let ended = command.env("LC_ALL", "C").current_dir("/").kill_on_drop(true).output().await;
        let ended = ended.map_err(Error::file("run", &program))?;
        if ended.status.success() {
            return Ok(());
        }
        let said = last_lines(&[ended.stdout, ended.stderr].concat(), 3);
        let said = if said.is_empty() { format!("it ended with {}", ended.status) } else { said };
        Err(Error::Program { program: program.display().to_string(), said })
    }

    /// Changes the owner of a file or folder to this account.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        if self.switch {
            chown(path, Some(self.uid), Some(self.gid)).map_err(Error::file("give to the server's account", path))?;
        }
        Ok(())
    }

    /// Whether this account can traverse every folder of `path`, which must exist and be absolute.
    pub(crate) fn can_reach(&self, path: &Path) -> bool {
        !self.switch || path.ancestors().all(|folder| folder.metadata().is_ok_and(|found| self.may_enter(&found)))
    }

    /// Refuses a program folder that this account cannot enter, such as one beneath root's own home.
    pub(crate) fn require_access(&self, programs: &Path) -> Result<(), Error> {
        if self.can_reach(programs) {
            return Ok(());
        }
        Err(Error::Folder {
            path: programs.to_path_buf(),
            reason: format!(
                "the server must run as user {} because Postgres refuses root, and that user cannot enter the folder; \
                 install PostgreSQL where every user can read it",
                self.uid
            ),
        })
    }

    fn may_enter(&self, found: &std::fs::Metadata) -> bool {
        let needed = match (found.uid() == self.uid, found.gid() == self.gid) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        found.mode() & needed != 0
    }
}

/// Looks up the number of an account or its group; `None` if there is no such account.
async fn id(flag: &str, name: &str) -> Option<u32> {
    let answer = Command::new("id").args([flag, name]).output().await.ok()?;
    String::from_utf8(answer.stdout).ok()?.trim().parse().ok().filter(|id| *id != 0)
}
