//! Whether this process is alive in the sense that matters: its loops move, not only its sockets answer.
//!
//! The loops say so themselves, with one call where they turn; the probes read it. Losing the database is no death:
//! the claim loop goes on turning and trying, so a probe must not restart a worker for it.

use crate::options::Timing;
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// A turn waits for one answer of the database at most (10 s to get a connection) and one wait; this is far more.
const PATIENCE: Duration = Duration::from_secs(60);

/// Signs of life of the process's loops.
#[derive(Debug)]
pub(crate) struct Vitals {
    started: Instant,
    /// When the claim loop last turned, in milliseconds since the start.
    turned_ms: AtomicU64,
    keeper_holds: AtomicBool,
    listening: AtomicBool,
    draining: AtomicBool,
    stall: Duration,
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
            stall: PATIENCE + timing.poll * 3,
        }
    }

    /// The claim loop has come round, and looked at the lease keeper and the listener.
    pub(crate) fn turned(&self, keeper_holds: bool, listening: bool) {
        let since = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.turned_ms.store(since, Ordering::Relaxed);
        self.keeper_holds.store(keeper_holds, Ordering::Relaxed);
        self.listening.store(listening, Ordering::Relaxed);
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
    pub(crate) fn is_alive(&self) -> bool {
        self.is_draining() || self.since_turn() < self.stall
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

#[cfg(test)]
mod tests {
    use super::Vitals;
    use crate::options::Timing;
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
}
