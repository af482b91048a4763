//! Exponential backoff with jitter for transient errors: 50 ms to 5 s.

use crate::Error;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// The longest single wait: after an outage, work resumes within this time.
const MAX_DELAY: Duration = Duration::from_secs(5);

/// The longest that a database call may take before it is given up as lost, e.g. because its connection broke silently.
/// Longer than the server's statement timeout.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A growing delay.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl Backoff {
    /// The first delay is short.
    pub fn new() -> Self {
        Self { next: Duration::from_millis(50) }
    }

    /// Waits, longer each time, with jitter, so that callers that failed together do not retry together.
    pub async fn sleep(&mut self) {
        tokio::time::sleep(self.next.mul_f64(jitter_factor())).await;
        self.next = (self.next * 2).min(MAX_DELAY);
    }

    /// Restarts from the shortest delay after a success.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}

/// Between 80 and 120 %.
fn jitter_factor() -> f64 {
    0.8 + 0.4 * random_unit()
}

/// A jittered interval, at most 20 % shorter and never longer, so that many workers do not poll at the same moment.
pub fn jittered(interval: Duration) -> Duration {
    interval.mul_f64(1.0 - 0.2 * random_unit())
}

/// Between 0 and 1, uniformly distributed.
fn random_unit() -> f64 {
    f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0
}

/// Calls the database with a timeout.
pub async fn with_call_timeout<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    timeout(CALL_TIMEOUT, call).await.unwrap_or(Err(Error::Unanswered(CALL_TIMEOUT)))
}

/// Retries a database call while its error is transient. The caller limits the time: its lease ends.
pub async fn retry_transient<T, F>(call: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut backoff = Backoff::new();
    loop {
        match with_call_timeout(call()).await {
            Err(error) if error.is_transient() => backoff.sleep().await,
            other => return other,
        }
    }
}
