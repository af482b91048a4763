//! Waiting out trouble that passes: short at first, then longer, up to a few seconds.

use std::time::Duration;

/// The longest single wait: after an outage ends, work goes on within this time.
const MOST: Duration = Duration::from_secs(5);

/// A growing wait.
#[derive(Debug)]
pub(crate) struct Patience {
    next: Duration,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { next: Duration::from_millis(50) }
    }

    /// Waits, longer each time.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(MOST);
    }

    /// Begins anew after a success.
    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }
}
