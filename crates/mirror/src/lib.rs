//! The mirror: the folder `job_<uuid>/` that shows a job's workspace to people.
//!
//! The folder is derived from rows: the changes of committed steps are read from them ten times a second, for all jobs
//! together. No progress of a job depends on it: errors are returned as [`MirrorTrouble`], which the worker logs and
//! shows, and the next repair fixes the folder.
//!
//! ```text
//! job_<uuid>/
//!   workspace.md, input/…, output/…        the files, as of some committed step
//!   .plumbline/mirror.json                 {"row": …, "epoch": 7, "step": 41}: whose view this is, and how far it got, about
//!   .plumbline/tmp/                        files being written
//! ```
//!
//! - **Atomic files.** A file is written under `.plumbline/tmp/`, fsynced, then renamed into place. The pending files of
//!   a job are written first and then flushed together, which costs little more than one of them.
//! - **Never outside.** All paths are resolved beneath the job's folder by the kernel (cap-std), and the folders of a
//!   path are opened one by one and never through a link, so a planted link leads nowhere.
//! - **Never by a worker that lost the job.** The marker contains the lease epoch of the last writer, and a writer with
//!   an older epoch stops before it touches a file. A newer epoch can begin between that check and the rename; the
//!   newer worker's repair compares every file with its row and so undoes even that. If the newer worker has already
//!   finished by then, the older one clears the finished flag of the folder, and it is compared again.
//! - **Never of another row.** The marker identifies the row by its time. If an id is used again, its new row begins
//!   with an empty folder, and a writer of the earlier row stops.
//! - **External changes.** A new file under `input/` is returned as [`Found`], so that the job imports it; any other
//!   external change is reverted and logged.

mod apply;
mod diff;
mod events;
mod export;
mod folder;
mod marker;
mod real_dir;
mod remove;
mod repair;
mod shared;
mod stale;
mod sync;
#[cfg(test)]
mod tests;

pub use events::{Applied, FileEvent, Finds, Found, IndexEntry, MirrorTrouble, Repaired};
pub use export::{ExportError, export};
pub use marker::{Marker, WriterId};
pub use stale::StaleFolder;
pub use sync::{InputScan, MirrorFeed, MirrorLag, MirrorSync};

use folder::Folder;
use plumbline_bounds::blocking::on_files;
use std::{
    collections::HashSet,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Maximum folders that are written, scanned or repaired at the same time. Each mostly waits for the disk, which flushes
/// the files of several together; more than the disk's queue depth would only use memory.
const WRITERS: usize = 16;

/// Interval between updates of folders. People do not read faster, and the changes of an interval are written together:
/// many steps of a fast job, one step each of many jobs.
const EVERY: Duration = Duration::from_millis(100);

/// Maintains the folders of all jobs under one workspace folder; cheap to clone.
#[derive(Clone, Debug)]
pub struct Mirror {
    root: Arc<PathBuf>,
    writers: Arc<Semaphore>,
    begun: Instant,
}

impl Mirror {
    /// A mirror under the workspace folder (`PLUMBLINE_WORKSPACE_DIR`). The folder is created on first use.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: Arc::new(root.into()), writers: Arc::new(Semaphore::new(WRITERS)), begun: Instant::now() }
    }

    /// The folder of a job.
    pub fn path(&self, job: Uuid) -> PathBuf {
        self.root.join(folder_name(job))
    }

    /// Time until the next update, which is the same for all jobs.
    pub(crate) fn until_next(&self) -> Duration {
        let every = EVERY.as_nanos() as u64;
        Duration::from_nanos(every - self.begun.elapsed().as_nanos() as u64 % every)
    }

    /// Applies the changes of committed steps. No path is in `events` twice.
    ///
    /// # Errors
    /// If some of it could not be written; the rest has been. A repair fixes it.
    pub async fn apply(
        &self,
        job: Uuid,
        writer: WriterId,
        step: i64,
        events: Vec<FileEvent>,
    ) -> Result<Applied, MirrorTrouble> {
        let apply = move |folder| match apply::begin(folder, writer, events)? {
            Ok((mut files, seen)) => {
                files.write_all();
                apply::finish(files, &seen, writer, step)
            }
            Err(left) => Ok(left),
        };
        self.blocking(job, apply).await
    }

    /// New files under `input/` that are not in the job's `index`: files that people have put there. None in the folder
    /// of another `row` with the id.
    ///
    /// A file that changed within the last second is left for the next scan, because it may be copied incompletely.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub async fn found(&self, job: Uuid, row: i64, index: &[IndexEntry]) -> Result<Finds, MirrorTrouble> {
        let known: HashSet<String> = index.iter().map(|entry| entry.path.clone()).collect();
        let look = move |folder: Folder| match marker::read(&folder) {
            // The folder could not be taken over from another row.
            Some(marker) if marker.row != row => Ok(Finds::default()),
            _ => diff::found(&folder, &known),
        };
        self.blocking(job, look).await
    }

    /// Runs file work on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        job: Uuid,
        work: impl FnOnce(Folder) -> Result<T, MirrorTrouble> + Send + 'static,
    ) -> Result<T, MirrorTrouble> {
        let root = Arc::clone(&self.root);
        // Held by the thread: a caller that stops waiting for a slow volume does not free a slot.
        let turn = Arc::clone(&self.writers).acquire_owned().await;
        let done = on_files(move || {
            let _turn = turn;
            work(Folder::open(&root, &folder_name(job))?)
        });
        let done = done.await;
        done.unwrap_or_else(|error| Err(MirrorTrouble::new(format!("the mirror's file work ended early ({error})"))))
    }
}

fn folder_name(job: Uuid) -> String {
    format!("job_{job}")
}
