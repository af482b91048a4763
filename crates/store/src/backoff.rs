//! Exponential backoff with jitter for transient errors: 50 ms to 5 s.

use crate::Error;
use parking_lot::Mutex;
use std::time::{Duration, Instant};
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
    LostTime::default().retry_transient(call).await
}

/// The time that a job's reads have lost to transient errors of the database: an outage counts against no time limit of
/// the job.
#[derive(Debug, Default)]
pub struct LostTime(Mutex<Lost>);

#[derive(Debug, Default)]
struct Lost {
    /// Of calls that have ended.
    ended: Duration,
    /// Calls that have failed and are retried.
    failing: usize,
    /// The start of the first of these.
    since: Option<Instant>,
}

impl LostTime {
    /// All of it so far; calls that fail at the same time count once.
    pub fn total(&self) -> Duration {
        let lost = self.0.lock();
        lost.ended + lost.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The same as [`retry_transient`], counting the time from the start of the first failed try to the end of the last.
    pub async fn retry_transient<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (started, mut backoff) = (Instant::now(), Backoff::new());
        let mut failing = None;
        loop {
            match with_call_timeout(call()).await {
                Err(error) if error.is_transient() => {
                    failing.get_or_insert_with(|| Failing::since(self, started));
                    backoff.sleep().await;
                }
                other => return other,
            }
        }
    }
}

/// A call that is retried, until it is dropped.
struct Failing<'a>(&'a LostTime);

impl<'a> Failing<'a> {
    fn since(lost_time: &'a LostTime, started: Instant) -> Self {
        let mut lost = lost_time.0.lock();
        lost.failing += 1;
        lost.since.get_or_insert(started);
        Self(lost_time)
    }
}

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        let mut lost = self.0.0.lock();
        lost.failing -= 1;
        if lost.failing == 0 {
            let since = lost.since.take();
            lost.ended += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn lost_time_runs_from_the_first_failed_try_to_the_last_and_is_kept() {
        let (lost_time, tries) = (LostTime::default(), Cell::new(0));
        let read = async || {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 | 2 => Err(Error::Unanswered(CALL_TIMEOUT)),
                n => {
                    assert!(n != 3 || lost_time.total() > Duration::ZERO, "it counts while the outage lasts");
                    Ok(n)
                }
            }
        };
        assert_eq!(lost_time.retry_transient(read).await.expect("the third try succeeds"), 3);
        let lost = lost_time.total();
        assert!(lost > Duration::ZERO);
        assert_eq!(lost_time.retry_transient(read).await.expect("it succeeds at once"), 4);
        assert_eq!(lost_time.total(), lost, "a call without a failure loses nothing");
    }
}
