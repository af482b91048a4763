//! Exponential backoff with jitter for transient errors: 50 ms to 5 s.

use crate::Error;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// The longest single wait: after an outage ends, work goes on within this time.
const MAX_DELAY: Duration = Duration::from_secs(5);

/// The longest that a call of the database may take before it is given up as lost, e.g. because its connection broke
/// without a word. Longer than the server takes to give the statement up itself.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A growing wait.
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
    /// The first wait is a short one.
    pub fn new() -> Self {
        Self { next: Duration::from_millis(50) }
    }

    /// Waits, longer each time; a little more or less, so that those who failed together do not come back together.
    pub async fn sleep(&mut self) {
        tokio::time::sleep(self.next.mul_f64(jitter_factor())).await;
        self.next = (self.next * 2).min(MAX_DELAY);
    }

    /// Begins anew after a success.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}

/// Between 80 and 120 %.
fn jitter_factor() -> f64 {
    0.8 + 0.4 * random_unit()
}

/// An interval that is never longer than it should be and mostly a little shorter, so that many workers do not look at
/// once.
pub fn jittered(interval: Duration) -> Duration {
    interval.mul_f64(1.0 - 0.2 * random_unit())
}

/// Between 0 and 1, evenly.
fn random_unit() -> f64 {
    f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0
}

/// Calls the database, and gives the call up when it is not answered.
pub async fn with_call_timeout<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    timeout(CALL_TIMEOUT, call).await.unwrap_or(Err(Error::Unanswered(CALL_TIMEOUT)))
}

/// Calls the database until it says something else than that it cannot now. How long that may take is the caller's
/// matter, who has a lease that ends.
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
