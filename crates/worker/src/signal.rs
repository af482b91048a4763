//! How a running job hears from its worker.

use tokio::sync::watch;

/// What a running job must know; each level includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signal {
    /// Go on.
    Run,
    /// Release the job at the next step boundary: the worker is shutting down.
    Drain,
    /// The drain's grace is over: abandon the effect in flight and release.
    Abandon,
    /// The lease is lost or a user took the job away: write nothing, drop everything.
    Lost,
}

/// The sending side, held by the worker.
pub(crate) struct Switch(watch::Sender<Signal>);

/// The receiving side, held by the job.
#[derive(Clone)]
pub(crate) struct Listener(watch::Receiver<Signal>);

/// A switch and its listener.
pub(crate) fn channel() -> (Switch, Listener) {
    let (sender, receiver) = watch::channel(Signal::Run);
    (Switch(sender), Listener(receiver))
}

impl Switch {
    /// Raises the signal; a lower one than before changes nothing.
    pub(crate) fn raise(&self, signal: Signal) {
        self.0.send_if_modified(|now| {
            let higher = signal > *now;
            *now = signal.max(*now);
            higher
        });
    }
}

impl Listener {
    /// The signal now.
    pub(crate) fn now(&self) -> Signal {
        *self.0.borrow()
    }

    /// Waits until the signal is at least this. Never returns when the worker has forgotten the job.
    pub(crate) async fn at_least(&self, signal: Signal) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|now| *now >= signal).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
