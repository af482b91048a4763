//! Jobs whose folder does not show everything, and why: what the log, the probe and the metrics tell of the volume, and
//! what a worker comes back to once the job itself has gone on.

use crate::MirrorTrouble;
use plumbline_store::Lease;
use plumbline_telemetry::instruments;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tracing::{info, warn};
use uuid::Uuid;

/// All of one worker's.
#[derive(Debug, Default)]
pub struct MirrorLag {
    folders: Mutex<HashMap<Uuid, Folder>>,
}

/// A folder that lacks something.
#[derive(Clone, Copy, Debug)]
struct Folder {
    epoch: i64,
    /// Whether the job has left this worker, so that no further step of it comes by.
    left: bool,
}

impl MirrorLag {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.folders().len()
    }

    /// A writing went wrong. Logged when it is the folder's first, not at every step.
    pub fn trouble(&self, lease: &Lease, error: &MirrorTrouble) {
        let before = self.folders().insert(lease.job_id, Folder { epoch: lease.epoch, left: false });
        if before.is_none() {
            warn!(job.id = %lease.job_id, %error, "the mirror does not show everything");
        }
        self.tell();
    }

    /// The folder shows everything again, or is another worker's now.
    pub fn none(&self, lease: &Lease) {
        let mut folders = self.folders();
        if folders.get(&lease.job_id).is_none_or(|folder| folder.epoch > lease.epoch) {
            return;
        }
        folders.remove(&lease.job_id);
        drop(folders);
        info!(job.id = %lease.job_id, "the mirror works again");
        self.tell();
    }

    /// The job has left, and its folder still lacks something.
    pub fn left(&self, lease: &Lease) {
        if let Some(folder) = self.folders().get_mut(&lease.job_id).filter(|folder| folder.epoch == lease.epoch) {
            folder.left = true;
        }
    }

    /// Folders of jobs that have left.
    pub fn left_behind(&self) -> Vec<Lease> {
        let folders = self.folders();
        let left = folders.iter().filter(|(_, folder)| folder.left);
        left.map(|(&job_id, folder)| Lease { job_id, epoch: folder.epoch }).collect()
    }

    fn tell(&self) {
        instruments::mirror_behind(self.count());
    }

    fn folders(&self) -> MutexGuard<'_, HashMap<Uuid, Folder>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::MirrorLag;
    use crate::MirrorTrouble;
    use plumbline_store::Lease;
    use uuid::Uuid;

    #[test]
    fn a_folder_is_behind_until_its_own_or_a_later_writer_has_put_it_right() {
        let (behind, trouble) = (MirrorLag::default(), MirrorTrouble { message: "no space".into() });
        let lease = |epoch| Lease { job_id: Uuid::from_u128(7), epoch };
        behind.trouble(&lease(2), &trouble);
        behind.trouble(&lease(2), &trouble);
        assert_eq!((behind.count(), behind.left_behind()), (1, vec![]));
        behind.none(&lease(1));
        assert_eq!(behind.count(), 1, "an older writer says nothing about it");
        behind.left(&lease(2));
        assert_eq!(behind.left_behind(), [lease(2)]);
        behind.none(&lease(3));
        assert_eq!(behind.count(), 0);
    }
}
