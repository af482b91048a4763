//! Jobs with incomplete folders and the reasons, for the log, the probe and the metrics, and for repairs after the job
//! itself has left.

use crate::MirrorTrouble;
use parking_lot::Mutex;
use plumbline_store::Lease;
use plumbline_telemetry::instruments;
use std::collections::HashMap;
use tracing::{info, warn};
use uuid::Uuid;

/// All of one worker's.
#[derive(Debug, Default)]
pub struct MirrorLag {
    folders: Mutex<HashMap<Uuid, Folder>>,
}

/// An incomplete folder.
#[derive(Clone, Copy, Debug)]
struct Folder {
    epoch: i64,
    /// Whether the job has left this worker, so that no further step will come.
    left: bool,
}

impl MirrorLag {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.folders.lock().len()
    }

    /// Records a failed write. Logged only for the folder's first failure, not at every step.
    pub fn trouble(&self, lease: &Lease, error: &MirrorTrouble) {
        let before = self.folders.lock().insert(lease.job_id, Folder { epoch: lease.epoch, left: false });
        if before.is_none() {
            warn!(job.id = %lease.job_id, %error, "mirror is incomplete");
        }
        self.tell();
    }

    /// The folder is complete again, or another worker's.
    pub fn none(&self, lease: &Lease) {
        let mut folders = self.folders.lock();
        if folders.get(&lease.job_id).is_none_or(|folder| folder.epoch > lease.epoch) {
            return;
        }
        folders.remove(&lease.job_id);
        drop(folders);
        info!(job.id = %lease.job_id, "mirror is complete again");
        self.tell();
    }

    /// The job has left, and its folder is still incomplete.
    pub fn left(&self, lease: &Lease) {
        if let Some(folder) = self.folders.lock().get_mut(&lease.job_id).filter(|folder| folder.epoch == lease.epoch) {
            folder.left = true;
        }
    }

    /// Folders of jobs that have left.
    pub fn left_behind(&self) -> Vec<Lease> {
        let folders = self.folders.lock();
        let left = folders.iter().filter(|(_, folder)| folder.left);
        left.map(|(&job_id, folder)| Lease { job_id, epoch: folder.epoch }).collect()
    }

    fn tell(&self) {
        instruments::mirror_behind(self.count());
    }
}

#[cfg(test)]
mod tests {
    use super::MirrorLag;
    use crate::MirrorTrouble;
    use plumbline_store::Lease;
    use uuid::Uuid;

    #[test]
    fn a_folder_is_incomplete_until_its_own_or_a_later_writer_repairs_it() {
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
