//! Notifications, and the ends of our own jobs, turned into reasons to look. They make the worker fast and are never
//! needed for it to be right: what they say is thrown away, and the rows are read.
//!
//! Many at once are one reason. Most are none: that another worker claimed a job, or ended one, changes nothing here.

use crate::patience::Patience;
use plumbline_store::{JobNotice, Store};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;
use tracing::debug;

/// How far reasons are apart that are given one after the other, so that a thousand jobs that are inserted or end are not
/// a thousand claims.
const GATHER: Duration = Duration::from_millis(20);
/// How many are given at once after a quiet time.
const AT_ONCE: u32 = 4;

/// What a notification gives reason to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Claim: a job may have become runnable.
    Claim,
    /// Look at what is held: a user may have taken a job away.
    Look,
}

/// Reasons that have not been acted on.
#[derive(Debug)]
pub(crate) struct Hints {
    claim: Notify,
    look: Notify,
    notices: Pace,
    ended: Notify,
    ends: Pace,
    listening: AtomicBool,
}

/// Keeps reasons of one kind apart.
#[derive(Debug)]
struct Pace {
    gather: Duration,
    /// When the reasons given so far would have been, had each waited for the one before.
    given: Mutex<Option<Instant>>,
}

impl Pace {
    fn new(gather: Duration) -> Self {
        Self { gather, given: Mutex::new(None) }
    }

    /// Waits until another reason may be given.
    async fn turn(&self) {
        let early = self.gather * (AT_ONCE - 1);
        let given = *self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wait) = given.and_then(|given| given.checked_duration_since(Instant::now() + early)) {
            tokio::time::sleep(wait).await;
        }
    }

    fn give(&self) {
        let (now, mut given) = (Instant::now(), self.given.lock().unwrap_or_else(PoisonError::into_inner));
        *given = Some(given.map_or(now, |given| given.max(now)) + self.gather);
    }
}

impl Hints {
    /// Starts to listen. Losing the connection costs latency only, so it is tried again for ever, unhurried.
    pub(crate) fn listen(store: Store) -> Arc<Self> {
        let hints = Arc::new(Self::gathering_for(GATHER));
        tokio::spawn(listen(store, hints.clone()));
        hints
    }

    fn gathering_for(gather: Duration) -> Self {
        Self {
            claim: Notify::new(),
            look: Notify::new(),
            notices: Pace::new(gather),
            ended: Notify::new(),
            ends: Pace::new(gather),
            listening: AtomicBool::new(false),
        }
    }

    /// Waits for a reason. The first few after a quiet time are given at once, those that follow them gather. Dropped
    /// while it waits, it has taken none.
    pub(crate) async fn next(&self) -> Hint {
        tokio::select! {
            hint = self.next_notice() => hint,
            () = self.next_end() => Hint::Claim,
        }
    }

    async fn next_notice(&self) -> Hint {
        self.notices.turn().await;
        let hint = tokio::select! {
            () = self.claim.notified() => Hint::Claim,
            () = self.look.notified() => Hint::Look,
        };
        self.notices.give();
        hint
    }

    async fn next_end(&self) {
        self.ends.turn().await;
        self.ended.notified().await;
        self.ends.give();
    }

    /// One of our jobs has ended, and another may have its place.
    pub(crate) fn job_ended(&self) {
        self.ended.notify_one();
    }

    /// Whether notifications arrive; for the probes.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }

    fn note(&self, notice: Option<&JobNotice>) {
        match notice.map(|notice| notice.status.as_str()) {
            Some("pending") => self.claim.notify_one(),
            Some("paused" | "cancelled" | "failed") => self.look.notify_one(),
            Some(_) => {}
            // Nobody listened for a time, and what was said meanwhile is lost.
            None => {
                self.claim.notify_one();
                self.look.notify_one();
            }
        }
    }
}

async fn listen(store: Store, hints: Arc<Hints>) {
    let mut patience = Patience::new();
    loop {
        match store.listen().await {
            Ok(mut listener) => {
                patience.reset();
                hints.listening.store(true, Ordering::Relaxed);
                // What was said before is not heard: a job may have come since the queue was read.
                hints.note(None);
                while let Ok(notice) = listener.next().await {
                    hints.listening.store(notice.is_some(), Ordering::Relaxed);
                    hints.note(notice.as_ref());
                }
                hints.listening.store(false, Ordering::Relaxed);
            }
            Err(error) => debug!(%error, "not listening for notifications; polling goes on"),
        }
        patience.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Hint, Hints};
    use plumbline_store::JobNotice;
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
        time::Duration,
    };

    fn notice(status: &str) -> JobNotice {
        JobNotice { id: uuid::Uuid::nil(), status: status.into() }
    }

    /// What is there without any waiting.
    fn at_once(hints: &Hints) -> Option<Hint> {
        match pin!(hints.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(hint) => Some(hint),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn many_notices_are_one_reason_and_most_are_none() {
        let hints = Hints::gathering_for(Duration::ZERO);
        for status in ["pending", "running", "pending", "completed", "review", "pending"] {
            hints.note(Some(&notice(status)));
        }
        assert_eq!(at_once(&hints), Some(Hint::Claim));
        assert_eq!(at_once(&hints), None, "one reason only");
        hints.note(Some(&notice("cancelled")));
        assert_eq!(at_once(&hints), Some(Hint::Look));
    }

    #[tokio::test]
    async fn a_time_without_listening_is_a_reason_for_everything() {
        let hints = Hints::gathering_for(Duration::ZERO);
        hints.note(None);
        let both = [at_once(&hints), at_once(&hints)];
        assert!(both.contains(&Some(Hint::Claim)) && both.contains(&Some(Hint::Look)), "{both:?}");
    }

    #[tokio::test]
    async fn the_first_reasons_are_given_at_once_and_the_next_ones_gather() {
        let hints = Hints::gathering_for(Duration::from_secs(3600));
        for _ in 0..AT_ONCE {
            hints.note(Some(&notice("pending")));
            assert_eq!(at_once(&hints), Some(Hint::Claim));
        }
        hints.note(Some(&notice("pending")));
        assert_eq!(at_once(&hints), None, "it gathers");
        hints.job_ended();
        assert_eq!(at_once(&hints), Some(Hint::Claim), "an end does not gather with notices");
        // The time is up; the reason that came meanwhile was not lost to the one who gave up waiting for it.
        *hints.notices.given.lock().unwrap() = None;
        assert_eq!(at_once(&hints), Some(Hint::Claim));
    }

    #[tokio::test]
    async fn what_gathers_is_given_when_the_time_is_up() {
        let hints = Hints::gathering_for(Duration::from_millis(1));
        for _ in 0..2 * AT_ONCE {
            hints.note(Some(&notice("pending")));
            assert_eq!(hints.next().await, Hint::Claim);
        }
    }
}
