//! Small file helpers that the other parts share: locks that the kernel drops with the process, and a log's last lines.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Output;

use super::error::Error;

/// Opens a lock file, making it when it is missing.
pub(crate) fn open_lock(path: &Path) -> Result<File, Error> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(Error::file("open", path))
}

/// Waits for the exclusive lock without holding up the other tasks.
pub(crate) async fn lock_exclusive(path: &Path) -> Result<File, Error> {
    let file = open_lock(path)?;
    let locked = plumbline_bounds::blocking::unbounded(move || file.lock().map(|()| file)).await;
    locked.expect("locking a file does not panic").map_err(Error::file("lock", path))
}

/// The last lines of a text file on one line, for an error message; empty when it cannot be read.
pub(crate) fn last_lines(path: &Path, from: u64, count: usize) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let start = usize::try_from(from).unwrap_or(0).min(bytes.len());
    last_words(&bytes[start..], count)
}

/// Why a program failed: its last words, or how it ended when it said nothing.
pub(crate) fn reason(ended: &Output) -> String {
    let said = last_words(&ended.stderr, 3);
    if said.is_empty() { format!("it ended with {}", ended.status) } else { said }
}

/// The last non-empty lines of what a program wrote, on one line.
fn last_words(output: &[u8], count: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("; ")
}
