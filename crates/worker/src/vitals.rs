//! Whether this process is alive in the sense that matters: its loops move, not only its sockets answer.
//!
//! The loops say so themselves, with one call where they turn; the probes read it. Losing the database is no death:
//! the claim loop goes on turning and trying, so a probe must not restart a worker for it.

use crate::{mirror_feed::Behind, options::Timing, pulse::Pulse};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// A turn waits for one answer of the database at most (10 s to get a connection) and one wait; this is far more.
const PATIENCE: Duration = Duration::from_secs(60);
/// A task that is due runs within milliseconds; after this, whatever holds the loops holds them for good.
const STILL: Duration = Duration::from_secs(10);

/// Signs of life of the process's loops.
#[derive(Debug)]
pub(crate) struct Vitals {
    started: Instant,
    /// When the claim loop last turned, in milliseconds since the start.
    turned_ms: AtomicU64,
    keeper_holds: AtomicBool,
    listening: AtomicBool,
    draining: AtomicBool,
    /// Whether the claim loop's last turn failed.
    stumbled: AtomicBool,
    /// Steps whose commit the database does not take now.
    delayed: AtomicUsize,
    stall: Duration,
    /// Of the event loop.
    pub(crate) pulse: Arc<Pulse>,
    /// Folders that do not show everything.
    pub(crate) behind: Arc<Behind>,
}

impl Vitals {
    /// For a worker with this clockwork.
    pub(crate) fn new(timing: &Timing) -> Self {
        Self {
            started: Instant::now(),
            turned_ms: AtomicU64::new(0),
            keeper_holds: AtomicBool::new(true),
            listening: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            stumbled: AtomicBool::new(false),
            delayed: AtomicUsize::new(0),
            stall: PATIENCE + timing.poll * 3,
            pulse: Arc::new(Pulse::new()),
            behind: Arc::default(),
        }
    }

    /// The claim loop has come round, and looked at the lease keeper and the listener.
    pub(crate) fn turned(&self, keeper_holds: bool, listening: bool) {
        let since = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.turned_ms.store(since, Ordering::Relaxed);
        self.keeper_holds.store(keeper_holds, Ordering::Relaxed);
        self.listening.store(listening, Ordering::Relaxed);
    }

    /// How the claim loop's last turn went.
    pub(crate) fn stumbles(&self, failed: bool) {
        self.stumbled.store(failed, Ordering::Relaxed);
    }

    /// A commit waits for the database, for as long as what comes back lives.
    pub(crate) fn delay(&self) -> Delay<'_> {
        self.delayed.fetch_add(1, Ordering::Relaxed);
        Delay(self)
    }

    /// What the database does not let this worker do, as a sentence without anything of the driver's.
    pub(crate) fn trouble(&self) -> Option<String> {
        let delayed = self.delayed.load(Ordering::Relaxed);
        if delayed > 0 {
            return Some(format!("the database does not take what this worker writes ({delayed} steps wait)"));
        }
        let stumbled = self.stumbled.load(Ordering::Relaxed);
        if stumbled {
            return Some("the database does not let this worker read or claim its queue".to_owned());
        }
        (!self.keeper_holds()).then(|| "the worker's heartbeat does not reach the database".to_owned())
    }

    /// No more jobs are claimed; from now on the claim loop does not turn.
    pub(crate) fn drains(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the worker is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Time since the claim loop last turned.
    pub(crate) fn since_turn(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.turned_ms.load(Ordering::Relaxed)))
    }

    /// Whether the claim loop moves, or need not any more.
    pub(crate) fn turns(&self) -> bool {
        self.is_draining() || self.since_turn() < self.stall
    }

    /// Whether everything moves that must: the claim loop, and the event loop below all of them.
    pub(crate) fn is_alive(&self) -> bool {
        self.turns() && self.pulse.delay() < STILL
    }

    /// Whether the leases are trusted.
    pub(crate) fn keeper_holds(&self) -> bool {
        self.keeper_holds.load(Ordering::Relaxed)
    }

    /// Whether notifications arrive.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }
}

/// A commit that waits.
pub(crate) struct Delay<'a>(&'a Vitals);

impl Drop for Delay<'_> {
    fn drop(&mut self) {
        self.0.delayed.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Vitals;
    use crate::{
        options::Timing,
        pulse::tests::{Loops, until},
    };
    use std::time::{Duration, Instant};

    #[test]
    fn a_loop_that_stands_still_is_noticed_and_a_draining_one_need_not_move() {
        let mut vitals = Vitals::new(&Timing::default());
        vitals.turned(true, true);
        assert!(vitals.is_alive());
        vitals.started =
            Instant::now().checked_sub(Duration::from_secs(600)).expect("the machine is up for ten minutes");
        assert!(!vitals.is_alive());
        vitals.turned(false, true);
        assert!(vitals.is_alive() && !vitals.keeper_holds());
        vitals.started -= Duration::from_secs(600);
        vitals.drains();
        assert!(vitals.is_alive());
    }

    #[test]
    fn a_worker_whose_event_loop_stands_still_is_not_alive_not_even_while_it_drains() {
        let (loops, mut vitals) = (Loops::start(), Vitals::new(&Timing::default()));
        vitals.pulse = loops.pulse.clone();
        vitals.drains();
        let blocked = loops.block();
        until("the worker counts as dead", || !vitals.is_alive());
        drop(blocked);
        until("the worker counts as alive", || vitals.is_alive());
    }

    #[test]
    fn trouble_with_the_database_lasts_as_long_as_something_waits_for_it() {
        let vitals = Vitals::new(&Timing::default());
        assert_eq!(vitals.trouble(), None);
        let (one, two) = (vitals.delay(), vitals.delay());
        assert!(vitals.trouble().is_some_and(|trouble| trouble.contains("2 steps")));
        drop((one, two));
        vitals.stumbles(true);
        assert!(vitals.trouble().is_some_and(|trouble| trouble.contains("queue")));
        vitals.stumbles(false);
        vitals.turned(false, true);
        assert!(vitals.trouble().is_some_and(|trouble| trouble.contains("heartbeat")));
    }
}
