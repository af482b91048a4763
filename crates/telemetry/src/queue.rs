//! Queue metrics, counted on a scrape if the last count is old; for the collector, periodically.

use super::instruments::instruments;
use opentelemetry::KeyValue;
use parking_lot::Mutex;
use plumbline_store::{Error, Store};
use std::time::{Duration, Instant};

/// Lifetime of a count, for any number of scrapes.
const GOOD: Duration = Duration::from_secs(5);
/// Interval of periodic counts.
const ROUND: Duration = Duration::from_secs(30);
/// Every status, so that one without jobs shows 0 instead of its last count.
const STATUSES: [&str; 7] = ["pending", "running", "paused", "review", "completed", "failed", "cancelled"];

static COUNTED: Mutex<Option<Instant>> = Mutex::new(None);

/// Recounts if the last count is old.
///
/// # Errors
/// The database did not answer; the numbers are unchanged.
pub async fn refresh(store: &Store) -> Result<(), Error> {
    {
        let mut counted = COUNTED.lock();
        if counted.is_some_and(|at| at.elapsed() < GOOD) {
            return Ok(());
        }
        // Set before counting, so that concurrent scrapes make one count.
        *counted = Some(Instant::now());
    }
    let (counts, queue) = (store.status_counts().await?, store.queue_counts(None).await?);
    let set = instruments();
    for status in STATUSES {
        let found = counts.iter().find(|count| count.status == status);
        let attributes = [KeyValue::new("status", status)];
        set.jobs.record(found.map_or(0, |count| count.jobs), &attributes);
        // The oldest waiting or running job matters to an operator; the age of ended ones is meaningless.
        if !matches!(status, "completed" | "failed" | "cancelled") {
            set.oldest.record(found.map_or(0.0, |count| count.oldest_secs), &attributes);
        }
    }
    set.runnable.record(queue.runnable, &[]);
    set.oldest_wait.record(queue.oldest_wait_secs, &[]);
    set.live_workers.record(queue.live_workers, &[]);
    let waiting = store.waiting_calls().await?;
    for (age, calls) in [("under_1h", waiting.under_1h), ("under_1d", waiting.under_1d), ("older", waiting.older)] {
        set.waiting_calls.record(calls, &[KeyValue::new("age", age)]);
    }
    Ok(())
}

/// Counts for the collector, while the worker lives. Does nothing without a collector.
pub async fn keep_counting(store: Store) {
    super::instruments::show();
    if !super::pipeline().settings.metrics {
        return;
    }
    let mut clock = tokio::time::interval(ROUND);
    loop {
        clock.tick().await;
        if let Err(error) = refresh(&store).await {
            tracing::debug!(%error, "could not count the queue for the collector");
        }
    }
}
