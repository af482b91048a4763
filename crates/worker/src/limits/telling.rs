//! What the rows of waiting jobs say (`status_reason`): one statement for all, and none for those that wait for a moment.

use super::line::Line;
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{Lease, Store};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use tracing::debug;

/// From how long a wait on it is told.
const LONG: Duration = Duration::from_secs(1);
/// Statements are as far apart at least.
const GAP: Duration = Duration::from_secs(1);

/// A row that is not changed by then says something else.
const TRIES: u32 = 3;

/// Tells, and takes back.
#[derive(Debug)]
pub(super) struct Telling {
    store: Store,
    /// Jobs that no longer wait and whose rows still say so, and how often that was tried to be changed.
    over: Vec<(Lease, u32)>,
    tried: Option<Instant>,
}

impl Telling {
    pub(super) fn new(store: Store) -> Self {
        Self { store, over: Vec::new(), tried: None }
    }

    /// The wait of these is over.
    pub(super) fn over(&mut self, jobs: Vec<Lease>) {
        self.over.extend(jobs.into_iter().map(|job| (job, 0)));
    }

    /// When there will be something to tell.
    pub(super) fn next(&self, line: &Line) -> Option<Instant> {
        let over = (!self.over.is_empty()).then(Instant::now);
        let at = [over, line.next_to_tell(LONG)].into_iter().flatten().min()?;
        Some(self.tried.map_or(at, |tried| at.max(tried + GAP)))
    }

    /// Tells what is to be told now.
    pub(super) async fn tell(&mut self, line: &mut Line) {
        let now = Instant::now();
        if self.next(line).is_none_or(|at| at > now) {
            return;
        }
        self.tried = Some(now);
        let waiting: Vec<Lease> =
            line.waiting_longer_than(LONG, now).filter(|waiter| !waiter.told).map(|waiter| waiter.wish.lease).collect();
        let jobs: Vec<(Lease, bool)> =
            self.over.iter().map(|(job, _)| (*job, false)).chain(waiting.iter().map(|job| (*job, true))).collect();
        let told = match with_call_timeout(self.store.say_waits_for_limit(&jobs)).await {
            Ok(told) => told.into_iter().collect::<HashSet<_>>(),
            Err(error) => {
                debug!(%error, "it could not be told which jobs wait for their model's limit");
                return;
            }
        };
        for waiter in line.waiting_longer_than(LONG, now) {
            waiter.told |= told.contains(&waiter.wish.lease.job_id);
        }
        // What was passed over is told the next time; a job that is another's by now has its own reason.
        self.over.retain_mut(|(job, tries)| {
            *tries += 1;
            *tries < TRIES && !told.contains(&job.job_id)
        });
    }
}
