//! Feeds one job's mirror after each commit, in order, off the step's path. Trouble with the volume is logged and never
//! delays or fails the job; the rows are the truth and repair the folder later.

mod behind;
mod writer;

pub(crate) use behind::Behind;

use crate::{
    context::Context,
    mirror::{FileEvent, Found, IndexEntry, MirrorTrouble},
    patience::bounded,
};
use plumbline_engine::{Change, Product};
use plumbline_store::{ClaimedJob, Lease};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot::{self, error::TryRecvError},
    },
    task::JoinHandle,
    time::timeout,
};
use tracing::{Instrument, debug};
use writer::Writer;

/// Steps that may wait for a slow volume; bounds the memory they take. What is more is read back from the rows.
const BACKLOG: usize = 32;

/// How long a job that ends waits for its folder. A volume that takes longer is written in the background.
const FINISH: Duration = Duration::from_secs(10);

/// What the writing end is asked to do, in this order.
enum Task {
    Show(Step),
    /// Say which files under `input/` are not among these.
    Look(Vec<IndexEntry>, oneshot::Sender<Vec<Found>>),
}

/// One committed step's files.
struct Step {
    number: i64,
    /// The part of the job, for the fail-points.
    part: &'static str,
    committed: Instant,
    files: Vec<Touched>,
}

/// What a step did to a file.
enum Touched {
    Event(FileEvent),
    /// Text was added: the whole content is read back from the rows.
    Appended(String),
    /// A content that was put aside became a file's. There may be many: they are read back one at a time, by a repair.
    Placed,
}

/// How it stands with a look at `input/`.
pub(crate) enum Look {
    /// Nobody looks.
    None,
    /// It has not come back.
    Underway,
    /// It has come back with these.
    Back(Vec<Found>),
}

/// The feeding end of one job's mirror.
pub(crate) struct MirrorFeed {
    sender: Option<mpsc::Sender<Task>>,
    missed: Arc<AtomicBool>,
    behind: Arc<Behind>,
    lease: Lease,
    /// A look that has not come back.
    looking: Option<oneshot::Receiver<Vec<Found>>>,
    task: JoinHandle<()>,
}

impl MirrorFeed {
    /// Starts the feed; the folder is first made equal to the rows.
    pub(crate) fn start(context: &Context, claimed: &ClaimedJob) -> Self {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let writer = Writer::new(context, claimed.lease());
        let (missed, behind, lease) = (writer.missed.clone(), writer.behind.clone(), claimed.lease());
        let task = tokio::spawn(writer.run(claimed.step, receiver).in_current_span());
        Self { sender: Some(sender), missed, behind, lease, looking: None, task }
    }

    /// Hands over what a committed step changed.
    pub(crate) fn feed(&self, step: i64, part: &'static str, changes: Vec<Change>) {
        let mut files: Vec<Touched> = changes.into_iter().filter_map(touched).collect();
        // What is read back has all that the step added.
        files.dedup_by(|a, b| matches!((a, b), (Touched::Appended(a), Touched::Appended(b)) if a == b));
        if let (false, Some(sender)) = (files.is_empty(), &self.sender) {
            match sender.try_send(Task::Show(Step { number: step, part, committed: Instant::now(), files })) {
                Err(TrySendError::Full(_)) => self.missed.store(true, Ordering::Release),
                // The receiver ends early only when another worker has the job; then nothing is to be shown.
                Ok(()) | Err(TrySendError::Closed(_)) => {}
            }
        }
    }

    /// Asks for the files under `input/` that are not among these, as of the last step handed over: a file that it deleted
    /// is not taken for a new one. Nobody waits for it, because the writer may have much to show first.
    pub(crate) fn look(&mut self, known: Vec<IndexEntry>) {
        let (answer, found) = oneshot::channel();
        let asked = self.sender.as_ref().is_some_and(|sender| sender.try_send(Task::Look(known, answer)).is_ok());
        self.looking = asked.then_some(found);
    }

    /// What the last look has found, if it has come back since.
    pub(crate) fn found(&mut self) -> Look {
        let Some(looking) = &mut self.looking else { return Look::None };
        let found = match looking.try_recv() {
            Err(TryRecvError::Empty) => return Look::Underway,
            Ok(found) => found,
            // Another worker has the job, and then nothing is taken in.
            Err(TryRecvError::Closed) => Vec::new(),
        };
        self.looking = None;
        Look::Back(found)
    }

    /// Waits until everything handed over is shown, or the volume has had its time.
    pub(crate) async fn finish(&mut self) {
        self.sender = None;
        // A panic in the mirror is logged by the panic hook and concerns no row.
        if timeout(FINISH, &mut self.task).await.is_err() {
            let message = format!("the volume has taken nothing for {} s", FINISH.as_secs());
            self.behind.trouble(&self.lease, &MirrorTrouble { message });
        }
    }
}

fn touched(change: Change) -> Option<Touched> {
    let Change::Product(product) = change else {
        return None;
    };
    match product {
        Product::WriteFile(file) => Some(Touched::Event(FileEvent::Written { path: file.path, content: file.content })),
        Product::DeleteFile { path } => Some(Touched::Event(FileEvent::Deleted { path })),
        Product::PlaceFile(_) => Some(Touched::Placed),
        Product::AppendFile { path, .. } => Some(Touched::Appended(path)),
        Product::AddSource(_) | Product::AddCitation(_) | Product::AddRequirement(_) | Product::JudgeRequirement(_) => {
            None
        }
    }
}

/// Puts right the folders of jobs that have left their worker, where that worker died before it had shown everything,
/// or the volume had no room or was not there.
pub(crate) async fn catch_up(context: Arc<Context>) {
    let left = context.vitals.behind.left_behind();
    let dead = context.mirror.unfinished(context.options.timing.lease).await;
    let dead = dead.into_iter().map(|folder| (Lease { job_id: folder.job, epoch: folder.epoch }, folder.step));
    for (lease, shown) in left.into_iter().map(|lease| (lease, 0)).chain(dead) {
        let writer = Writer::new(&context, lease);
        match bounded(context.store.watch(lease.job_id)).await {
            // Its next worker begins with a repair.
            Ok(Some(row)) if matches!(row.status.as_str(), "pending" | "running") => writer.behind.none(&lease),
            Ok(Some(row)) => writer.catch_up(shown.max(row.step)).await,
            // A folder of another database, or a job that was pruned.
            Ok(None) => writer.behind.none(&lease),
            Err(error) => debug!(job.id = %lease.job_id, %error, "the folder is left for the next look"),
        }
    }
}
