//! Liveness and readiness: whether the loops of this process make progress, not only whether its sockets answer.
//!
//! The loops record each iteration; the probes read it. Losing the database does not affect liveness: the claim loop
//! keeps retrying, so a probe must not restart a worker for it.

use crate::{options::Timing, pulse::Pulse};
use parking_lot::Mutex;
use plumbline_dashboard::WorkerHealth;
use plumbline_mirror::MirrorLag;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// A turn waits for at most one answer of the database (10 s to get a connection) and one wait; this is far more.
const STALLED_AFTER: Duration = Duration::from_secs(60);
/// A due task runs within milliseconds; after this time the loops are considered blocked forever.
const STILL: Duration = Duration::from_secs(10);

/// Signs of life of the process's loops.
#[derive(Debug)]
pub(crate) struct Health {
    started: Instant,
    /// The time by which a test has advanced the clock.
    #[cfg(test)]
    later: Duration,
    /// When the claim loop last completed a turn, in milliseconds since the start.
    turned_ms: AtomicU64,
    leases_are_valid: AtomicBool,
    listening: AtomicBool,
    draining: AtomicBool,
    /// Whether the claim loop's last turn failed.
    stumbled: AtomicBool,
    /// Steps whose commit the database currently does not accept.
    delayed: AtomicUsize,
    stall: Duration,
    /// The pulse of the event loop.
    pub(crate) pulse: Arc<Pulse>,
    /// Folders that are not up to date.
    pub(crate) behind: Arc<MirrorLag>,
    files: Mutex<Files>,
}

/// Errors in the configuration files.
#[derive(Debug, Default)]
struct Files {
    /// Why changed files are not in use.
    refused: Option<String>,
    /// The job types that this worker does not claim because of errors.
    broken: Option<String>,
    /// Whether it claims no job type at all.
    serves_none: bool,
}

impl Health {
    /// For a worker with this timing, whose folders lag as counted in `behind`.
    pub(crate) fn new(timing: &Timing, behind: Arc<MirrorLag>) -> Self {
        Self {
            started: Instant::now(),
            #[cfg(test)]
            later: Duration::ZERO,
            turned_ms: AtomicU64::new(0),
            leases_are_valid: AtomicBool::new(true),
            listening: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            stumbled: AtomicBool::new(false),
            delayed: AtomicUsize::new(0),
            stall: STALLED_AFTER + timing.poll * 3,
            pulse: Arc::new(Pulse::new()),
            behind,
            files: Mutex::default(),
        }
    }

    /// The claim loop completed a turn, with the state of heartbeat and listener.
    pub(crate) fn record_tick(&self, leases_are_valid: bool, listening: bool) {
        let since = u64::try_from(self.since_start().as_millis()).unwrap_or(u64::MAX);
        self.turned_ms.store(since, Ordering::Relaxed);
        self.leases_are_valid.store(leases_are_valid, Ordering::Relaxed);
        self.listening.store(listening, Ordering::Relaxed);
    }

    /// Records whether the claim loop's last turn failed.
    pub(crate) fn record_poll_result(&self, failed: bool) {
        self.stumbled.store(failed, Ordering::Relaxed);
    }

    /// A commit waits for the database, for as long as the returned value lives.
    pub(crate) fn commit_stalled(&self) -> StalledCommit<'_> {
        self.delayed.fetch_add(1, Ordering::Relaxed);
        StalledCommit(self)
    }

    /// Why the database prevents this worker from working, as a sentence without text from the driver.
    pub(crate) fn not_ready_reason(&self) -> Option<String> {
        let delayed = self.delayed.load(Ordering::Relaxed);
        if delayed > 0 {
            return Some(format!("the database does not accept this worker's commits ({delayed} steps are waiting)"));
        }
        let stumbled = self.stumbled.load(Ordering::Relaxed);
        if stumbled {
            return Some("the database does not let this worker read the queue or claim jobs".to_owned());
        }
        if let Some(reason) = self.serves_none() {
            return Some(reason);
        }
        (!self.leases_are_valid()).then(|| "the worker's heartbeat does not reach the database".to_owned())
    }

    /// Changed configuration files are refused for this reason, or none are; returns whether that is new.
    pub(crate) fn refuses_files(&self, reason: Option<String>) -> bool {
        let mut files = self.files.lock();
        let is_news = files.refused != reason;
        files.refused = reason;
        is_news
    }

    /// The job types that the worker serves: those of its files except the broken ones; or none at all.
    pub(crate) fn serves(&self, none: bool, broken: Option<String>) {
        let mut files = self.files.lock();
        files.broken = broken;
        files.serves_none = none;
    }

    fn serves_none(&self) -> Option<String> {
        let files = self.files.lock();
        let why = || match &files.broken {
            Some(broken) => format!("no job type resolves, so this worker claims nothing: {broken}"),
            None => "this worker knows none of the job types in --job-types".to_owned(),
        };
        files.serves_none.then(why)
    }

    /// No more jobs are claimed; from now on the claim loop does not run.
    pub(crate) fn set_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the worker is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Time since the last turn of the claim loop.
    pub(crate) fn since_tick(&self) -> Duration {
        self.since_start().saturating_sub(Duration::from_millis(self.turned_ms.load(Ordering::Relaxed)))
    }

    fn since_start(&self) -> Duration {
        let since = self.started.elapsed();
        #[cfg(test)]
        let since = since + self.later;
        since
    }

    /// Whether the claim loop makes progress, or is no longer needed.
    pub(crate) fn turns(&self) -> bool {
        self.is_draining() || self.since_tick() < self.stall
    }

    /// Whether the claim loop, and the event loop below all loops, make progress.
    pub(crate) fn is_alive(&self) -> bool {
        self.turns() && self.pulse.delay() < STILL
    }

    /// Whether the leases are trusted.
    pub(crate) fn leases_are_valid(&self) -> bool {
        self.leases_are_valid.load(Ordering::Relaxed)
    }
}

impl WorkerHealth for Health {
    fn is_alive(&self) -> bool {
        self.is_alive()
    }

    fn is_draining(&self) -> bool {
        self.is_draining()
    }

    fn turns(&self) -> bool {
        self.turns()
    }

    fn since_tick(&self) -> Duration {
        self.since_tick()
    }

    fn loop_delay(&self) -> Duration {
        self.pulse.delay()
    }

    fn leases_are_valid(&self) -> bool {
        self.leases_are_valid()
    }

    fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }

    fn folders_behind(&self) -> usize {
        self.behind.count()
    }

    fn wrong_with_files(&self) -> Option<String> {
        let files = self.files.lock();
        let refused =
            |reason| format!("changed configuration files were rejected and the previous ones are in use: {reason}");
        let sentences: Vec<String> =
            files.broken.clone().into_iter().chain(files.refused.as_ref().map(refused)).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    fn not_ready_reason(&self) -> Option<String> {
        self.not_ready_reason()
    }
}

/// A commit that waits.
pub(crate) struct StalledCommit<'a>(&'a Health);

impl Drop for StalledCommit<'_> {
    fn drop(&mut self) {
        self.0.delayed.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, STALLED_AFTER};
    use crate::{
        options::Timing,
        pulse::tests::{Loops, until},
    };

    #[test]
    fn a_stalled_loop_is_noticed_and_a_draining_one_may_stall() {
        let mut health = Health::new(&Timing::default(), Default::default());
        health.record_tick(true, true);
        assert!(health.is_alive());
        health.later = STALLED_AFTER * 2;
        assert!(!health.is_alive());
        health.record_tick(false, true);
        assert!(health.is_alive() && !health.leases_are_valid());
        health.later += STALLED_AFTER * 2;
        health.set_draining();
        assert!(health.is_alive());
    }

    #[test]
    fn a_worker_with_a_stalled_event_loop_is_not_alive_even_while_it_drains() {
        let (loops, mut health) = (Loops::start(), Health::new(&Timing::default(), Default::default()));
        health.pulse = loops.pulse.clone();
        health.set_draining();
        let blocked = loops.block();
        until("the worker counts as dead", || !health.is_alive());
        drop(blocked);
        until("the worker counts as alive", || health.is_alive());
    }

    #[test]
    fn trouble_with_the_database_lasts_as_long_as_something_waits_for_it() {
        let health = Health::new(&Timing::default(), Default::default());
        assert_eq!(health.not_ready_reason(), None);
        let (one, two) = (health.commit_stalled(), health.commit_stalled());
        assert!(health.not_ready_reason().is_some_and(|trouble| trouble.contains("2 steps")));
        drop((one, two));
        health.record_poll_result(true);
        assert!(health.not_ready_reason().is_some_and(|trouble| trouble.contains("queue")));
        health.record_poll_result(false);
        health.record_tick(false, true);
        assert!(health.not_ready_reason().is_some_and(|trouble| trouble.contains("heartbeat")));
    }
}
