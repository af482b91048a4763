//! Notifications, turned into reasons to look. They make the worker fast and are never needed for it to be right: what
//! they say is thrown away, and the rows are read.
//!
//! Many at once are one reason. Most are none: that another worker claimed a job, or ended one, changes nothing here.

use crate::patience::Patience;
use plumbline_store::{JobNotice, Store};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use tracing::debug;

/// How long a first notification waits for others, so that a thousand inserted jobs are not a thousand claims.
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
#[derive(Debug, Default)]
pub(crate) struct Hints {
    claim: Notify,
    look: Notify,
    listening: AtomicBool,
}

impl Hints {
    /// Starts to listen. Losing the connection costs latency only, so it is tried again for ever, unhurried.
    pub(crate) fn listen(store: Store) -> Arc<Self> {
        let hints = Arc::new(Self::default());
        tokio::spawn(listen(store, hints.clone()));
        hints
    }

    /// Waits for a reason.
    pub(crate) async fn next(&self) -> Hint {
        let hint = tokio::select! {
            () = self.claim.notified() => Hint::Claim,
            () = self.look.notified() => Hint::Look,
        };
        tokio::time::sleep(GATHER).await;
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
    use tokio::time::{Duration, timeout};

    fn notice(status: &str) -> JobNotice {
        JobNotice { id: uuid::Uuid::nil(), status: status.into() }
    }

    #[tokio::test]
    async fn many_notices_are_one_reason_and_most_are_none() {
        let hints = Hints::default();
        for status in ["pending", "running", "pending", "completed", "review", "pending"] {
            hints.note(Some(&notice(status)));
        }
        assert_eq!(hints.next().await, Hint::Claim);
        assert!(timeout(Duration::from_millis(100), hints.next()).await.is_err(), "one reason only");
        hints.note(Some(&notice("cancelled")));
        assert_eq!(hints.next().await, Hint::Look);
    }

    #[tokio::test]
    async fn a_broken_connection_is_a_reason_for_everything() {
        let hints = Hints::default();
        hints.note(None);
        let both = [hints.next().await, hints.next().await];
        assert!(both.contains(&Hint::Claim) && both.contains(&Hint::Look), "{both:?}");
    }
}
