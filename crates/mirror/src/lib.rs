//! The mirror: the folder `job_<uuid>/` that shows a job's workspace to people.
//!
//! Rows are the truth and the folder is a view of them: what a step changed is read from them once it is committed, ten times a
//! second for all jobs together. Nothing of a job's progress depends on it: what goes wrong
//! here comes back as [`MirrorTrouble`], which the worker logs and shows, and the next repair puts it right.
//!
//! ```text
//! job_<uuid>/
//!   workspace.md, input/…, output/…        the files, as of some committed step
//!   .plumbline/mirror.json                 {"row": …, "epoch": 7, "step": 41}: whose view this is, and how far it got, about
//!   .plumbline/tmp/                        files being written
//! ```
//!
//! - **Never half a file.** A file is written under `.plumbline/tmp/`, flushed to the disk, then renamed to its place.
//!   Files that wait at the same time, also of several jobs, are written first and flushed then, which costs a disk little
//!   more than one of them.
//! - **Never outside.** All paths are resolved beneath the job's folder by the kernel (cap-std), and the folders on the way
//!   to a file are opened one by one and never through a link, so one that somebody plants leads nowhere.
//! - **Never by a worker that lost the job.** The marker holds the lease epoch of the last writer, and a writer of an
//!   older epoch stops before it touches a file. Between that look and the rename lies an instant in which a
//!   newer epoch can begin; the newer worker's repair compares every file with its row and so undoes even that. Where
//!   the newer worker has been through by then, the older one takes back that the folder is finished, and it is compared
//!   once more.
//! - **Never of another row.** The marker names the row by its time. Where an id comes again, its new row begins with an
//!   empty folder, and a writer of the row before stops.
//! - **What people do.** A new file under `input/` is handed back as [`Found`] so that the job takes it in; any other
//!   change from outside is put right and logged.

mod apply;
mod content_cache;
mod diff;
mod events;
mod export;
mod folder;
mod marker;
mod queue;
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
use queue::{Order, Queue};
use std::{
    collections::HashSet,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, oneshot};
use uuid::Uuid;

/// Folders that are looked at and repaired at a time. Each waits for the disk most of the time, and more of them than a
/// disk takes orders at once would only be memory.
const WRITERS: usize = 16;

/// Time between two occasions to show what jobs have changed. Nobody reads faster, and what was changed meanwhile is
/// written together: many steps of a fast job, one step each of many jobs.
const EVERY: Duration = Duration::from_millis(100);

/// Keeps the folders of all jobs under one workspace folder; cheap to clone.
#[derive(Clone, Debug)]
pub struct Mirror {
    root: Arc<PathBuf>,
    writers: Arc<Semaphore>,
    queue: Arc<Queue>,
    begun: Instant,
}

impl Mirror {
    /// A mirror under the workspace folder (`PLUMBLINE_WORKSPACE_DIR`). The folder is created when it is first needed.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: Arc::new(root.into()),
            writers: Arc::new(Semaphore::new(WRITERS)),
            queue: Arc::default(),
            begun: Instant::now(),
        }
    }

    /// Where a job's files are shown.
    pub fn path(&self, job: Uuid) -> PathBuf {
        self.root.join(folder_name(job))
    }

    /// Time until the next occasion to show something, which is the same for all jobs.
    pub(crate) fn until_next(&self) -> Duration {
        let every = EVERY.as_nanos() as u64;
        Duration::from_nanos(every - self.begun.elapsed().as_nanos() as u64 % every)
    }

    /// Shows what committed steps changed, together with what is to be shown of other jobs at this moment. No path is in
    /// `events` twice.
    ///
    /// # Errors
    /// When some of it could not be written; the rest has been. A repair puts it right.
    pub async fn apply(
        &self,
        job: Uuid,
        writer: WriterId,
        step: i64,
        events: Vec<FileEvent>,
    ) -> Result<Applied, MirrorTrouble> {
        let (answer, shown) = oneshot::channel();
        self.queue.push(&self.root, Order { job, writer, step, events, answer });
        shown.await.unwrap_or_else(|_| Err(MirrorTrouble::new("the mirror's file work ended early")))
    }

    /// New files under `input/` that are not in the job's `index`: what people have put there. In the folder of another `row` of
    /// the id there are none.
    ///
    /// A file that changed within the last second is left for the next look, because it may be half copied.
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
        // Held by the thread: a caller that gives up waiting for a slow volume does not make room for one more.
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
