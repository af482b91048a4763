//! Sizes of the measurements.

use std::time::Duration;

/// The sizes of all figures.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Runs of each figure.
    pub(crate) runs: usize,
    /// Timeout of a group of figures.
    pub(crate) patience: Duration,
    /// The late step of the job that keeps its whole conversation (P1, P2).
    pub(crate) whole_at: u32,
    /// The late and the very late step of the job under the default limits (P1 to P3).
    pub(crate) long_at: [u32; 2],
    /// Commits and plain inserts (P5).
    pub(crate) commits: usize,
    /// Concurrent jobs, and the model's delay (P6, P7).
    pub(crate) crowd: usize,
    pub(crate) crowd_delay: Duration,
    pub(crate) large_crowd: usize,
    pub(crate) large_crowd_delay: Duration,
    /// Concurrent jobs with a document, and the model's delay (P22).
    pub(crate) document_crowd: usize,
    pub(crate) document_crowd_delay: Duration,
    /// The turns that such a job takes for each passage (P22): one as models do today, five as when the targets were set.
    pub(crate) document_paces: &'static [u32],
    /// The same on two workers (P22).
    pub(crate) document_jobs_at_once: usize,
    pub(crate) document_jobs_at_once_delay: Duration,
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
    /// The lease of the workers that are killed, in seconds, and how many are (P16).
    pub(crate) lease_secs: u64,
    pub(crate) kills: usize,
}

impl Sizes {
    /// The sizes of the targets, except slow ones: 2 million ended jobs instead of 10, and a snapshot that is open for
    /// a minute instead of ten.
    pub(crate) fn standard() -> Self {
        Self {
            runs: 3,
            patience: Duration::from_secs(15 * 60),
            whole_at: 500,
            long_at: [500, 5_000],
            commits: 5_000,
            crowd: 500,
            crowd_delay: Duration::from_millis(500),
            large_crowd: 2_000,
            large_crowd_delay: Duration::from_secs(1),
            document_crowd: 200,
            document_crowd_delay: Duration::from_secs(1),
            document_paces: &[1, 5],
            document_jobs_at_once: 1_000,
            document_jobs_at_once_delay: Duration::from_secs(2),
            pickups: 300,
            jobs: 20_000,
            other_pending: 1_000_000,
            other_ended: 2_000_000,
            snapshot: Duration::from_secs(60),
            traced_turns: 200,
            idle: Duration::from_secs(15),
            lease_secs: 45,
            kills: 8,
        }
    }

    /// Exactly the sizes of the targets.
    pub(crate) fn full() -> Self {
        let patience = Duration::from_secs(60 * 60);
        let snapshot = Duration::from_secs(600);
        Self { patience, snapshot, other_ended: 10_000_000, pickups: 1000, ..Self::standard() }
    }

    /// Enough to check that everything works; the figures mean little.
    pub(crate) fn quick() -> Self {
        Self {
            runs: 1,
            patience: Duration::from_secs(5 * 60),
            whole_at: 150,
            long_at: [200, 500],
            commits: 500,
            crowd: 50,
            crowd_delay: Duration::from_millis(200),
            large_crowd: 200,
            large_crowd_delay: Duration::from_millis(300),
            document_crowd: 20,
            document_crowd_delay: Duration::from_millis(500),
            document_paces: &[1],
            document_jobs_at_once: 40,
            document_jobs_at_once_delay: Duration::from_millis(500),
            pickups: 40,
            jobs: 4_000,
            other_pending: 20_000,
            other_ended: 200_000,
            snapshot: Duration::from_secs(5),
            traced_turns: 200,
            idle: Duration::from_secs(5),
            lease_secs: 4,
            kills: 3,
        }
    }

    /// Enough for meaningful ratios and counts, in about a minute.
    pub(crate) fn guard() -> Self {
        Self { long_at: [500, 1_000], commits: 2_000, idle: Duration::from_secs(8), ..Self::quick() }
    }
}
