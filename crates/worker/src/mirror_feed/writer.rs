//! The writing end of a job's feed.

use super::{
    Behind,
    waiting::{Split, Steps, Taker, Wanted},
};
use crate::{
    context::Context,
    mirror::{Applied, FileEvent, IndexEntry, Marker, Mirror, MirrorTrouble},
    patience::bounded,
    telemetry::spans,
};
use plumbline_store::{
    Lease, Store,
    fail_points::{Point, reach},
};
use std::sync::Arc;
use tracing::{info, warn};

/// Writes one job's folder.
pub(super) struct Writer {
    mirror: Mirror,
    store: Store,
    lease: Lease,
    pub(super) behind: Arc<Behind>,
}

impl Writer {
    pub(super) fn new(context: &Context, lease: Lease) -> Self {
        Self {
            mirror: context.mirror.clone(),
            store: context.store.clone(),
            lease,
            behind: context.vitals.behind.clone(),
        }
    }

    /// Repairs the folder and shows what comes, until no more comes or another worker has the job. It waits most of the
    /// time, so all that it does besides is boxed.
    pub(super) async fn run(self, step: i64, waiting: Taker) {
        let mut last = step;
        // Of a new job there is nothing to show yet: its folder is begun with its first files.
        let (mut begun, mut lacks) = (step > 0, false);
        if begun {
            lacks = self.note(Box::pin(self.repair(step)).await);
        }
        while let Some(batch) = waiting.next(&self.mirror).await {
            if !begun {
                begun = true;
                lacks = self.note(Box::pin(self.repair(step)).await);
            }
            let mut look = batch.look;
            if let Some(steps) = batch.steps {
                last = steps.number;
                if let Some(look) = &mut look {
                    // What the job itself has written since it asked is nobody's who put it there.
                    look.known.extend(steps.paths().map(entry));
                }
                let (n_files, waited) = (steps.n_files(), steps.since.elapsed());
                let shown = Box::pin(spans::mirror(last, n_files, waited, self.bring_up(steps, lacks))).await;
                let stale = matches!(shown, Ok(Applied::Stale));
                lacks = self.note(shown);
                if stale {
                    return;
                }
            }
            if let Some(look) = look {
                Box::pin(self.look(look)).await;
            }
        }
        // What people changed meanwhile is put right at the latest now.
        let there = waiting.left_a_row();
        drop(waiting);
        match there {
            true => Box::pin(self.catch_up(last)).await,
            false => Box::pin(self.end(last)).await,
        }
    }

    /// Of a job that was deleted while it ran there is nothing to show.
    async fn end(self, step: i64) {
        match bounded(self.store.watch(self.lease.job_id)).await {
            Ok(None) => self.remove().await,
            _ => self.catch_up(step).await,
        }
    }

    async fn look(&self, Wanted { known, answer }: Wanted) {
        let found = self.mirror.found(self.lease.job_id, &known).await;
        // Nobody waits any more when the job is gone.
        let _ = answer.send(found.unwrap_or_default());
    }

    /// Shows steps. After trouble the folder lacks more than these: it is made equal to the rows, which have them too.
    async fn bring_up(&self, steps: Steps, lacks: bool) -> Result<Applied, MirrorTrouble> {
        let number = steps.number;
        if lacks || steps.placed {
            drop(steps);
            return Box::pin(self.repair(number)).await;
        }
        match self.show(steps).await {
            Ok(Applied::Wiped) => Box::pin(self.repair(number)).await,
            shown => shown,
        }
    }

    /// Makes the folder of a job that has left equal to the rows, and says that it is.
    pub(super) async fn catch_up(self, step: i64) {
        if self.note(self.make_equal(step, true).await) {
            self.behind.left(&self.lease);
        }
    }

    async fn remove(&self) {
        if let Err(error) = self.mirror.remove(self.lease.job_id).await {
            warn!(job.id = %self.lease.job_id, %error, "the folder of a deleted job stays; remove it by hand");
        }
        self.behind.none(&self.lease);
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

    /// Makes the folder equal to the rows.
    async fn repair(&self, step: i64) -> Result<Applied, MirrorTrouble> {
        self.make_equal(step, false).await
    }

    /// Makes the folder equal to the rows, and says so in it: as of `step`, and whether nothing more comes.
    async fn make_equal(&self, step: i64, done: bool) -> Result<Applied, MirrorTrouble> {
        // Before its first step a job has no files.
        let rows = match step {
            0 => Vec::new(),
            _ => Box::pin(bounded(self.store.file_index(self.lease.job_id))).await.map_err(unreadable)?,
        };
        let index: Vec<IndexEntry> = rows
            .into_iter()
            .filter_map(|row| {
                let size = u64::try_from(row.size).unwrap_or(0);
                Some(IndexEntry { path: row.path, sha256: row.sha256?, size })
            })
            .collect();
        // Boxed too: while many jobs wait for their turn at the disk, none of them reads.
        let read =
            |path: String| Box::pin(async move { bounded(self.store.read_file(self.lease.job_id, &path)).await });
        let last = Marker { epoch: self.lease.epoch, step, done };
        let repaired = self.mirror.repair(self.lease.job_id, last, &index, read).await?;
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

    async fn show(&self, steps: Steps) -> Result<Applied, MirrorTrouble> {
        self.reach(Point::BeforeMirror, &steps.parts).await?;
        let (number, passed) = (steps.number, steps.parts.clone());
        let Split { events, held, parts } = steps.split();
        let mut shown = self.apply(number, events).await;
        drop(held);
        for (paths, bytes) in parts {
            if matches!(shown, Ok(Applied::Written)) {
                let _room = self.behind.room.to_read(bytes).await;
                shown = self.apply(number, Box::pin(self.read_back(&paths)).await?).await;
            }
        }
        self.reach(Point::AfterMirror, &passed).await?;
        shown
    }

    async fn apply(&self, step: i64, events: Vec<FileEvent>) -> Result<Applied, MirrorTrouble> {
        self.mirror.apply(self.lease.job_id, self.lease.epoch, step, events).await
    }

    /// Files as the rows have them now; what is gone meanwhile comes by as gone.
    async fn read_back(&self, paths: &[String]) -> Result<Vec<FileEvent>, MirrorTrouble> {
        let files = bounded(self.store.read_files(self.lease.job_id, paths)).await.map_err(unreadable)?;
        Ok(files.into_iter().map(|(path, content)| FileEvent::Written { path, content }).collect())
    }

    async fn reach(&self, point: Point, parts: &[&str]) -> Result<(), MirrorTrouble> {
        for part in parts {
            reach(point, part).await.map_err(unreadable)?;
        }
        Ok(())
    }
}

fn entry(path: &str) -> IndexEntry {
    IndexEntry { path: path.to_owned(), sha256: String::new(), size: 0 }
}

fn unreadable(error: plumbline_store::Error) -> MirrorTrouble {
    MirrorTrouble { message: format!("the mirror could not read the rows ({error})") }
}
