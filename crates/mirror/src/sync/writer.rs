//! The receiving end of a job's feed.

use super::{
    Changed, MirrorLag, MirrorSync,
    pending::{Receiver, Steps, Wanted},
    unreadable,
};
use crate::{Applied, FileEvent, IndexEntry, Marker, Mirror, MirrorTrouble, WriterId};
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{
    ChangedFile, Lease, Store,
    fail_points::{Point, reach},
};
use plumbline_telemetry::spans;
use std::sync::Arc;
use tracing::{Span, info, warn};

/// Maximum bytes of files read from the rows at once, unless a single file is larger.
const READ_AT_ONCE: i64 = 1 << 20;

/// Writes one job's folder.
pub(crate) struct Writer {
    mirror: Mirror,
    store: Store,
    changed: Arc<Changed>,
    lease: Lease,
    /// The job's row; see [`WriterId`].
    row: i64,
    pub(crate) behind: Arc<MirrorLag>,
}

impl Writer {
    pub(crate) fn new(sync: &MirrorSync, lease: Lease, row: i64) -> Self {
        Self {
            mirror: sync.mirror.clone(),
            store: sync.store.clone(),
            changed: sync.changed.clone(),
            lease,
            row,
            behind: sync.behind.clone(),
        }
    }

    /// Repairs the folder and applies changes, until the job leaves or another worker has it. It mostly waits, so its
    /// other futures are boxed to keep it small.
    pub(crate) async fn run(self, step: i64, waiting: Receiver) {
        let (mut last, mut shown) = (step, step);
        // A new job has nothing to apply yet: its folder is created with its first files.
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
                let waited = steps.since.elapsed();
                let bringing_up = self.bring_up(&steps, shown, lacks, look.as_mut());
                let brought = Box::pin(spans::mirror(last, waited, bringing_up)).await;
                let stale = matches!(brought, Ok(Applied::Stale));
                lacks = self.note(brought);
                if stale {
                    return;
                }
                shown = if lacks { shown } else { last };
            }
            if let Some(look) = look {
                Box::pin(self.look(look)).await;
            }
        }
        // External changes are reverted now at the latest.
        let there = waiting.left_a_row();
        drop(waiting);
        match there {
            true => Box::pin(self.catch_up(last)).await,
            false => Box::pin(self.end(last)).await,
        }
    }

    /// The run was dropped: the job was deleted, or is another worker's, or its last step was committed and the answer
    /// did not arrive in time, so that the row has a later step than the feed. A step may also still be committed: then
    /// the folder is not finished, and is looked at again after the lease.
    async fn end(self, step: i64) {
        match with_call_timeout(self.store.watch(self.lease.job_id)).await {
            Ok(None) => self.remove().await,
            Ok(Some(row)) if row.status == "running" => {
                self.note(self.repair(step.max(row.step)).await);
            }
            Ok(Some(row)) => self.catch_up(step.max(row.step)).await,
            Err(error) => {
                self.note(Err(unreadable(error)));
                self.behind.left(&self.lease);
            }
        }
    }

    async fn look(&self, Wanted { known, answer }: Wanted) {
        let found = self.mirror.found(self.lease.job_id, self.row, &known).await;
        // There is no waiter if the job is gone.
        let _ = answer.send(found.unwrap_or_default());
    }

    /// Applies the changes after the last applied step. After errors the folder lacks more than these, so it is
    /// repaired.
    async fn bring_up(
        &self,
        steps: &Steps,
        shown: i64,
        lacks: bool,
        look: Option<&mut Wanted>,
    ) -> Result<Applied, MirrorTrouble> {
        if lacks {
            return Box::pin(self.repair(steps.number)).await;
        }
        self.reach(Point::BeforeMirror, &steps.parts).await?;
        let brought = match self.show(steps.number, shown, look).await {
            Ok(Applied::Wiped) => Box::pin(self.repair(steps.number)).await,
            brought => brought,
        };
        self.reach(Point::AfterMirror, &steps.parts).await?;
        brought
    }

    /// Repairs the folder of a job that has left, and sets the finished flag.
    pub(crate) async fn catch_up(self, step: i64) {
        if self.note(self.make_equal(step, true).await) {
            self.behind.left(&self.lease);
        }
    }

    async fn remove(&self) {
        if let Err(error) = self.mirror.remove(self.lease.job_id).await {
            warn!(job.id = %self.lease.job_id, %error, "could not remove the folder of a deleted job; remove it by hand");
        }
        self.behind.none(&self.lease);
    }

    /// Whether there were errors.
    fn note(&self, result: Result<Applied, MirrorTrouble>) -> bool {
        if matches!(result, Ok(Applied::Stale)) {
            info!(job.id = %self.lease.job_id, "the folder belongs to a later worker; leaving it alone");
        }
        match &result {
            Ok(_) => self.behind.none(&self.lease),
            Err(error) => self.behind.trouble(&self.lease, error),
        }
        result.is_err()
    }

    /// Repairs the folder.
    async fn repair(&self, step: i64) -> Result<Applied, MirrorTrouble> {
        self.make_equal(step, false).await
    }

    /// Repairs the folder, and records it in the marker: as of `step`, and whether it is finished.
    async fn make_equal(&self, step: i64, done: bool) -> Result<Applied, MirrorTrouble> {
        // Before its first step a job has no files.
        let rows = match step {
            0 => Vec::new(),
            _ => Box::pin(with_call_timeout(self.store.file_index(self.lease.job_id))).await.map_err(unreadable)?,
        };
        let index: Vec<IndexEntry> = rows
            .into_iter()
            .filter_map(|row| {
                let size = u64::try_from(row.size).unwrap_or(0);
                Some(IndexEntry { path: row.path, sha256: row.sha256?, size })
            })
            .collect();
        // Also boxed: while many jobs wait for the disk, none of them reads.
        let read = |path: String| {
            Box::pin(async move { with_call_timeout(self.store.read_file(self.lease.job_id, &path)).await })
        };
        let last = Marker { row: self.row, epoch: self.lease.epoch, step, done };
        let repaired = self.mirror.repair(self.lease.job_id, last, &index, read).await?;
        if step > 0 && !(repaired.written.is_empty() && repaired.removed.is_empty()) {
            info!(
                job.id = %self.lease.job_id,
                n_written = repaired.written.len(),
                n_removed = repaired.removed.len(),
                "repaired the mirror from the database"
            );
        }
        Ok(if repaired.stale { Applied::Stale } else { Applied::Written })
    }

    /// Small files first, written together; each larger file is in memory alone.
    async fn show(&self, step: i64, shown: i64, look: Option<&mut Wanted>) -> Result<Applied, MirrorTrouble> {
        let (mut events, mut large) = (Vec::new(), Vec::new());
        let changed = self.changed.after(self.lease.job_id, shown).await?;
        Span::current().record("n_files", changed.len() as i64);
        if let Some(look) = look {
            // Files that the job itself has written since its request are not people's files.
            look.known.extend(changed.iter().filter(|file| !file.deleted).map(entry));
        }
        for ChangedFile { path, size, deleted, content, .. } in changed {
            match (content, deleted) {
                (Some(content), _) => events.push(FileEvent::Written { path, content }),
                (None, true) => events.push(FileEvent::Deleted { path }),
                (None, false) => large.push((path, size)),
            }
        }
        let mut brought = self.apply(step, events).await?;
        for paths in parts(large) {
            if brought != Applied::Written {
                break;
            }
            brought = self.apply(step, Box::pin(self.read_back(&paths)).await?).await?;
        }
        Ok(brought)
    }

    async fn apply(&self, step: i64, events: Vec<FileEvent>) -> Result<Applied, MirrorTrouble> {
        let writer = WriterId { row: self.row, epoch: self.lease.epoch };
        self.mirror.apply(self.lease.job_id, writer, step, events).await
    }

    /// Files in the current rows; files deleted meanwhile are reported as deleted.
    async fn read_back(&self, paths: &[String]) -> Result<Vec<FileEvent>, MirrorTrouble> {
        let files = with_call_timeout(self.store.read_files(self.lease.job_id, paths)).await.map_err(unreadable)?;
        Ok(files.into_iter().map(|(path, content)| FileEvent::Written { path, content }).collect())
    }

    async fn reach(&self, point: Point, parts: &[&str]) -> Result<(), MirrorTrouble> {
        for part in parts {
            reach(point, part).await.map_err(unreadable)?;
        }
        Ok(())
    }
}

fn entry(file: &ChangedFile) -> IndexEntry {
    IndexEntry { path: file.path.clone(), sha256: String::new(), size: u64::try_from(file.size).unwrap_or(0) }
}

/// Paths of files that are read together.
fn parts(files: Vec<(String, i64)>) -> Vec<Vec<String>> {
    let (mut parts, mut room) = (Vec::<Vec<String>>::new(), 0);
    for (path, size) in files {
        match parts.last_mut().filter(|_| size <= room) {
            Some(part) => part.push(path),
            None => {
                room = READ_AT_ONCE;
                parts.push(vec![path]);
            }
        }
        room -= size;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{READ_AT_ONCE, parts};

    #[test]
    fn files_are_read_together_up_to_a_size_and_a_larger_one_by_itself() {
        let half = READ_AT_ONCE / 2;
        let files = [("a", half), ("b", half), ("c", 3 * READ_AT_ONCE), ("d", 1), ("e", half)];
        let read = parts(files.map(|(path, size)| (path.to_owned(), size)).to_vec());
        assert_eq!(read, [vec!["a", "b"], vec!["c"], vec!["d", "e"]]);
    }
}
