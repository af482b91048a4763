//! Repairs the folder from the rows, when a job starts on a machine, when it leaves it, or after errors.

use super::{
    FileEvent, IndexEntry, Mirror, MirrorTrouble, Repaired,
    apply::{FolderWriter, claim},
    folder::Folder,
    marker::{self, Marker, WriterId},
};
use crate::diff::diff;
use std::{fmt::Display, future::Future, mem, vec};
use uuid::Uuid;

/// Maximum files read from the rows before they are written, and the bytes after which no more are read: a workspace
/// may be larger than the memory.
const AT_ONCE: usize = 32;
const AT_ONCE_BYTES: usize = 1 << 20;

impl Mirror {
    /// Writes missing and different files and removes orphans, except new files under `input/`. Then the marker is
    /// `last`. `read` returns the content of a workspace path from the rows; `None` if it was deleted meanwhile.
    ///
    /// # Errors
    /// If the folder could not be repaired completely; the rest was.
    pub async fn repair<F, E>(
        &self,
        job: Uuid,
        last: Marker,
        index: &[IndexEntry],
        read: impl Fn(String) -> F,
    ) -> Result<Repaired, MirrorTrouble>
    where
        F: Future<Output = Result<Option<Vec<u8>>, E>>,
        E: Display,
    {
        let entries = index.to_vec();
        let Some(mut plan) = self.blocking(job, move |folder| clean(&folder, last, &entries)).await? else {
            return Ok(Repaired { stale: true, ..Repaired::default() });
        };
        log_removed(job, &plan.removed);
        let mut repaired = Repaired { removed: mem::take(&mut plan.removed), ..Repaired::default() };
        if !plan.is_done() {
            let mut wanted = plan.wanted.into_iter();
            while wanted.len() > 0 {
                let part = load(&mut wanted, &read, &mut plan.troubles).await;
                let put = self.blocking(job, move |folder| Ok(write(folder, last.writer(), part))).await?;
                repaired.written.extend(put.written);
                plan.troubles.extend(put.troubles);
                if put.stale {
                    return Ok(Repaired { stale: true, ..repaired });
                }
            }
            MirrorTrouble::of_all(plan.troubles)?;
            self.blocking(job, move |folder| marker::write(&folder, last)).await?;
        }
        Ok(repaired)
    }
}

/// The remaining work after removing orphans.
#[derive(Default)]
pub(crate) struct Plan {
    wanted: Vec<String>,
    pub(crate) removed: Vec<String>,
    troubles: Vec<MirrorTrouble>,
}

impl Plan {
    fn is_done(&self) -> bool {
        self.wanted.is_empty() && self.troubles.is_empty()
    }
}

/// Scans, and removes orphans; often nothing else is needed. `None` if a newer epoch has the job.
fn clean(folder: &Folder, last: Marker, index: &[IndexEntry]) -> Result<Option<Plan>, MirrorTrouble> {
    let make_usual =
        || folder.make_usual(index).map_err(|error| MirrorTrouble::at("create the standard folders in", ".", &error));
    if folder.is_new && index.is_empty() {
        // It was just created, so it is empty.
        make_usual()?;
        marker::write(folder, last)?;
        return Ok(Some(Plan::default()));
    }
    let found = marker::read(folder);
    if found.is_some_and(|marker| marker.row < last.row) {
        // Files of another row with this id, including people's files, do not belong to this one.
        folder.empty().map_err(|error| MirrorTrouble::at("empty", ".", &error))?;
    }
    if !claim(folder, last.writer(), found)? {
        return Ok(None);
    }
    folder.sweep_temporaries().map_err(|error| MirrorTrouble::at("empty", ".plumbline/tmp", &error))?;
    make_usual()?;
    let diff = diff(folder, index)?;
    let mut plan = Plan { wanted: diff.wanted, ..Plan::default() };
    if !remove(folder, last.writer(), diff.strays, &mut plan)? {
        return Ok(None);
    }
    if plan.is_done() {
        marker::write(folder, last)?;
    }
    Ok(Some(plan))
}

/// Removes orphans found in the scan; `false` if a newer epoch has the job. A worker may have been stalled since the
/// scan for longer than its lease: then these may be files of the newer one, which has finished here.
pub(crate) fn remove(
    folder: &Folder,
    writer: WriterId,
    strays: Vec<String>,
    plan: &mut Plan,
) -> Result<bool, MirrorTrouble> {
    for path in strays {
        if !marker::is_open(folder, writer) {
            return Ok(false);
        }
        match folder.remove(&path) {
            Ok(()) => plan.removed.push(path),
            Err(error) => plan.troubles.push(MirrorTrouble::at("remove", &path, &error)),
        }
        if !marker::is_open(folder, writer) {
            marker::reopen(folder)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// The contents of the next files; files deleted meanwhile are skipped.
async fn load<F, E>(
    wanted: &mut vec::IntoIter<String>,
    read: impl Fn(String) -> F,
    troubles: &mut Vec<MirrorTrouble>,
) -> Vec<FileEvent>
where
    F: Future<Output = Result<Option<Vec<u8>>, E>>,
    E: Display,
{
    let (mut events, mut bytes) = (Vec::new(), 0);
    while events.len() < AT_ONCE && bytes < AT_ONCE_BYTES {
        let Some(path) = wanted.next() else { break };
        match read(path.clone()).await {
            Ok(Some(content)) => {
                bytes += content.len();
                events.push(FileEvent::Written { path, content });
            }
            Ok(None) => {}
            Err(error) => troubles.push(not_loaded(&path, &error)),
        }
    }
    events
}

/// The result for some files.
struct Put {
    written: Vec<String>,
    troubles: Vec<MirrorTrouble>,
    /// A worker of a newer epoch has the job.
    stale: bool,
}

fn write(folder: Folder, id: WriterId, events: Vec<FileEvent>) -> Put {
    let mut writer = FolderWriter::new(folder, id, events);
    writer.write_all();
    let (folder, written, troubles) = writer.end();
    Put { written, troubles, stale: folder.is_none() }
}

fn not_loaded(path: &str, error: &impl Display) -> MirrorTrouble {
    MirrorTrouble::new(format!("the content of `{path}` could not be loaded ({error})"))
}

/// The caller logs written files; removed files are logged here, so that a person who misses a file can find out why.
fn log_removed(job: Uuid, removed: &[String]) {
    for path in removed {
        tracing::warn!(job.id = %job, file.path = path, "mirror: removed orphaned file");
    }
}
