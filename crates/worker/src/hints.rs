//! Notifications, turned into reasons to look. They make the worker fast and are never needed for it to be right: what
//! they say is thrown away, and the rows are read.
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

/// How long reasons gather after one was given, so that a thousand inserted jobs are not a thousand claims.
const GATHER: Duration = Duration::from_millis(20);

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
    listening: AtomicBool,
    gather: Duration,
    /// Until when they gather.
    gathering: Mutex<Option<Instant>>,
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
            listening: AtomicBool::new(false),
            gather,
            gathering: Mutex::new(None),
        }
    }

    /// Waits for a reason. The first one after a quiet moment is given at once, those that follow it gather. Dropped
    /// while it waits, it has taken none.
    pub(crate) async fn next(&self) -> Hint {
        let gathering = *self.gathering.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = gathering.filter(|until| *until > Instant::now()) {
            tokio::time::sleep_until(until.into()).await;
        }
        let hint = tokio::select! {
            () = self.claim.notified() => Hint::Claim,
            () = self.look.notified() => Hint::Look,
        };
        *self.gathering.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + self.gather);
        hint
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
            // The connection broke, and with it what was said meanwhile.
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
    use super::{Hint, Hints};
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
    async fn a_broken_connection_is_a_reason_for_everything() {
        let hints = Hints::gathering_for(Duration::ZERO);
        hints.note(None);
        let both = [at_once(&hints), at_once(&hints)];
        assert!(both.contains(&Some(Hint::Claim)) && both.contains(&Some(Hint::Look)), "{both:?}");
    }

    #[tokio::test]
    async fn the_first_reason_is_given_at_once_and_the_next_ones_gather() {
        let hints = Hints::gathering_for(Duration::from_secs(3600));
        hints.note(Some(&notice("pending")));
        assert_eq!(at_once(&hints), Some(Hint::Claim));
        hints.note(Some(&notice("pending")));
        assert_eq!(at_once(&hints), None, "it gathers");
        // The time is up; the reason that came meanwhile was not lost to the one who gave up waiting for it.
        *hints.gathering.lock().unwrap() = None;
        assert_eq!(at_once(&hints), Some(Hint::Claim));
    }

    #[tokio::test]
    async fn what_gathers_is_given_when_the_time_is_up() {
        let hints = Hints::gathering_for(Duration::from_millis(1));
        for _ in 0..2 {
            hints.note(Some(&notice("pending")));
            assert_eq!(hints.next().await, Hint::Claim);
        }
    }
}
