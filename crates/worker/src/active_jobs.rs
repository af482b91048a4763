//! The jobs that this process runs, reconciled with the leases that the database counts for it.
//!
//! Both are compared periodically, and may differ legitimately during the commit of a step or the answer to a claim. So
//! a difference counts only if two consecutive comparisons find it.

use crate::run::cancellation::{JobHandle, StopLevel};
use plumbline_store::Lease;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Consecutive comparisons in which a job was missing from our leases in the database before its run is dropped.
const MISSES: u32 = 2;

/// A lease as a key. A job can occur twice: the ending run that lost it, and the run that claimed it again.
type Key = (Uuid, i64);

/// The runs of this worker.
#[derive(Default)]
pub(crate) struct ActiveJobs {
    runs: HashMap<Key, ActiveJob>,
    /// Leases without a run at the last comparison.
    orphaned_leases: HashSet<Key>,
    /// Whether a claim whose answer never arrived may have succeeded.
    unanswered: bool,
}

struct ActiveJob {
    handle: JobHandle,
    missed: u32,
}

impl ActiveJobs {
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A request to the database got no answer: our leases are to be compared soon, regardless of what is known here.
    pub(crate) fn mark_unsynced(&mut self) {
        self.unanswered = true;
    }

    /// Whether the next comparison has something to find or to confirm.
    pub(crate) fn needs_reconcile(&self) -> bool {
        self.unanswered || !self.orphaned_leases.is_empty() || self.runs.values().any(|run| run.missed > 0)
    }

    pub(crate) fn insert(&mut self, lease: Lease, handle: JobHandle) {
        self.runs.insert(key(lease), ActiveJob { handle, missed: 0 });
    }

    /// Forgets a run that has ended.
    pub(crate) fn remove(&mut self, lease: Lease) {
        self.runs.remove(&key(lease));
    }

    /// Whether a run has committed a step; none if it has ended.
    pub(crate) fn has_committed(&self, lease: Lease) -> Option<bool> {
        self.runs.get(&key(lease)).map(|run| run.handle.has_committed())
    }

    /// Raises the signal for all runs.
    pub(crate) fn raise(&self, signal: StopLevel) {
        for run in self.runs.values() {
            run.handle.raise(signal);
        }
    }

    /// Compares the runs with our leases in the database. Runs whose job was taken away are stopped; leases without a
    /// run, because the answer to a claim or to a last step was lost, are returned for release.
    pub(crate) fn reconcile(&mut self, leases: &[Lease]) -> Vec<Lease> {
        self.unanswered = false;
        let ours: HashSet<Key> = leases.iter().copied().map(key).collect();
        for (key, run) in &mut self.runs {
            run.missed = if ours.contains(key) { 0 } else { run.missed + 1 };
            if run.missed >= MISSES {
                run.handle.raise(StopLevel::LeaseLost);
            }
        }
        let orphaned_leases: HashSet<Key> = ours.into_iter().filter(|key| !self.runs.contains_key(key)).collect();
        let confirmed = orphaned_leases
            .intersection(&self.orphaned_leases)
            .map(|&(job_id, epoch)| Lease { job_id, epoch })
            .collect();
        self.orphaned_leases = orphaned_leases;
        confirmed
    }
}

fn key(lease: Lease) -> Key {
    (lease.job_id, lease.epoch)
}

#[cfg(test)]
mod tests {
    use super::ActiveJobs;
    use crate::run::{cancellation, cancellation::StopLevel};
    use plumbline_store::Lease;
    use uuid::Uuid;

    fn lease(epoch: i64) -> Lease {
        Lease { job_id: Uuid::from_u128(7), epoch }
    }

    #[test]
    fn a_job_is_lost_when_two_looks_in_a_row_miss_it() {
        let (mut active, (handle, listener)) = (ActiveJobs::default(), cancellation::channel());
        active.insert(lease(3), handle);
        assert!(active.reconcile(&[]).is_empty() && active.needs_reconcile());
        assert!(active.reconcile(&[lease(3)]).is_empty() && !active.needs_reconcile());
        active.reconcile(&[]);
        assert_eq!(listener.now(), StopLevel::Run);
        active.reconcile(&[]);
        assert_eq!(listener.now(), StopLevel::LeaseLost);
    }

    #[test]
    fn a_job_that_is_held_under_another_epoch_is_lost_and_the_other_lease_released() {
        let (mut active, (handle, listener)) = (ActiveJobs::default(), cancellation::channel());
        active.insert(lease(3), handle);
        assert!(active.reconcile(&[lease(4)]).is_empty());
        assert_eq!(active.reconcile(&[lease(4)]), [lease(4)]);
        assert_eq!(listener.now(), StopLevel::LeaseLost);
    }

    #[test]
    fn a_lease_without_a_run_is_released_when_two_looks_in_a_row_find_it() {
        let mut active = ActiveJobs::default();
        assert!(active.reconcile(&[lease(3)]).is_empty());
        assert!(active.needs_reconcile());
        assert_eq!(active.reconcile(&[lease(3)]), [lease(3)]);
        assert!(active.reconcile(&[lease(4)]).is_empty(), "another claim is looked at anew");
    }

    #[test]
    fn a_claim_without_an_answer_is_looked_for_by_a_worker_that_knows_of_no_job() {
        let mut active = ActiveJobs::default();
        active.mark_unsynced();
        assert!(active.needs_reconcile() && active.is_empty());
        active.reconcile(&[lease(3)]);
        assert_eq!(active.reconcile(&[lease(3)]), [lease(3)]);
        active.reconcile(&[]);
        assert!(!active.needs_reconcile());
    }
}
