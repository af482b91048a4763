//! Waiting for a condition. No test waits for a time: it says what must become true, and fails with that sentence.

use std::time::{Duration, Instant};

/// The longest that a test waits for any condition; tests of the crates include the same file.
pub const CEILING: Duration = include!("wait/ceiling.rs");

/// Time between two looks.
pub const LOOK: Duration = Duration::from_millis(15);

/// Looks until there is something, and gives it.
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
