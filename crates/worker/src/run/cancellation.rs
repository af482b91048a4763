//! Cancellation of a running job by its worker, in levels.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::watch;

/// The signal to a running job; each level includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopLevel {
    /// Continue.
    Run,
    /// Release the job at the next step boundary: the worker is shutting down.
    Drain,
    /// The drain's grace period is over: abandon the effect in flight and release.
    Abort,
    /// The lease is lost or a user took the job away: write nothing, drop everything.
    LeaseLost,
}

/// The sending side, held by the worker.
pub(crate) struct JobHandle {
    signal: watch::Sender<StopLevel>,
    exited: Arc<AtomicBool>,
    committed: Arc<AtomicBool>,
}

/// The receiving side, held by the job.
#[derive(Clone)]
pub(crate) struct StopListener {
    signal: watch::Receiver<StopLevel>,
    exited: Arc<AtomicBool>,
    committed: Arc<AtomicBool>,
}

/// A handle and its listener.
pub(crate) fn channel() -> (JobHandle, StopListener) {
    let (sender, receiver) = watch::channel(StopLevel::Run);
    let (exited, committed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let handle = JobHandle { signal: sender, exited: exited.clone(), committed: committed.clone() };
    (handle, StopListener { signal: receiver, exited, committed })
}

impl JobHandle {
    /// Raises the signal; a lower one than before has no effect. A job that has exited with its own last commit cannot
    /// lose its lease any more: that commit is why the database no longer counts the job for this worker.
    pub(crate) fn raise(&self, signal: StopLevel) {
        if signal == StopLevel::LeaseLost && self.exited.load(Ordering::Acquire) {
            return;
        }
        self.signal.send_if_modified(|now| {
            let higher = signal > *now;
            *now = signal.max(*now);
            higher
        });
    }
}

impl JobHandle {
    /// Whether the job has committed a step since it was claimed.
    pub(crate) fn has_committed(&self) -> bool {
        self.committed.load(Ordering::Acquire)
    }
}

impl StopListener {
    /// Records that the job has committed a step.
    pub(crate) fn commit(&self) {
        self.committed.store(true, Ordering::Release);
    }

    /// The current signal.
    pub(crate) fn now(&self) -> StopLevel {
        *self.signal.borrow()
    }

    /// Records that the job has exited with its last commit and only its mirror is still to be finished.
    pub(crate) fn mark_exited(&self) {
        self.exited.store(true, Ordering::Release);
    }

    /// Waits until the signal has at least this level. Never returns if the worker has forgotten the job.
    pub(crate) async fn at_least(&self, signal: StopLevel) {
        let mut receiver = self.signal.clone();
        if receiver.wait_for(|now| *now >= signal).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{StopLevel, channel};

    #[test]
    fn a_signal_only_rises() {
        let (handle, listener) = channel();
        for (raised, expected) in [
            (StopLevel::Drain, StopLevel::Drain),
            (StopLevel::LeaseLost, StopLevel::LeaseLost),
            (StopLevel::Abort, StopLevel::LeaseLost),
        ] {
            handle.raise(raised);
            assert_eq!(listener.now(), expected);
        }
    }

    #[test]
    fn a_job_that_has_left_is_not_lost_but_its_mirror_may_be_abandoned() {
        let (handle, listener) = channel();
        listener.mark_exited();
        handle.raise(StopLevel::LeaseLost);
        assert_eq!(listener.now(), StopLevel::Run);
        handle.raise(StopLevel::Abort);
        assert_eq!(listener.now(), StopLevel::Abort);
    }
}
