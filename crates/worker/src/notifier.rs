//! Notifications, and the ends of this worker's jobs, as debounced wake-ups of the claim loop. They are only an
//! optimization: their content is ignored, and the rows are read.
//!
//! Simultaneous ones cause one wake-up. Most are irrelevant: another worker's claim or end of a job changes nothing
//! here.

use parking_lot::Mutex;
use plumbline_store::backoff::Backoff;
use plumbline_store::{JobNotice, Store};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;
use tracing::debug;

/// Debounce interval: a burst of notifications becomes one claim.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// Wake-ups that are delivered at once after a quiet time.
const BURST: u32 = 4;

/// The reason to wake the claim loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakeup {
    /// Claim: a job may have become runnable.
    Claim,
    /// Reconcile the leases: a user may have taken a job away.
    Reconcile,
}

/// Pending wake-ups.
#[derive(Debug)]
pub(crate) struct Notifier {
    claim: Notify,
    look: Notify,
    notices: Debounce,
    ended: Notify,
    ends: Debounce,
    listening: AtomicBool,
}

/// Rate-limits wake-ups of one kind.
#[derive(Debug)]
struct Debounce {
    interval: Duration,
    /// The time of the last wake-up if each had waited the interval after the previous one.
    given: Mutex<Option<Instant>>,
}

impl Debounce {
    fn new(interval: Duration) -> Self {
        Self { interval, given: Mutex::new(None) }
    }

    /// Waits until another wake-up may be delivered.
    async fn ready(&self) {
        let early = self.interval * (BURST - 1);
        let given = *self.given.lock();
        if let Some(wait) = given.and_then(|given| given.checked_duration_since(Instant::now() + early)) {
            tokio::time::sleep(wait).await;
        }
    }

    fn record(&self) {
        let (now, mut given) = (Instant::now(), self.given.lock());
        *given = Some(given.map_or(now, |given| given.max(now)) + self.interval);
    }
}

impl Notifier {
    /// Starts listening. Losing the connection only costs latency, so it retries forever with a backoff.
    pub(crate) fn listen(store: Store) -> Arc<Self> {
        let notifier = Arc::new(Self::debounced_by(DEBOUNCE));
        tokio::spawn(listen(store, notifier.clone()));
        notifier
    }

    fn debounced_by(interval: Duration) -> Self {
        Self {
            claim: Notify::new(),
            look: Notify::new(),
            notices: Debounce::new(interval),
            ended: Notify::new(),
            ends: Debounce::new(interval),
            listening: AtomicBool::new(false),
        }
    }

    /// Waits for a wake-up. The first few after a quiet time are delivered at once, later ones are merged. If dropped
    /// while it waits, it has consumed none.
    pub(crate) async fn next(&self) -> Wakeup {
        tokio::select! {
            wakeup = self.next_notice() => wakeup,
            () = self.next_end() => Wakeup::Claim,
        }
    }

    async fn next_notice(&self) -> Wakeup {
        self.notices.ready().await;
        let wakeup = tokio::select! {
            () = self.claim.notified() => Wakeup::Claim,
            () = self.look.notified() => Wakeup::Reconcile,
        };
        self.notices.record();
        wakeup
    }

    async fn next_end(&self) {
        self.ends.ready().await;
        self.ended.notified().await;
        self.ends.record();
    }

    /// One of our jobs has ended, and another one may be claimed.
    pub(crate) fn job_ended(&self) {
        self.ended.notify_one();
    }

    /// Whether notifications arrive; for the probes.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }

    fn on_notice(&self, notice: Option<&JobNotice>) {
        match notice.and_then(|notice| notice.status.as_deref()) {
            Some("pending") => self.claim.notify_one(),
            Some("paused" | "cancelled" | "failed") => self.look.notify_one(),
            Some(_) => {}
            // The connection was down for a time, and its notifications are lost.
            None => {
                self.claim.notify_one();
                self.look.notify_one();
            }
        }
    }
}

async fn listen(store: Store, notifier: Arc<Notifier>) {
    let mut backoff = Backoff::new();
    loop {
        match store.listen().await {
            Ok(mut listener) => {
                backoff.reset();
                notifier.listening.store(true, Ordering::Relaxed);
                // Earlier notifications are not delivered: a job may have arrived since the queue was read.
                notifier.on_notice(None);
                while let Ok(notice) = listener.next().await {
                    notifier.listening.store(notice.is_some(), Ordering::Relaxed);
                    notifier.on_notice(notice.as_ref());
                }
                notifier.listening.store(false, Ordering::Relaxed);
            }
            Err(error) => debug!(%error, "LISTEN failed; polling until it reconnects"),
        }
        backoff.sleep().await;
    }
}

#[cfg(test)]
mod tests {
    use super::{BURST, Notifier, Wakeup};
    use plumbline_store::JobNotice;
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
        time::Duration,
    };

    fn notice(status: &str) -> JobNotice {
        JobNotice { id: uuid::Uuid::nil(), status: Some(status.into()) }
    }

    /// A wake-up that is available without waiting.
    fn at_once(notifier: &Notifier) -> Option<Wakeup> {
        match pin!(notifier.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(wakeup) => Some(wakeup),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn many_notices_are_one_reason_and_most_are_none() {
        let notifier = Notifier::debounced_by(Duration::ZERO);
        for status in ["pending", "running", "pending", "completed", "review", "pending"] {
            notifier.on_notice(Some(&notice(status)));
        }
        assert_eq!(at_once(&notifier), Some(Wakeup::Claim));
        assert_eq!(at_once(&notifier), None, "one reason only");
        notifier.on_notice(Some(&notice("cancelled")));
        assert_eq!(at_once(&notifier), Some(Wakeup::Reconcile));
    }

    #[tokio::test]
    async fn a_time_without_listening_is_a_reason_for_everything() {
        let notifier = Notifier::debounced_by(Duration::ZERO);
        notifier.on_notice(None);
        let both = [at_once(&notifier), at_once(&notifier)];
        assert!(both.contains(&Some(Wakeup::Claim)) && both.contains(&Some(Wakeup::Reconcile)), "{both:?}");
    }

    #[tokio::test]
    async fn the_first_reasons_are_given_at_once_and_the_next_ones_gather() {
        let notifier = Notifier::debounced_by(Duration::from_secs(3600));
        for _ in 0..BURST {
            notifier.on_notice(Some(&notice("pending")));
            assert_eq!(at_once(&notifier), Some(Wakeup::Claim));
        }
        notifier.on_notice(Some(&notice("pending")));
        assert_eq!(at_once(&notifier), None, "it gathers");
        notifier.job_ended();
        assert_eq!(at_once(&notifier), Some(Wakeup::Claim), "an end does not gather with notices");
        // The time has passed; the wake-up that arrived meanwhile was not lost with the cancelled wait.
        *notifier.notices.given.lock() = None;
        assert_eq!(at_once(&notifier), Some(Wakeup::Claim));
    }

    #[tokio::test]
    async fn what_gathers_is_given_when_the_time_is_up() {
        let notifier = Notifier::debounced_by(Duration::from_millis(1));
        for _ in 0..2 * BURST {
            notifier.on_notice(Some(&notice("pending")));
            assert_eq!(notifier.next().await, Wakeup::Claim);
        }
    }
}
