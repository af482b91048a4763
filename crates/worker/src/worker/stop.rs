//! The wish to stop.

use tokio::sync::watch;

/// What the process is asked to do; only ever raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Nothing: work.
    No,
    /// Drain: claim nothing more, give the jobs back at their next boundary, at the latest when the grace is over.
    Drain,
    /// Leave at once.
    Now,
}

/// Waits until at least this is wished; for ever when nobody can wish any more.
pub(super) async fn until(stop: &mut watch::Receiver<Stop>, wanted: Stop) {
    if stop.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
