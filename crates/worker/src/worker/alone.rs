//! A job suspected of crashing its workers runs alone, until it has committed a step.
//!
//! ```text
//! claimed ─▶ the others leave at their next boundary ─▶ recorded ─▶ runs ─▶ has committed, or left: claims continue
//! ```
//!
//! A worker that dies takes all its jobs with it. A job must not fail because of another one, so a job with several
//! consecutive crashes runs alone on a worker: if that worker dies too, the job is the cause.

use super::Worker;
use crate::run::{
    cancellation::{self, StopLevel, StopListener},
    job,
};
use plumbline_store::{ClaimedJob, Error, Lease, ReleaseReason};
use tracing::warn;

/// The suspect of a worker.
pub(super) struct Alone {
    lease: Lease,
    /// Set until it starts.
    waits: Option<(ClaimedJob, StopListener)>,
}

impl Worker {
    /// Keeps the first suspect of a claim and gives the others back; running jobs leave at their next boundary.
    pub(super) async fn make_room(&mut self, claimed: Vec<ClaimedJob>) -> Result<(), Error> {
        let (handle, listener) = cancellation::channel();
        let mut others = Vec::new();
        for job in claimed {
            match self.alone.is_none() && job.is_suspect {
                true => self.alone = Some(Alone { lease: job.lease(), waits: Some((job, listener.clone())) }),
                false => others.push(job.lease()),
            }
        }
        self.active_jobs.raise(StopLevel::Drain);
        if let Some(alone) = &self.alone {
            warn!(job.id = %alone.lease.job_id, n_others = self.active_jobs.len(), "job was running during several crashes; it runs alone");
            self.active_jobs.insert(alone.lease, handle);
        }
        for lease in others {
            match self.app.store.release(&lease, ReleaseReason::MakesRoom).await {
                Ok(()) | Err(Error::LeaseLost(_)) => {}
                // Jobs not given back are found as leases without a run.
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Starts the suspect once no other job runs; forgets it once it has committed a step or left.
    pub(super) async fn advance_suspect(&mut self) -> Result<(), Error> {
        let Some(alone) = &mut self.alone else { return Ok(()) };
        let lease = alone.lease;
        if alone.waits.is_none() {
            if self.active_jobs.has_committed(lease).unwrap_or(true) {
                self.alone = None;
            }
            return Ok(());
        }
        if self.active_jobs.len() > 1 {
            return Ok(());
        }
        match self.app.store.run_alone(&lease).await {
            Err(Error::LeaseLost(_)) => {
                self.active_jobs.remove(lease);
                self.alone = None;
            }
            Err(error) => return Err(error),
            Ok(()) => {
                if let Some((job, listener)) = alone.waits.take() {
                    let task = self.jobs.spawn(job::run(self.app.clone(), job, listener));
                    self.tasks.insert(task.id(), lease);
                }
            }
        }
        Ok(())
    }
}
