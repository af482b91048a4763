//! Installing the PostgreSQL server with `apt-get`, so that `make demo` works on a fresh Debian or Ubuntu. On other
//! systems the error says what to install, because other package managers ask questions and create their own cluster.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::error::{Error, last_lines};

const INSTALL: &str = "apt-get install -q -y --no-install-recommends postgresql";
/// Preparatory commands that may fail, such as refreshing the package list. Debian's package creates and starts its own
/// cluster unless a setting of `postgresql-common` forbids it.
const BEFORE: [&str; 2] = ["apt-get update -q", "apt-get install -q -y --no-install-recommends postgresql-common"];
/// The settings folder of that package.
const DEBIAN_SETTINGS: &str = "/etc/postgresql-common";

/// Installs the server, as root or with passwordless `sudo`.
///
/// # Errors
/// When there is no `apt-get`, no right to use it, or it fails; the error says what to run by hand.
pub(crate) async fn postgres() -> Result<(), Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_root = rustix::process::geteuid().is_root();
    System { path, is_root, debian_settings: PathBuf::from(DEBIAN_SETTINGS) }.install().await
}

/// The installation commands of the machine.
struct System {
    path: OsString,
    is_root: bool,
    debian_settings: PathBuf,
}

impl System {
    async fn install(&self) -> Result<(), Error> {
        let missing = |why: &str, advice: &str| Error::Missing {
            reason: format!("initdb and postgres were not found and {why}"),
            advice: advice.to_owned(),
        };
        let by_hand = format!("install them with: sudo {INSTALL}");
        if self.find("apt-get").is_none() {
            let advice = "install the PostgreSQL server (postgresql-server or postgresql in other systems' packages), or set \
                          PLUMBLINE_PG_BIN to the folder with initdb";
            return Err(missing("there is no apt-get to install them", advice));
        }
        if !self.is_root && self.run("true").await.is_err() {
            return Err(missing("this user may not install packages", &by_hand));
        }
        eprintln!("No PostgreSQL server found: installing it with `{INSTALL}`.");
        for line in BEFORE {
            if let Err(trouble) = self.run(line).await {
                eprintln!("{trouble}; continuing.");
            }
        }
        self.install_without_a_cluster().await.map_err(|why| missing(&why, &by_hand))
    }

    /// The setting is in place only while the package is installed, so the user's own later installations are not changed.
    async fn install_without_a_cluster(&self) -> Result<(), String> {
        if !self.debian_settings.is_dir() {
            return self.run(INSTALL).await;
        }
        let folder = self.debian_settings.join("createcluster.d");
        let setting = folder.join("plumbline-install.conf").display().to_string();
        self.run(&format!("mkdir -p {}", folder.display())).await?;
        self.execute(&["sh", "-c", &format!("echo 'create_main_cluster = false' >{setting}")]).await?;
        let installed = self.run(INSTALL).await;
        self.run(&format!("rm -f {setting}")).await?;
        installed
    }

    async fn run(&self, line: &str) -> Result<(), String> {
        self.execute(&line.split_whitespace().collect::<Vec<_>>()).await
    }

    async fn execute(&self, words: &[&str]) -> Result<(), String> {
        let sudo: &[&str] = if self.is_root { &[] } else { &["sudo", "-n"] };
        let words = [sudo, words].concat();
        let failed = |why: String| format!("`{}` failed: {why}", words.join(" "));
        let program = self.find(words[0]).ok_or_else(|| failed("it was not found".to_owned()))?;
        let mut command = Command::new(program);
        command.args(&words[1..]).env("PATH", &self.path).env("DEBIAN_FRONTEND", "noninteractive");
        let ended = command.stdin(Stdio::null()).output().await.map_err(|error| failed(error.to_string()))?;
        if ended.status.success() { Ok(()) } else { Err(failed(last_lines(&ended.stderr, 3))) }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|folder| folder.join(program)).find(|file| Path::is_file(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A machine whose package manager writes down what it was told, with the settings folder of Debian's package.
    fn machine(apt: Option<&str>) -> (tempfile::TempDir, System) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        if let Some(then) = apt {
            let calls = path.join("calls");
            let script = format!(
                "#!/bin/sh\necho \"$@\" $(cat {}/settings/*/* 2>/dev/null) >>{}\n{then}\n",
                path.display(),
                calls.display()
            );
            std::fs::write(path.join("apt-get"), script).unwrap();
            std::fs::set_permissions(path.join("apt-get"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        for program in ["mkdir", "rm", "cat", "true", "sh"] {
            symlink(format!("/bin/{program}"), path.join(program)).unwrap();
        }
        std::fs::create_dir(path.join("settings")).unwrap();
        let system =
            System { path: path.as_os_str().to_owned(), is_root: true, debian_settings: path.join("settings") };
        (folder, system)
    }

    #[tokio::test]
    async fn the_package_makes_no_cluster_and_the_setting_is_gone_afterwards() {
        let (folder, system) = machine(Some("test \"$1\" != update"));
        system.install().await.unwrap();
        let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
        let last = calls.lines().last().unwrap();
        assert_eq!(last, "install -q -y --no-install-recommends postgresql create_main_cluster = false");
        assert_eq!(std::fs::read_dir(folder.path().join("settings/createcluster.d")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_failure_says_what_to_run_by_hand() {
        let (_folder, system) = machine(Some("echo no space >&2; exit 1"));
        let said = system.install().await.unwrap_err().to_string();
        assert!(said.contains("no space") && said.contains("sudo apt-get install"), "{said}");
        let (_folder, system) = machine(None);
        let said = system.install().await.unwrap_err().to_string();
        assert!(said.contains("there is no apt-get") && said.contains("PLUMBLINE_PG_BIN"), "{said}");
    }
}
