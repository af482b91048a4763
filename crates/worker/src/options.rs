//! Options of a worker process: flags and environment, already merged, as one value.

use plumbline_config::{ConfigRegistry, ModelEnv};
use plumbline_dashboard::HttpOptions;
use std::{path::PathBuf, time::Duration};

/// The options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Postgres.
    pub database_url: String,
    /// Maximum concurrent jobs.
    pub concurrency: usize,
    /// Only these job types; all if none is named.
    pub job_types: Option<Vec<String>>,
    /// Ends by itself when nothing is running and no job is runnable.
    pub until_idle: bool,
    /// The mirror's root; documents are imported from its subfolder `import/`.
    pub workspace_dir: PathBuf,
    /// Job types and prompts.
    pub configs: ConfigRegistry,
    /// The model settings of the environment.
    pub model_env: ModelEnv,
    /// The program that parses documents when called with `__extract`: this binary itself.
    pub program: PathBuf,
    /// Intervals and bounds.
    pub timing: Timing,
    /// Probes, metrics, API and dashboard.
    pub http: HttpOptions,
}

/// The worker's intervals and timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A job's lease is valid while its worker's heartbeat is younger than this, by the database's clock.
    pub lease: Duration,
    /// Time between heartbeats, and between sweeps.
    pub heartbeat: Duration,
    /// Time between reads of the queue without a notification.
    pub poll: Duration,
    /// Grace period for the effect in flight when the worker is asked to stop.
    pub drain: Duration,
    /// How long a job waits for a worker that knows its type before it fails; zero: forever.
    pub unknown_type: Duration,
    /// How long the same infrastructure failure may affect a job before it fails; zero: forever.
    pub give_up: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(45),
            heartbeat: Duration::from_secs(10),
            poll: Duration::from_millis(1000),
            drain: Duration::from_secs(10),
            unknown_type: Duration::from_secs(86_400),
            give_up: Duration::from_secs(86_400),
        }
    }
}

impl Timing {
    /// Whether the values are consistent.
    ///
    /// # Errors
    /// A sentence that names the variables.
    pub fn validate(&self) -> Result<(), String> {
        if self.lease < self.heartbeat * 2 {
            return Err(format!(
                "PLUMBLINE_LEASE_SECS ({}) must be at least twice PLUMBLINE_HEARTBEAT_SECS ({}), so that one late \
                 heartbeat loses no job",
                self.lease.as_secs(),
                self.heartbeat.as_secs()
            ));
        }
        if self.poll.is_zero() || self.heartbeat.is_zero() {
            return Err("PLUMBLINE_POLL_MS and PLUMBLINE_HEARTBEAT_SECS must be greater than zero".into());
        }
        Ok(())
    }
}
