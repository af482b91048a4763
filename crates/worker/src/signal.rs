//! How a running job hears from its worker.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
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
pub(crate) struct Switch {
    signal: watch::Sender<Signal>,
    left: Arc<AtomicBool>,
    committed: Arc<AtomicBool>,
}

/// The receiving side, held by the job.
#[derive(Clone)]
pub(crate) struct Listener {
    signal: watch::Receiver<Signal>,
    left: Arc<AtomicBool>,
    committed: Arc<AtomicBool>,
}

/// A switch and its listener.
pub(crate) fn channel() -> (Switch, Listener) {
    let (sender, receiver) = watch::channel(Signal::Run);
    let (left, committed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let switch = Switch { signal: sender, left: left.clone(), committed: committed.clone() };
    (switch, Listener { signal: receiver, left, committed })
}

impl Switch {
    /// Raises the signal; a lower one than before changes nothing. A job that has left by its own last commit cannot be
    /// lost any more: that the database no longer counts it as ours is what the commit was for.
    pub(crate) fn raise(&self, signal: Signal) {
        if signal == Signal::Lost && self.left.load(Ordering::Acquire) {
            return;
        }
        self.signal.send_if_modified(|now| {
            let higher = signal > *now;
            *now = signal.max(*now);
            higher
        });
    }
}

impl Switch {
    /// Whether the job has committed a step since it was claimed.
    pub(crate) fn has_committed(&self) -> bool {
        self.committed.load(Ordering::Acquire)
    }
}

impl Listener {
    /// Says that the job has committed a step.
    pub(crate) fn commit(&self) {
        self.committed.store(true, Ordering::Release);
    }

    /// The signal now.
    pub(crate) fn now(&self) -> Signal {
        *self.signal.borrow()
    }

    /// Says that the job has left with its last commit and only its mirror has still to be finished.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Waits until the signal is at least this. Never returns when the worker has forgotten the job.
    pub(crate) async fn at_least(&self, signal: Signal) {
        let mut receiver = self.signal.clone();
        if receiver.wait_for(|now| *now >= signal).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Signal, channel};

    #[test]
    fn a_signal_only_rises() {
        let (switch, listener) = channel();
        for (raised, expected) in
            [(Signal::Drain, Signal::Drain), (Signal::Lost, Signal::Lost), (Signal::Abandon, Signal::Lost)]
        {
            switch.raise(raised);
            assert_eq!(listener.now(), expected);
        }
    }

    #[test]
    fn a_job_that_has_left_is_not_lost_but_its_mirror_may_be_abandoned() {
        let (switch, listener) = channel();
        listener.leave();
        switch.raise(Signal::Lost);
        assert_eq!(listener.now(), Signal::Run);
        switch.raise(Signal::Abandon);
        assert_eq!(listener.now(), Signal::Abandon);
    }
}
