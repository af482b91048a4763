//! How large the measurements are.

use std::time::Duration;

/// The sizes of all figures.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Runs of each figure.
    pub(crate) runs: usize,
    /// Steps of the long job with all of its conversation in each request (P1, P2).
    pub(crate) steps: u32,
    /// Steps of the very long job under the default limits (P3).
    pub(crate) long_steps: u32,
    /// Commits and plain inserts (P5).
    pub(crate) commits: usize,
    /// Jobs at once, and the model's delay (P6, P7).
    pub(crate) crowd: usize,
    pub(crate) crowd_delay: Duration,
    pub(crate) large_crowd: usize,
    pub(crate) large_crowd_delay: Duration,
    /// Insertions on an idle worker (P8).
    pub(crate) pickups: usize,
    /// Jobs inserted and claimed (P9, P10).
    pub(crate) jobs: usize,
    /// Other jobs in the table (P10).
    pub(crate) other_pending: usize,
    pub(crate) other_ended: usize,
    /// How long a snapshot is held open while jobs come and go (P10).
    pub(crate) snapshot: Duration,
    /// Turns of the job whose requests are compared (P11, P12).
    pub(crate) traced_turns: u32,
    /// How long an idle worker is watched (P14).
    pub(crate) idle: Duration,
    /// The lease of the worker that is killed, in seconds (P16).
    pub(crate) lease_secs: u64,
}

impl Sizes {
    /// The sizes of the targets, but for what takes tens of minutes: 1 million ended jobs, a snapshot of a minute.
    pub(crate) fn standard() -> Self {
        Self {
            runs: 3,
            steps: 560,
            long_steps: 5_300,
            commits: 5_000,
            crowd: 500,
            crowd_delay: Duration::from_millis(500),
            large_crowd: 2_000,
            large_crowd_delay: Duration::from_secs(1),
            pickups: 300,
            jobs: 20_000,
            other_pending: 1_000_000,
            other_ended: 1_000_000,
            snapshot: Duration::from_secs(60),
            traced_turns: 200,
            idle: Duration::from_secs(20),
            lease_secs: 45,
        }
    }

    /// Exactly the sizes of the targets.
    pub(crate) fn full() -> Self {
        Self { other_ended: 10_000_000, snapshot: Duration::from_secs(600), pickups: 1000, ..Self::standard() }
    }

    /// Enough to see that everything works; the figures say little.
    pub(crate) fn quick() -> Self {
        Self {
            runs: 1,
            steps: 120,
            long_steps: 300,
            commits: 300,
            crowd: 20,
            crowd_delay: Duration::from_millis(100),
            large_crowd: 50,
            large_crowd_delay: Duration::from_millis(200),
            pickups: 20,
            jobs: 2_000,
            other_pending: 5_000,
            other_ended: 5_000,
            snapshot: Duration::from_secs(2),
            traced_turns: 60,
            idle: Duration::from_secs(4),
            lease_secs: 4,
        }
    }
}
