//! The queue in numbers, counted when somebody asks and the last count is old; for the collector, now and then.

use super::instruments::instruments;
use opentelemetry::KeyValue;
use plumbline_store::{Error, Store};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A count is good for this long, however many ask.
const GOOD: Duration = Duration::from_secs(5);
/// Between two counts that nobody asked for.
const ROUND: Duration = Duration::from_secs(30);
/// Every status, so that one without jobs shows 0 and not its last count.
const STATUSES: [&str; 7] = ["pending", "running", "paused", "review", "completed", "failed", "cancelled"];

static COUNTED: Mutex<Option<Instant>> = Mutex::new(None);

/// Counts anew if the last count is old.
///
/// # Errors
/// The database did not answer; the numbers stay what they were.
pub async fn refresh(store: &Store) -> Result<(), Error> {
    {
        let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.is_some_and(|at| at.elapsed() < GOOD) {
            return Ok(());
        }
        // Said before counting, so that many who ask at once make one count.
        *counted = Some(Instant::now());
    }
    let (counts, queue) = (store.status_counts().await?, store.queue_counts(None).await?);
    let set = instruments();
    for status in STATUSES {
        let found = counts.iter().find(|count| count.status == status);
        let attributes = [KeyValue::new("status", status)];
        set.jobs.record(found.map_or(0, |count| count.jobs), &attributes);
        // The oldest of those that wait or work is what an operator looks at; of the ended ones it says nothing.
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

/// Counts for the collector, for as long as the worker lives. Does nothing where none is named.
pub async fn keep_counting(store: Store) {
    super::instruments::show();
    if !super::pipeline().settings.metrics {
        return;
    }
    let mut clock = tokio::time::interval(ROUND);
    loop {
        clock.tick().await;
        if let Err(error) = refresh(&store).await {
            tracing::debug!(%error, "the queue could not be counted for the collector");
        }
    }
}
