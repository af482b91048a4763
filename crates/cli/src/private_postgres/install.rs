//! Installing the PostgreSQL server with the system's package manager.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::error::Error;
use super::files;

/// A package manager and what to tell it.
struct Manager {
    program: &'static str,
    /// Command lines that go first and may fail, such as refreshing the package list over a poor network.
    prepare: &'static [&'static str],
    install: &'static str,
}

/// In the order of the search; Homebrew last, because on Linux it is somebody's second one.
const MANAGERS: [Manager; 7] = [
    Manager {
        program: "apt-get",
        prepare: &["apt-get update -q", "apt-get install -q -y --no-install-recommends postgresql-common"],
        install: "apt-get install -q -y --no-install-recommends postgresql",
    },
    Manager { program: "dnf", prepare: &[], install: "dnf install -q -y postgresql-server" },
    Manager { program: "yum", prepare: &[], install: "yum install -q -y postgresql-server" },
    Manager { program: "apk", prepare: &[], install: "apk add --no-cache postgresql postgresql-client" },
    Manager { program: "pacman", prepare: &[], install: "pacman -Sy --noconfirm --needed postgresql" },
    Manager {
        program: "zypper",
        prepare: &[],
        install: "zypper --non-interactive install postgresql-server postgresql",
    },
    Manager { program: "brew", prepare: &[], install: "brew install postgresql@17" },
];

/// Where Debian's package looks for what to do after installing.
const DEBIAN_SETTINGS: &str = "/etc/postgresql-common";

/// Installs the server, as root or through `sudo` where that asks for no password.
///
/// # Errors
/// When there is no known package manager, no right to use it, or it fails; the error says what to run by hand.
pub(crate) async fn postgres() -> Result<(), Error> {
    let system = System {
        path: std::env::var_os("PATH").unwrap_or_default(),
        is_root: rustix::process::geteuid().is_root(),
        debian_settings: PathBuf::from(DEBIAN_SETTINGS),
    };
    system.install().await
}

/// The machine as far as installing is concerned.
struct System {
    path: OsString,
    is_root: bool,
    debian_settings: PathBuf,
}

impl System {
    async fn install(&self) -> Result<(), Error> {
        let Some(manager) = MANAGERS.iter().find(|manager| self.find(manager.program).is_some()) else {
            return Err(Error::Missing {
                reason: "no known package manager was found".to_owned(),
                advice: "install the PostgreSQL server, or set PLUMBLINE_PG_BIN to the folder with initdb".to_owned(),
            });
        };
        let sudo = if manager.program == "brew" { "" } else { "sudo " };
        let advice = format!("install them with: {sudo}{}", manager.install);
        let Some(prefix) = self.privilege(manager).await else {
            let reason = "this user may not install packages".to_owned();
            return Err(Error::Missing { reason, advice });
        };
        eprintln!("No PostgreSQL server found: installing it with `{}`.", manager.install);
        for line in manager.prepare {
            if let Err(trouble) = self.run(prefix, line).await {
                eprintln!("{trouble}; going on.");
            }
        }
        self.install_without_a_cluster(prefix, manager).await.map_err(|reason| Error::Missing { reason, advice })
    }

    /// Debian's package makes and starts a cluster of its own unless a setting forbids it. The setting is in place only
    /// while the package is installed, so that the user's own later installations are not changed.
    async fn install_without_a_cluster(&self, prefix: &[&str], manager: &Manager) -> Result<(), String> {
        if !self.debian_settings.is_dir() {
            return self.run(prefix, manager.install).await;
        }
        let folder = self.debian_settings.join("createcluster.d");
        let setting = folder.join("plumbline-install.conf").display().to_string();
        let write = format!("mkdir -p {} && echo 'create_main_cluster = false' >{setting}", folder.display());
        self.execute(&[prefix, &["/bin/sh", "-c", &write]].concat()).await?;
        let installed = self.run(prefix, manager.install).await;
        self.run(prefix, &format!("rm -f {setting}")).await?;
        installed
    }

    /// The words to put before a command: none for root and for Homebrew, which refuses root; `None` when the user may
    /// not install.
    async fn privilege(&self, manager: &Manager) -> Option<&'static [&'static str]> {
        const SUDO: &[&str] = &["sudo", "-n"];
        if manager.program == "brew" || self.is_root {
            return Some(&[]);
        }
        self.run(SUDO, "true").await.is_ok().then_some(SUDO)
    }

    async fn run(&self, prefix: &[&str], line: &str) -> Result<(), String> {
        let words: Vec<&str> = prefix.iter().copied().chain(line.split_whitespace()).collect();
        self.execute(&words).await
    }

    async fn execute(&self, words: &[&str]) -> Result<(), String> {
        let (program, arguments) = words.split_first().expect("a command line has a first word");
        let failed = |why: String| format!("`{}` failed: {why}", words.join(" "));
        let program = self.find(program).ok_or_else(|| failed("it was not found".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", &self.path).env("DEBIAN_FRONTEND", "noninteractive");
        let ended = command.stdin(Stdio::null()).output().await.map_err(|error| failed(error.to_string()))?;
        if ended.status.success() { Ok(()) } else { Err(failed(files::reason(&ended))) }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        if program.starts_with('/') {
            return Some(PathBuf::from(program));
        }
        std::env::split_paths(&self.path).map(|dir| dir.join(program)).find(|file| Path::is_file(file))
    }
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
