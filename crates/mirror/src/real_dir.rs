//! Folders that are real: a link or a file in their place is removed, so that nothing is written through it.

use cap_std::fs::Dir;
use rustix::{
    fs::{Mode, OFlags, openat},
    io::Errno,
};
use std::{fs, io};

/// The mirror's own data, which is not a file of the job.
pub(crate) const META_DIR: &str = ".plumbline";

/// Opens `name` as a real folder, created if missing; see [`ensure_dir`].
pub(crate) fn way(dir: &Dir, name: &str) -> io::Result<Dir> {
    make_and_open(dir, name).map(|(opened, _)| opened)
}

/// The same, with whether it was created. It usually exists, which takes one system call.
pub(crate) fn make_and_open(dir: &Dir, name: &str) -> io::Result<(Dir, bool)> {
    match open_real(dir, name) {
        Ok(opened) => Ok((opened, false)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
            let made = ensure_dir(dir, name)?;
            Ok((open_real(dir, name)?, made))
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder that is not a link. `name` is a single component, so it cannot lead elsewhere.
fn open_real(dir: &Dir, name: &str) -> rustix::io::Result<Dir> {
    let opened = openat(dir, name, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    Ok(Dir::from_std_file(fs::File::from(opened)))
}

/// Ensures that `path` is a real folder: a link or a file there is removed, so that nothing is written through it.
/// Returns whether it was created.
pub(crate) fn ensure_dir(dir: &Dir, path: &str) -> io::Result<bool> {
    match dir.symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(false),
        Ok(_) => dir.remove_file(path)?,
        Err(_) => {}
    }
    match dir.create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}
