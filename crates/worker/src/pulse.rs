//! Detects a stalled event loop by the delay of an empty task.
//!
//! A worker with stalled loops commits nothing, receives no command and enforces no timeout, while its heartbeat would
//! continue forever from its own thread. So the heartbeat and the probes check this.

use plumbline_telemetry::instruments;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Time between two beats.
const BEAT: Duration = Duration::from_millis(250);

/// When the event loop last ran the task.
#[derive(Debug)]
pub(crate) struct Pulse {
    started: Instant,
    /// In milliseconds since the start.
    beat_ms: AtomicU64,
}

impl Pulse {
    /// A pulse that has just beaten.
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), beat_ms: AtomicU64::new(0) }
    }

    /// Starts to beat on this runtime, for as long as the returned value lives.
    pub(crate) fn start(self: &Arc<Self>) -> BeatGuard {
        let pulse = Arc::clone(self);
        BeatGuard(tokio::spawn(async move {
            loop {
                pulse.beat_ms.store(pulse.elapsed_ms(), Ordering::Relaxed);
                tokio::time::sleep(BEAT).await;
                instruments::loop_delayed(pulse.delay());
            }
        }))
    }

    /// How long the next beat is overdue.
    pub(crate) fn delay(&self) -> Duration {
        let since = self.elapsed_ms().saturating_sub(self.beat_ms.load(Ordering::Relaxed));
        Duration::from_millis(since).saturating_sub(BEAT)
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Ends the beat when dropped.
#[derive(Debug)]
pub(crate) struct BeatGuard(JoinHandle<()>);

impl Drop for BeatGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{BeatGuard, Pulse};
    use std::{
        sync::{Arc, mpsc},
        time::{Duration, Instant},
    };
    use tokio::runtime::{Builder, Runtime};

    const CEILING: Duration = include!("../../../tests/src/wait/ceiling.rs");

    /// A runtime like the worker's, and its pulse.
    pub(crate) struct Loops {
        runtime: Runtime,
        pub(crate) pulse: Arc<Pulse>,
        _beating: BeatGuard,
    }

    const THREADS: usize = 2;

    impl Loops {
        pub(crate) fn start() -> Self {
            let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap();
            let pulse = Arc::new(Pulse::new());
            let _beating = runtime.block_on(async { pulse.start() });
            Self { runtime, pulse, _beating }
        }

        /// Blocks every thread, like an endless computation, until the returned value is dropped.
        pub(crate) fn block(&self) -> Vec<mpsc::Sender<()>> {
            let (said, hears) = mpsc::channel();
            let block = |_| {
                let (end, ends) = mpsc::channel::<()>();
                let said = said.clone();
                self.runtime.spawn(async move {
                    said.send(()).unwrap();
                    // It ends with an error when the sender is dropped.
                    let _ = ends.recv();
                });
                end
            };
            let ends = (0..THREADS).map(block).collect();
            (0..THREADS).for_each(|_| hears.recv().unwrap());
            ends
        }
    }

    /// Waits for a condition.
    pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < CEILING, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn blocked_loops_are_noticed_and_so_is_their_going_on() {
        let loops = Loops::start();
        let blocked = loops.block();
        until("the loops stand still", || loops.pulse.delay() > Duration::from_secs(1));
        drop(blocked);
        until("the loops move again", || loops.pulse.delay() < Duration::from_millis(500));
    }
}
