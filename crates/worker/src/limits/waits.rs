//! `status_reason` of jobs that wait for their model's rate limit: one statement for all of them, and none for a short
//! wait.

use super::queue::WaitQueue;
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{Lease, Store};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use tracing::debug;

/// Minimum duration of a wait that is shown in its job's row.
const LONG: Duration = Duration::from_secs(2);
/// Minimum time between two statements.
const GAP: Duration = Duration::from_secs(1);
/// Maximum attempts to change a row that shows something else.
const TRIES: u32 = 3;

/// Writes the reasons, and removes them.
#[derive(Debug)]
pub(super) struct Waits {
    store: Store,
    /// Jobs that no longer wait but whose rows still show it, with the number of attempts to change them.
    over: Vec<(Lease, u32)>,
    tried: Option<Instant>,
}

impl Waits {
    pub(super) fn new(store: Store) -> Self {
        Self { store, over: Vec::new(), tried: None }
    }

    /// These jobs no longer wait.
    pub(super) fn are_over(&mut self, jobs: Vec<Lease>) {
        self.over.extend(jobs.into_iter().map(|job| (job, 0)));
    }

    /// The next time with something to write.
    pub(super) fn next(&self, queue: &WaitQueue) -> Option<Instant> {
        let over = (!self.over.is_empty()).then(Instant::now);
        let at = [over, queue.next_status_due(LONG)].into_iter().flatten().min()?;
        Some(self.tried.map_or(at, |tried| at.max(tried + GAP)))
    }

    /// Writes what is due now.
    pub(super) async fn say(&mut self, queue: &mut WaitQueue) {
        let now = Instant::now();
        if self.next(queue).is_none_or(|at| at > now) {
            return;
        }
        self.tried = Some(now);
        let waiting = queue.waiting_longer_than(LONG, now).filter(|waiter| !waiter.is_said);
        let waiting: Vec<Lease> = waiting.map(|waiter| waiter.request.lease).collect();
        let jobs: Vec<(Lease, bool)> =
            self.over.iter().map(|(job, _)| (*job, false)).chain(waiting.iter().map(|job| (*job, true))).collect();
        let said = match with_call_timeout(self.store.say_waits_for_limit(&jobs)).await {
            Ok(said) => said.into_iter().collect::<HashSet<_>>(),
            Err(error) => {
                debug!(%error, "could not mark the jobs that wait for a rate limit");
                return;
            }
        };
        for waiter in queue.waiting_longer_than(LONG, now) {
            waiter.is_said |= said.contains(&waiter.request.lease.job_id);
        }
        // A locked row is tried again the next time; a job that belongs to another worker by now has its own reason.
        self.over.retain_mut(|(job, tries)| {
            *tries += 1;
            *tries < TRIES && !said.contains(&job.job_id)
        });
    }
}
