//! Feeds one job's mirror after each commit, in order, off the step's path. Trouble with the volume is logged and never
//! delays or fails the job; the rows are the truth and repair the folder later.

use crate::{
    context::Context,
    mirror::{Applied, FileEvent, IndexEntry, Mirror, MirrorTrouble},
};
use plumbline_engine::{Change, Product};
use plumbline_store::{ClaimedJob, Lease, Store};
use tokio::{sync::mpsc, task::JoinHandle};
use tracing::{info, warn};

/// Steps that may wait for a slow volume before the job waits too: bounds the memory they take.
const BACKLOG: usize = 32;

/// One committed step's files.
struct Step {
    number: i64,
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
    sender: Option<mpsc::Sender<Step>>,
    task: JoinHandle<()>,
}

impl MirrorFeed {
    /// Starts the feed; the folder is first made equal to the rows.
    pub(crate) fn start(context: &Context, claimed: &ClaimedJob) -> Self {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let writer = Writer { mirror: context.mirror.clone(), store: context.store.clone(), lease: claimed.lease() };
        let task = tokio::spawn(writer.run(claimed.step, receiver));
        Self { sender: Some(sender), task }
    }

    /// Hands over what a committed step changed.
    pub(crate) async fn feed(&mut self, step: i64, changes: Vec<Change>) {
        let files: Vec<Touched> = changes.into_iter().filter_map(touched).collect();
        if let (false, Some(sender)) = (files.is_empty(), &self.sender) {
            // The receiver ends early only when another worker has the job; then nothing is to be shown.
            let _ = sender.send(Step { number: step, files }).await;
        }
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
        Product::WriteFile(file) => {
            Some(Touched::Event(FileEvent::Written { path: file.path, content: file.content }))
        }
        Product::DeleteFile { path } => Some(Touched::Event(FileEvent::Deleted { path })),
        Product::AppendFile { path, .. } => Some(Touched::Appended(path)),
        Product::AddSource(_) | Product::AddCitation(_) | Product::AddRequirement(_) => None,
    }
}

/// The writing end.
struct Writer {
    mirror: Mirror,
    store: Store,
    lease: Lease,
}

impl Writer {
    async fn run(self, step: i64, mut steps: mpsc::Receiver<Step>) {
        let mut trouble = Trouble::default();
        let mut last = step;
        trouble.note(&self.lease, self.repair(last).await);
        while let Some(step) = steps.recv().await {
            last = step.number;
            match self.show(step).await {
                Ok(Applied::Written) => trouble.note(&self.lease, Ok(())),
                Ok(Applied::Stale) => return,
                Err(error) => trouble.note(&self.lease, Err(error)),
            }
        }
        if trouble.now {
            trouble.note(&self.lease, self.repair(last).await);
        }
    }

    /// Makes the folder equal to the rows.
    async fn repair(&self, step: i64) -> Result<(), MirrorTrouble> {
        let rows = self.store.file_index(self.lease.job_id).await.map_err(unreadable)?;
        let index: Vec<IndexEntry> = rows
            .into_iter()
            .filter_map(|row| {
                let size = u64::try_from(row.size).unwrap_or(0);
                Some(IndexEntry { path: row.path, sha256: row.sha256?, size })
            })
            .collect();
        let read = |path: String| async move { self.store.read_file(self.lease.job_id, &path).await };
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
        let mut events = Vec::with_capacity(step.files.len());
        for touched in step.files {
            match touched {
                Touched::Event(event) => events.push(event),
                Touched::Appended(path) => {
                    let content = self.store.read_file(self.lease.job_id, &path).await.map_err(unreadable)?;
                    events.extend(content.map(|content| FileEvent::Written { path, content }));
                }
            }
        }
        self.mirror.apply(self.lease.job_id, self.lease.epoch, step.number, events).await
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
