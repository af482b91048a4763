//! This machine: the workspace folder, the worker's settings, its HTTP address.

use super::finding::Finding;
use crate::environment;
use std::{io::ErrorKind, path::Path};
use tokio::net::TcpListener;

pub(super) fn workspace(dir: &Path) -> Finding {
    let probe = dir.join(format!(".plumbline-doctor-{}", std::process::id()));
    let tried = std::fs::create_dir_all(dir)
        .and_then(|()| std::fs::write(&probe, b"ok"))
        .and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Finding::ok("workspace", format!("{} is writable", dir.display())),
        // The mirror is a view: jobs run without it.
        Err(error) => Finding::note(
            "workspace",
            format!(
                "{} is not writable ({error}); jobs run, but their files do not appear there: grant the worker's user \
                 write permission, or set PLUMBLINE_WORKSPACE_DIR",
                dir.display()
            ),
        ),
    }
}

/// Nothing if the settings are valid: they are usually the defaults.
pub(super) fn timing() -> Option<Finding> {
    let wrong = match environment::timing() {
        Ok(timing) => timing.validate().err()?,
        Err(failure) => failure.to_string(),
    };
    Some(Finding::fail("timing", wrong))
}

/// Whether a worker that starts now gets its address. Another worker that already serves there is fine, too.
pub(super) async fn http() -> Option<Finding> {
    let options = match environment::http(None) {
        Ok(options) => options,
        Err(failure) => return Some(Finding::fail("http", failure.to_string())),
    };
    if let Err(sentence) = options.validate() {
        return Some(Finding::fail("http", sentence));
    }
    let address = options.address;
    match TcpListener::bind(address).await {
        Ok(_) => options.asked.then(|| Finding::ok("http", format!("{address} is free"))),
        Err(error) if error.kind() == ErrorKind::AddrInUse && !options.asked => None,
        Err(error) if error.kind() == ErrorKind::AddrInUse => Some(Finding::note(
            "http",
            format!(
                "{address} is in use, by a worker or by another program; a worker that starts now needs another address: \
                 set PLUMBLINE_HTTP_ADDR"
            ),
        )),
        Err(error) => Some(Finding::fail(
            "http",
            format!("{address} cannot be used ({error}): choose another address in PLUMBLINE_HTTP_ADDR"),
        )),
    }
}
