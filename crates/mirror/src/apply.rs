//! Applies the changes of steps to folders.
//!
//! fsync dominates the time. Several files cost little more than one if all are written first and then flushed
//! together, so the files of a job are processed in passes: write, start write-back, fsync, rename.

use super::{
    Applied, FileEvent, MirrorTrouble,
    folder::{DirCache, Folder, Temporary},
    marker::{self, Marker, Seen, WriterId},
};
use std::{mem, vec};

/// Files written before they are flushed together; each stays open until then.
const AT_ONCE: usize = 32;

/// Changes of steps that are being applied to a folder.
pub(crate) struct FolderWriter {
    folder: Folder,
    writer: WriterId,
    events: vec::IntoIter<FileEvent>,
    dirs: DirCache,
    /// Written, not yet renamed.
    temporaries: Vec<Temporary>,
    /// Folders with renamed files.
    written: Vec<String>,
    /// Whether any file was renamed into place or deleted.
    touched: bool,
    troubles: Vec<MirrorTrouble>,
    /// A worker of a newer epoch has the job.
    stale: bool,
}

impl FolderWriter {
    /// For `events` in a folder whose marker permits this worker to write.
    pub(crate) fn new(folder: Folder, writer: WriterId, events: Vec<FileEvent>) -> Self {
        // Deletions come first, because a file may replace a folder.
        let (mut first, written): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|event| matches!(event, FileEvent::Deleted { .. }));
        first.extend(written);
        Self {
            folder,
            writer,
            events: first.into_iter(),
            dirs: DirCache::default(),
            temporaries: Vec::new(),
            written: Vec::new(),
            touched: false,
            troubles: Vec::new(),
            stale: false,
        }
    }

    /// Writes all of it, with a fixed number of files in progress.
    pub(crate) fn write_all(&mut self) {
        while !self.stale && !self.events.as_slice().is_empty() {
            self.prepare();
            if self.temporaries.len() > 1 {
                self.temporaries.iter().for_each(Temporary::begin_flush);
            }
            self.flush();
            self.place();
        }
    }

    /// Writes the next files. A failed file does not affect the others.
    fn prepare(&mut self) {
        for _ in 0..AT_ONCE {
            if self.stale {
                return;
            }
            let Some(event) = self.events.next() else { return };
            match event {
                FileEvent::Written { path, content } => self.begin_file(&path, &content),
                FileEvent::Deleted { .. } if !marker::is_open(&self.folder, self.writer) => self.stale = true,
                FileEvent::Deleted { path } => {
                    self.touched = true;
                    if let Err(error) = self.folder.remove(&path) {
                        self.troubles.push(MirrorTrouble::at("delete", &path, &error));
                    }
                }
            }
        }
    }

    fn begin_file(&mut self, path: &str, content: &[u8]) {
        match self.folder.prepare(path, content) {
            Ok(temporary) => self.temporaries.push(temporary),
            Err(error) => self.troubles.push(MirrorTrouble::at("write", path, &error)),
        }
    }

    fn flush(&mut self) {
        for temporary in mem::take(&mut self.temporaries) {
            match temporary.flush() {
                Ok(()) => self.temporaries.push(temporary),
                Err(error) => {
                    self.folder.discard(&temporary);
                    self.troubles.push(MirrorTrouble::at("write", &temporary.path, &error));
                }
            }
        }
    }

    /// Checks the marker immediately before each rename.
    fn place(&mut self) {
        for temporary in mem::take(&mut self.temporaries) {
            self.stale = self.stale || !marker::is_open(&self.folder, self.writer);
            let placed = match self.stale {
                true => Ok(false),
                false => self.folder.place(&mut self.dirs, &temporary).map(|()| true),
            };
            match placed {
                Ok(true) => {
                    self.touched = true;
                    self.written.push(temporary.path);
                }
                Ok(false) => self.folder.discard(&temporary),
                Err(error) => {
                    self.folder.discard(&temporary);
                    self.troubles.push(MirrorTrouble::at("write", &temporary.path, &error));
                }
            }
        }
    }

    /// The folder, if files were renamed, and the errors; `None` instead of the folder if it is another worker's.
    pub(crate) fn end(mut self) -> (Option<Folder>, Vec<String>, Vec<MirrorTrouble>) {
        // The last file may have been renamed or deleted after a newer worker had compared the folder and finished.
        if self.touched && (self.stale || !marker::is_open(&self.folder, self.writer)) {
            self.stale = true;
            self.troubles.extend(marker::reopen(&self.folder).err());
        }
        ((!self.stale).then_some(self.folder), self.written, self.troubles)
    }
}

/// Begins to apply steps to a folder, if it is this worker's. A folder without a marker was replaced since its repair,
/// and lacks more than these steps.
pub(crate) fn begin(
    folder: Folder,
    writer: WriterId,
    events: Vec<FileEvent>,
) -> Result<Result<(FolderWriter, Seen), Applied>, MirrorTrouble> {
    let Some(seen) = marker::see(&folder) else {
        return Ok(Err(Applied::Wiped));
    };
    if !claim(&folder, writer, Some(seen.marker))? {
        return Ok(Err(Applied::Stale));
    }
    Ok(Ok((FolderWriter::new(folder, writer, events), seen)))
}

/// Records the folder's progress.
pub(crate) fn finish(ended: FolderWriter, seen: &Seen, writer: WriterId, step: i64) -> Result<Applied, MirrorTrouble> {
    let (folder, _, troubles) = ended.end();
    let Some(folder) = folder else { return Ok(Applied::Stale) };
    MirrorTrouble::of_all(troubles)?;
    if seen.marker.done || !seen.young {
        marker::write(&folder, Marker::of(writer, step))?;
    }
    Ok(Applied::Written)
}

/// Records the owner of the folder before the first file is written, so that an older worker stops. The step is not
/// changed yet, because the progress is known only after the files are written.
pub(crate) fn claim(folder: &Folder, writer: WriterId, marker: Option<Marker>) -> Result<bool, MirrorTrouble> {
    match marker {
        Some(marker) if marker.writer() > writer => Ok(false),
        Some(marker) if marker.writer() == writer => Ok(true),
        older => {
            let step = older.filter(|marker| marker.row == writer.row).map_or(0, |marker| marker.step);
            marker::write(folder, Marker::of(writer, step)).map(|()| true)
        }
    }
}
