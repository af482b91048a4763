//! Installing is tested with package managers that only write down what they were told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A machine with the given programs, each of which notes its command line in `calls`.
struct Machine {
    folder: tempfile::TempDir,
    is_root: bool,
}

impl Machine {
    fn with(programs: &[(&str, &str)], is_root: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (program, then) in programs {
            let file = folder.path().join(program);
            let calls = folder.path().join("calls");
            fs::write(&file, format!("#!/bin/sh\necho {program} \"$@\" >>{}\n{then}\n", calls.display())).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        // The few system programs that the commands use; the machine's own package manager stays out.
        for program in ["mkdir", "rm", "cat", "true"] {
            std::os::unix::fs::symlink(format!("/bin/{program}"), folder.path().join(program)).unwrap();
        }
        Self { folder, is_root }
    }

    async fn install(&self) -> Result<(), Error> {
        let system = System {
            path: self.folder.path().as_os_str().to_owned(),
            is_root: self.is_root,
            debian_settings: self.folder.path().join("settings"),
        };
        system.install().await
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default()
    }
}

#[tokio::test]
async fn apt_refreshes_its_list_before_it_installs() {
    let machine = Machine::with(&[("apt-get", "")], true);
    machine.install().await.unwrap();
    let calls = machine.calls();
    let (first, last) = (calls.lines().next().unwrap(), calls.lines().last().unwrap());
    assert_eq!(first, "apt-get update -q");
    assert_eq!(last, "apt-get install -q -y --no-install-recommends postgresql");
}

#[tokio::test]
async fn a_failing_refresh_does_not_stop_the_installation() {
    let machine = Machine::with(&[("apt-get", "test \"$1\" != update")], true);
    machine.install().await.unwrap();
}

#[tokio::test]
async fn debian_is_told_to_make_no_cluster_for_as_long_as_it_installs() {
    let machine =
        Machine::with(&[("apt-get", "cat ${0%/*}/settings/createcluster.d/* >>${0%/*}/calls 2>&1; true")], true);
    fs::create_dir(machine.folder.path().join("settings")).unwrap();
    machine.install().await.unwrap();
    assert!(machine.calls().ends_with("postgresql\ncreate_main_cluster = false\n"), "{}", machine.calls());
    let left = fs::read_dir(machine.folder.path().join("settings/createcluster.d")).unwrap().count();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn an_ordinary_user_installs_through_sudo() {
    let machine = Machine::with(&[("apk", ""), ("sudo", "shift; exec \"$@\"")], false);
    machine.install().await.unwrap();
    assert!(machine.calls().contains("sudo -n apk add --no-cache postgresql"), "{}", machine.calls());
    assert!(machine.calls().ends_with("\napk add --no-cache postgresql postgresql-client\n"), "{}", machine.calls());
}

#[tokio::test]
async fn without_the_right_to_install_the_error_says_what_to_run() {
    let machine = Machine::with(&[("dnf", ""), ("sudo", "exit 1")], false);
    let refused = machine.install().await.unwrap_err().to_string();
    assert!(refused.ends_with("install them with: sudo dnf install -q -y postgresql-server"), "{refused}");
    assert!(!machine.calls().contains("dnf install"), "{}", machine.calls());
}

#[tokio::test]
async fn a_failing_package_manager_is_quoted() {
    let machine = Machine::with(&[("pacman", "echo 'no space left' >&2; exit 1")], true);
    let refused = machine.install().await.unwrap_err().to_string();
    assert!(refused.contains("no space left") && refused.contains("pacman -Sy"), "{refused}");
}

#[tokio::test]
async fn a_silent_failure_is_told_by_its_exit_code() {
    let machine = Machine::with(&[("zypper", "exit 104")], true);
    let refused = machine.install().await.unwrap_err().to_string();
    assert!(refused.contains("failed: it ended with exit status: 104"), "{refused}");
}

#[tokio::test]
async fn an_unknown_system_is_told_what_is_needed() {
    let refused = Machine::with(&[], true).install().await.unwrap_err().to_string();
    assert!(refused.contains("PLUMBLINE_PG_BIN"), "{refused}");
}
