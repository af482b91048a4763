//! Feeds one job's mirror after each commit, off the step's path. Trouble with the volume is logged and never delays or
//! fails the job; the rows are the truth and repair the folder later.

mod changed;
mod deleted_jobs;
mod lag;
mod pending;
mod writer;

pub use lag::MirrorLag;

use changed::Changed;

use crate::{Finds, IndexEntry, Mirror, MirrorTrouble, StaleFolder, sync::deleted_jobs::Leftovers};
use chrono::{DateTime, Utc};
use pending::{Sender, Wanted};
use plumbline_engine::{Change, Product};
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{ClaimedJob, Lease, Store};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    task::JoinHandle,
    time::timeout,
};
use tracing::{Instrument, debug};
use writer::Writer;

/// How long a job that ends waits for its folder. A volume that takes longer is written in the background.
const FINISH: Duration = Duration::from_secs(10);

/// How it stands with a look at `input/`.
pub enum InputScan {
    /// Nobody looks.
    None,
    /// It has not come back.
    Underway,
    /// It has come back with these.
    Back(Finds),
}

/// The mirror of all jobs of a worker: the folders, the rows they are made from, and what is still lacking.
#[derive(Debug)]
pub struct MirrorSync {
    mirror: Mirror,
    store: Store,
    changed: Arc<Changed>,
    behind: Arc<MirrorLag>,
    /// Of deleted jobs.
    leftovers: Leftovers,
    /// Writers of jobs that have left without waiting any longer for their folder.
    late: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// A folder that says of itself that it is unfinished belongs to a live worker for this long.
    lease: Duration,
}

impl MirrorSync {
    /// Starts to answer what the feeds of jobs ask the rows; ends when it is dropped.
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

    /// Waits until no writer is at work any more. Before that no process should end that has the time: what it has not
    /// shown is shown only when another worker looks for it.
    pub async fn idle(&self) {
        let late = std::mem::take(&mut *self.late.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in late {
            // A panic in the mirror is logged by the panic hook and concerns no row.
            let _ = writer.await;
        }
    }

    /// Folders that do not show everything.
    pub fn behind(&self) -> &Arc<MirrorLag> {
        &self.behind
    }

    /// Puts right the folders of jobs that have left their worker, where that worker died before it had shown everything,
    /// or the volume had no room or was not there; and removes those of deleted jobs.
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
                // A folder of another database or row, or a job that was pruned.
                Ok(_) => self.behind.none(&lease),
                Err(error) => debug!(job.id = %lease.job_id, %error, "the folder is left for the next look"),
            }
        }
    }
}

/// What a row is told by from another one of its id.
fn row_id(created_at: DateTime<Utc>) -> i64 {
    created_at.timestamp_micros()
}

/// The feeding end of one job's mirror.
pub struct MirrorFeed {
    pending: Sender,
    behind: Arc<MirrorLag>,
    lease: Lease,
    /// A look that has not come back.
    looking: Option<oneshot::Receiver<Finds>>,
    late: Arc<Mutex<Vec<JoinHandle<()>>>>,
    task: JoinHandle<()>,
}

impl MirrorFeed {
    /// Starts the feed; the folder is made equal to the rows before anything is shown in it.
    pub fn start(sync: &MirrorSync, claimed: &ClaimedJob) -> Self {
        let (pending, receiver) = pending::channel();
        let writer = Writer::new(sync, claimed.lease(), row_id(claimed.created_at));
        let (behind, lease) = (writer.behind.clone(), claimed.lease());
        let task = tokio::spawn(writer.run(claimed.step, receiver).in_current_span());
        Self { pending, behind, lease, looking: None, late: sync.late.clone(), task }
    }

    /// A step was committed: what it changed in files is read from the rows when its time has come.
    pub fn feed(&self, step: i64, part: &'static str, changes: &[Change]) {
        if changes.iter().any(touches_files) {
            self.pending.step(step, part);
        }
    }

    /// Asks for the files under `input/` that are not among these, as of the last step handed over: a file that it deleted
    /// is not taken for a new one. Nobody waits for it, because the writer may have much to show first.
    pub fn look(&mut self, known: Vec<IndexEntry>) {
        let (answer, found) = oneshot::channel();
        self.looking = self.pending.look(Wanted { known, answer }).then_some(found);
    }

    /// What the last look has found, if it has come back since.
    pub fn found(&mut self) -> InputScan {
        let Some(looking) = &mut self.looking else { return InputScan::None };
        let found = match looking.try_recv() {
            Err(TryRecvError::Empty) => return InputScan::Underway,
            Ok(found) => found,
            // Another worker has the job, and then nothing is taken in.
            Err(TryRecvError::Closed) => Finds::default(),
        };
        self.looking = None;
        InputScan::Back(found)
    }

    /// Waits until everything handed over is shown, or the volume has had its time. `there`: the job's row was there a
    /// moment ago; otherwise it may have been deleted, and then its folder goes too.
    pub async fn finish(mut self, there: bool) {
        match there {
            true => self.pending.close_there(),
            false => self.pending.close(),
        }
        // A panic in the mirror is logged by the panic hook and concerns no row.
        if timeout(FINISH, &mut self.task).await.is_err() {
            let message = format!("the volume has taken nothing for {} s", FINISH.as_secs());
            self.behind.trouble(&self.lease, &MirrorTrouble { message });
            let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
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
