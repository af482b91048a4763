//! Feeds one job's mirror after each commit, in order, off the step's path. Trouble with the volume is logged and never
//! delays or fails the job; the rows are the truth and repair the folder later.

use crate::{
    context::Context,
    mirror::{Applied, FileEvent, Found, IndexEntry, Mirror, MirrorTrouble},
    patience::bounded,
    telemetry::spans,
};
use plumbline_engine::{Change, Product};
use plumbline_store::{
    ClaimedJob, Lease, Store,
    fail_points::{Point, reach},
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};
use tracing::{Instrument, info, warn};

/// Steps that may wait for a slow volume before the job waits too: bounds the memory they take.
const BACKLOG: usize = 32;

/// How long a look at the folder may keep a job waiting: a slow volume must not.
const LOOK: Duration = Duration::from_secs(2);

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
    files: Vec<Touched>,
}

/// What a step did to a file.
enum Touched {
    Event(FileEvent),
    /// Text was added: the whole content is read back from the rows.
    Appended(String),
}

/// The feeding end of one job's mirror.
pub(crate) struct MirrorFeed {
    sender: Option<mpsc::Sender<Task>>,
    task: JoinHandle<()>,
}

impl MirrorFeed {
    /// Starts the feed; the folder is first made equal to the rows.
    pub(crate) fn start(context: &Context, claimed: &ClaimedJob) -> Self {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let writer = Writer { mirror: context.mirror.clone(), store: context.store.clone(), lease: claimed.lease() };
        let task = tokio::spawn(writer.run(claimed.step, receiver).in_current_span());
        Self { sender: Some(sender), task }
    }

    /// Hands over what a committed step changed.
    pub(crate) async fn feed(&mut self, step: i64, part: &'static str, changes: Vec<Change>) {
        let files: Vec<Touched> = changes.into_iter().filter_map(touched).collect();
        if let (false, Some(sender)) = (files.is_empty(), &self.sender) {
            // The receiver ends early only when another worker has the job; then nothing is to be shown.
            let _ = sender.send(Task::Show(Step { number: step, part, files })).await;
        }
    }

    /// New files under `input/`, as of the last step handed over: a file that it deleted is not taken for a new one.
    pub(crate) async fn found(&self, known: Vec<IndexEntry>) -> Vec<Found> {
        let (answer, found) = oneshot::channel();
        let Some(sender) = &self.sender else { return Vec::new() };
        let asked = async {
            // It fails only when another worker has the job, and then nothing is taken in.
            let _ = sender.send(Task::Look(known, answer)).await;
            found.await.unwrap_or_default()
        };
        timeout(LOOK, asked).await.unwrap_or_default()
    }

    /// Waits until everything handed over is shown.
    pub(crate) async fn finish(&mut self) {
        self.sender = None;
        // A panic in the mirror is logged by the panic hook and concerns no row.
        let _ = (&mut self.task).await;
    }
}

fn touched(change: Change) -> Option<Touched> {
    let Change::Product(product) = change else {
        return None;
    };
    match product {
        Product::WriteFile(file) => Some(Touched::Event(FileEvent::Written { path: file.path, content: file.content })),
        Product::DeleteFile { path } => Some(Touched::Event(FileEvent::Deleted { path })),
        Product::AppendFile { path, .. } => Some(Touched::Appended(path)),
        Product::AddSource(_) | Product::AddCitation(_) | Product::AddRequirement(_) | Product::JudgeRequirement(_) => {
            None
        }
    }
}

/// The writing end.
struct Writer {
    mirror: Mirror,
    store: Store,
    lease: Lease,
}

impl Writer {
    async fn run(self, step: i64, mut tasks: mpsc::Receiver<Task>) {
        let mut trouble = Trouble::default();
        let mut last = step;
        trouble.note(&self.lease, self.repair(last).await);
        while let Some(task) = tasks.recv().await {
            let step = match task {
                Task::Show(step) => step,
                Task::Look(known, answer) => {
                    let found = self.mirror.found(self.lease.job_id, &known).await;
                    // Nobody waits any more when it took too long; the next look finds them.
                    let _ = answer.send(found.unwrap_or_default());
                    continue;
                }
            };
            last = step.number;
            let n_files = step.files.len();
            // After trouble the folder lacks more than this step: it is made equal to the rows, which have the step too.
            let shown = async {
                match trouble.now {
                    true => self.repair(last).await.map(|()| Applied::Written),
                    false => self.show(step).await,
                }
            };
            match spans::mirror(last, n_files, shown).await {
                Ok(Applied::Written) => trouble.note(&self.lease, Ok(())),
                Ok(Applied::Stale) => return,
                Err(error) => trouble.note(&self.lease, Err(error)),
            }
        }
        if trouble.now {
            trouble.note(&self.lease, self.repair(last).await);
        }
        if !trouble.now {
            trouble.note(&self.lease, self.mirror.finish(self.lease.job_id, self.lease.epoch).await);
        }
    }

    /// Makes the folder equal to the rows.
    async fn repair(&self, step: i64) -> Result<(), MirrorTrouble> {
        let rows = bounded(self.store.file_index(self.lease.job_id)).await.map_err(unreadable)?;
        let index: Vec<IndexEntry> = rows
            .into_iter()
            .filter_map(|row| {
                let size = u64::try_from(row.size).unwrap_or(0);
                Some(IndexEntry { path: row.path, sha256: row.sha256?, size })
            })
            .collect();
        let read = |path: String| async move { bounded(self.store.read_file(self.lease.job_id, &path)).await };
        let repaired = self.mirror.repair(self.lease.job_id, self.lease.epoch, step, &index, read).await?;
        if step > 0 && !(repaired.written.is_empty() && repaired.removed.is_empty()) {
            info!(
                job.id = %self.lease.job_id,
                n_written = repaired.written.len(),
                n_removed = repaired.removed.len(),
                "the mirror was put right from the rows"
            );
        }
        Ok(())
    }

    async fn show(&self, step: Step) -> Result<Applied, MirrorTrouble> {
        reach(Point::BeforeMirror, step.part).await.map_err(unreadable)?;
        let mut events = Vec::with_capacity(step.files.len());
        for touched in step.files {
            match touched {
                Touched::Event(event) => events.push(event),
                Touched::Appended(path) => {
                    let content = bounded(self.store.read_file(self.lease.job_id, &path)).await.map_err(unreadable)?;
                    events.extend(content.map(|content| FileEvent::Written { path, content }));
                }
            }
        }
        let applied = self.mirror.apply(self.lease.job_id, self.lease.epoch, step.number, events).await;
        reach(Point::AfterMirror, step.part).await.map_err(unreadable)?;
        applied
    }
}

/// Puts right the folders of jobs that have left their worker, where that worker died before it had shown everything.
pub(crate) async fn catch_up(context: Arc<Context>) {
    for unfinished in context.mirror.unfinished(context.options.timing.lease).await {
        let row = match bounded(context.store.watch(unfinished.job)).await {
            Ok(Some(row)) => row,
            // A folder of another database, or none to ask now.
            Ok(None) | Err(_) => continue,
        };
        if !matches!(row.status.as_str(), "pending" | "running") {
            let lease = Lease { job_id: unfinished.job, epoch: unfinished.epoch };
            let writer = Writer { mirror: context.mirror.clone(), store: context.store.clone(), lease };
            let mut trouble = Trouble::default();
            trouble.note(&lease, writer.repair(unfinished.step).await);
            if !trouble.now {
                trouble.note(&lease, writer.mirror.finish(lease.job_id, lease.epoch).await);
            }
        }
    }
}

fn unreadable(error: plumbline_store::Error) -> MirrorTrouble {
    MirrorTrouble { message: format!("the mirror could not read the rows ({error})") }
}

/// Logs when trouble begins and when it ends, not at every step in between.
#[derive(Default)]
struct Trouble {
    now: bool,
}

impl Trouble {
    fn note(&mut self, lease: &Lease, result: Result<(), MirrorTrouble>) {
        let before = std::mem::replace(&mut self.now, result.is_err());
        match result {
            Ok(()) if before => info!(job.id = %lease.job_id, "the mirror works again"),
            Ok(()) => {}
            Err(error) if !before => warn!(job.id = %lease.job_id, %error, "the mirror does not show everything"),
            Err(_) => {}
        }
    }
}
