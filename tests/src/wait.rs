//! Waiting for a condition. No test waits for a fixed time: it names what must become true, and fails with that
//! sentence.

use std::time::{Duration, Instant};

/// The maximum wait of a test for any condition; tests of the crates include the same file.
pub const CEILING: Duration = include!("wait/ceiling.rs");

/// Polling interval.
pub const LOOK: Duration = Duration::from_millis(15);

/// Polls until there is something, and returns it.
///
/// # Panics
/// When there is still nothing at the [`CEILING`]; `what` completes the sentence "waited in vain for …".
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < CEILING, "waited in vain for {what}");
        tokio::time::sleep(LOOK).await;
    }
}
