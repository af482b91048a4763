//! The writing end of a job's feed.

use super::{Behind, Step, Task, Touched};
use crate::{
    context::Context,
    mirror::{Applied, FileEvent, IndexEntry, Mirror, MirrorTrouble},
    patience::bounded,
    telemetry::spans,
};
use plumbline_store::{
    Lease, Store,
    fail_points::{Point, reach},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::mpsc;
use tracing::info;

/// Writes one job's folder.
pub(super) struct Writer {
    mirror: Mirror,
    store: Store,
    lease: Lease,
    pub(super) behind: Arc<Behind>,
    /// A step was not handed over, because too many waited.
    pub(super) missed: Arc<AtomicBool>,
}

impl Writer {
    pub(super) fn new(context: &Context, lease: Lease) -> Self {
        Self {
            mirror: context.mirror.clone(),
            store: context.store.clone(),
            lease,
            behind: context.vitals.behind.clone(),
            missed: Arc::default(),
        }
    }

    /// Repairs the folder and shows step after step, until no more comes or another worker has the job.
    pub(super) async fn run(self, step: i64, mut tasks: mpsc::Receiver<Task>) {
        let mut last = step;
        let mut lacks = self.note(self.repair(last).await);
        while let Some(task) = tasks.recv().await {
            let step = match task {
                Task::Show(step) => step,
                Task::Look(known, answer) => {
                    let found = self.mirror.found(self.lease.job_id, &known).await;
                    // Nobody waits any more when the job is gone.
                    let _ = answer.send(found.unwrap_or_default());
                    continue;
                }
            };
            last = step.number;
            let (n_files, waited) = (step.files.len(), step.committed.elapsed());
            // After trouble the folder lacks more than this step: it is made equal to the rows, which have the step too.
            let placed = step.files.iter().any(|touched| matches!(touched, Touched::Placed));
            let repairs = lacks || self.missed.swap(false, Ordering::AcqRel) || placed;
            let shown = async {
                match repairs {
                    true => self.repair(last).await,
                    false => match self.show(step).await {
                        Ok(Applied::Wiped) => self.repair(last).await,
                        shown => shown,
                    },
                }
            };
            let shown = spans::mirror(last, n_files, waited, shown).await;
            let stale = matches!(shown, Ok(Applied::Stale));
            lacks = self.note(shown);
            if stale {
                return;
            }
        }
        // What people changed meanwhile is put right at the latest now.
        self.catch_up(last).await;
    }

    /// Makes the folder of a job that has left equal to the rows, and says that it is.
    pub(super) async fn catch_up(self, step: i64) {
        if self.note(self.repair(step).await) || self.note(self.finish().await) {
            self.behind.left(&self.lease);
        }
    }

    /// Whether there was trouble.
    fn note(&self, result: Result<Applied, MirrorTrouble>) -> bool {
        if matches!(result, Ok(Applied::Stale)) {
            info!(job.id = %self.lease.job_id, "the folder is a later worker's and is left to it");
        }
        match &result {
            Ok(_) => self.behind.none(&self.lease),
            Err(error) => self.behind.trouble(&self.lease, error),
        }
        result.is_err()
    }

    async fn finish(&self) -> Result<Applied, MirrorTrouble> {
        self.mirror.finish(self.lease.job_id, self.lease.epoch).await.map(|()| Applied::Written)
    }

    /// Makes the folder equal to the rows.
    async fn repair(&self, step: i64) -> Result<Applied, MirrorTrouble> {
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
        Ok(if repaired.stale { Applied::Stale } else { Applied::Written })
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
                Touched::Placed => {}
            }
        }
        let applied = self.mirror.apply(self.lease.job_id, self.lease.epoch, step.number, events).await;
        reach(Point::AfterMirror, step.part).await.map_err(unreadable)?;
        applied
    }
}

fn unreadable(error: plumbline_store::Error) -> MirrorTrouble {
    MirrorTrouble { message: format!("the mirror could not read the rows ({error})") }
}
