//! Feeds one job's mirror after each commit, asynchronously. Errors of the volume are logged and never fail the job;
//! the folder is repaired from the rows later.

mod changed;
mod deleted_jobs;
mod lag;
mod pending;
mod writer;

pub use lag::MirrorLag;

use changed::Changed;
use parking_lot::Mutex;

use crate::{Finds, IndexEntry, Mirror, MirrorTrouble, StaleFolder, sync::deleted_jobs::Leftovers};
use chrono::{DateTime, Utc};
use pending::{Sender, Wanted};
use plumbline_engine::{Change, Product};
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{ClaimedJob, Lease, Store};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::oneshot, task::JoinHandle, time::timeout};
use tracing::{Instrument, debug};
use writer::Writer;

/// How long an ending job waits for its folder. A slower volume is written in the background.
const FINISH: Duration = Duration::from_secs(10);

/// The state of a scan of `input/`.
pub enum InputScan {
    /// No scan runs.
    None,
    /// In progress.
    Underway,
    /// Finished with these files.
    Back(Finds),
}

/// The mirror of all jobs of a worker: the folders, their rows, and incomplete folders.
#[derive(Debug)]
pub struct MirrorSync {
    mirror: Mirror,
    store: Store,
    changed: Arc<Changed>,
    behind: Arc<MirrorLag>,
    /// Of deleted jobs.
    leftovers: Leftovers,
    /// Writers of jobs that have left before their folder was complete.
    late: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// An unfinished folder is assumed to belong to a live worker for this long.
    lease: Duration,
}

impl MirrorSync {
    /// Starts to answer the requests of feeds; ends when dropped.
    pub fn start(root: PathBuf, store: Store, lease: Duration) -> Self {
        Self {
            mirror: Mirror::new(root),
            changed: Arc::new(Changed::start(store.clone())),
            store,
            behind: Arc::default(),
            leftovers: Leftovers::default(),
            late: Arc::default(),
            lease,
        }
    }

    /// Waits for all writers. A process should end only after that, if it has the time: otherwise another worker must
    /// find the incomplete folders.
    pub async fn idle(&self) {
        let late = std::mem::take(&mut *self.late.lock());
        for writer in late {
            // A panic in the mirror is logged by the panic hook and affects no row.
            let _ = writer.await;
        }
    }

    /// Number of incomplete folders.
    pub fn behind(&self) -> &Arc<MirrorLag> {
        &self.behind
    }

    /// Repairs the folders of jobs that have left their worker, if that worker died early or the volume was full or
    /// missing; and removes those of deleted jobs.
    pub async fn catch_up(&self) {
        self.leftovers.remove(&self.mirror, &self.store).await;
        let left = self.behind.left_behind();
        let dead = self.mirror.stale(self.lease).await;
        let of_dead =
            |folder: StaleFolder| (Lease { job_id: folder.job, epoch: folder.epoch }, folder.step, Some(folder.row));
        let dead = dead.into_iter().map(of_dead);
        for (lease, shown, of_row) in left.into_iter().map(|lease| (lease, 0, None)).chain(dead) {
            match with_call_timeout(self.store.watch(lease.job_id)).await {
                // Its next worker begins with a repair.
                Ok(Some(row)) if matches!(row.status.as_str(), "pending" | "running") => self.behind.none(&lease),
                Ok(Some(row)) if of_row.is_none_or(|of_row| of_row == 0 || of_row == row_id(row.created_at)) => {
                    Writer::new(self, lease, row_id(row.created_at)).catch_up(shown.max(row.step)).await;
                }
                // A folder of another database or row, or of a pruned job.
                Ok(_) => self.behind.none(&lease),
                Err(error) => {
                    debug!(job.id = %lease.job_id, %error, "could not check the job of an incomplete folder; retrying at the next interval")
                }
            }
        }
    }
}

/// Distinguishes a row from another one with the same id.
fn row_id(created_at: DateTime<Utc>) -> i64 {
    created_at.timestamp_micros()
}

/// The sending end of one job's feed.
pub struct MirrorFeed {
    pending: Sender,
    behind: Arc<MirrorLag>,
    lease: Lease,
    /// A scan in progress.
    looking: Option<oneshot::Receiver<Finds>>,
    late: Arc<Mutex<Vec<JoinHandle<()>>>>,
    task: JoinHandle<()>,
}

impl MirrorFeed {
    /// Starts the feed; the folder is repaired before changes are applied.
    pub fn start(sync: &MirrorSync, claimed: &ClaimedJob) -> Self {
        let (pending, receiver) = pending::channel();
        let writer = Writer::new(sync, claimed.lease(), row_id(claimed.created_at));
        let (behind, lease) = (writer.behind.clone(), claimed.lease());
        let task = tokio::spawn(writer.run(claimed.step, receiver).in_current_span());
        Self { pending, behind, lease, looking: None, late: sync.late.clone(), task }
    }

    /// A step was committed: its changes are read from the rows at the next interval.
    pub fn feed(&self, step: i64, part: &'static str, changes: &[Change]) {
        if changes.iter().any(touches_files) {
            self.pending.step(step, part);
        }
    }

    /// Requests the files under `input/` that are not among these, as of the last step passed on: a file that it
    /// deleted does not count as new. Does not wait, because the writer may have much to apply first.
    pub fn look(&mut self, known: Vec<IndexEntry>) {
        let (answer, found) = oneshot::channel();
        self.looking = self.pending.look(Wanted { known, answer }).then_some(found);
    }

    /// The result of the last scan, if it finishes within this time.
    pub async fn found(&mut self, wait: Duration) -> InputScan {
        let Some(looking) = &mut self.looking else { return InputScan::None };
        let Ok(found) = timeout(wait, looking).await else { return InputScan::Underway };
        // Without an answer another worker has the job, and nothing is imported.
        let found = found.unwrap_or_default();
        self.looking = None;
        InputScan::Back(found)
    }

    /// Waits until everything is applied, or the timeout of the volume. `there`: the job's row existed a moment ago;
    /// otherwise it may have been deleted, and its folder is removed too.
    pub async fn finish(mut self, there: bool) {
        match there {
            true => self.pending.close_there(),
            false => self.pending.close(),
        }
        // A panic in the mirror is logged by the panic hook and affects no row.
        if timeout(FINISH, &mut self.task).await.is_err() {
            let message = format!("the volume accepted no writes for {} s", FINISH.as_secs());
            self.behind.trouble(&self.lease, &MirrorTrouble { message });
            let mut late = self.late.lock();
            late.retain(|writer| !writer.is_finished());
            late.push(self.task);
        }
    }
}

fn touches_files(change: &Change) -> bool {
    let is_about_files = |product: &Product| product.path().is_some() || matches!(product, Product::ShareFiles(_));
    change.product().is_some_and(is_about_files)
}

fn unreadable(error: plumbline_store::Error) -> MirrorTrouble {
    MirrorTrouble { message: format!("the mirror could not read the rows ({error})") }
}
