//! Runs CPU-bound work outside the event loop, which serves other jobs.
//!
//! At most one piece per processor, minus one, runs at a time, so that the event loop always has a processor,
//! regardless of how many jobs search or count at the same time. Work whose cost a model controls has a separate queue,
//! so that nothing else waits behind it. A caller that stops waiting, because of a timeout or a lost job, cancels the
//! work: long work checks its [`Cancellation`]. Disk-bound work uses no CPU and has a separate limit.

#![allow(clippy::disallowed_methods, reason = "this is the module that makes them")]

use std::num::NonZeroUsize;
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering},
};
use std::thread::available_parallelism;
use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinHandle, spawn_blocking},
};

static PERMITS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).max(1)));
/// For the costly queue: half of them.
static COSTLY: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new((available_parallelism().map_or(1, NonZeroUsize::get) / 2).max(1)));

/// Maximum concurrent file operations: more threads than the disk's queue depth only use memory.
static ON_FILES: Semaphore = Semaphore::const_new(64);

/// Tells whether a caller still waits for the work.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Whether the work may stop because its result is no longer needed.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Cancels when dropped, as happens to the future of a call at its timeout.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work that is linear in its text, on a separate thread once a permit is free. A panic propagates to the caller.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce(&Cancellation) -> T + Send + 'static) -> T {
    run(&PERMITS, work).await
}

/// Like [`run_blocking`], for work of unbounded duration.
pub async fn run_costly<T: Send + 'static>(work: impl FnOnce(&Cancellation) -> T + Send + 'static) -> T {
    run(&COSTLY, work).await
}

/// Runs disk-bound work. A caller that stops waiting does not cancel it.
///
/// # Errors
/// When it panicked.
pub async fn on_files<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    // Never closed, as above; held by the thread.
    let permit = ON_FILES.acquire().await;
    spawn_blocking(move || {
        let _permit = permit;
        work()
    })
    .await
}

/// A thread for work whose amount the caller bounds: internal work, such as loading a table, or a queue with a fixed
/// number of threads.
pub fn unbounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    spawn_blocking(work)
}

async fn run<T: Send + 'static>(
    permits: &'static Semaphore,
    work: impl FnOnce(&Cancellation) -> T + Send + 'static,
) -> T {
    let cancellation = Cancellation::default();
    let _cancel_on_drop = CancelOnDrop(cancellation.clone());
    // The semaphore is never closed, so acquiring always succeeds; the permit is released when the work ends, not the
    // wait.
    let permit = permits.acquire().await;
    let done = spawn_blocking(move || {
        let _permit = permit;
        work(&cancellation)
    });
    match done.await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    const CEILING: Duration = include!("../../../tests/src/wait/ceiling.rs");

    #[tokio::test]
    async fn work_without_a_waiter_is_cancelled_and_returns_its_permit() {
        let (said, hears) = mpsc::channel();
        let endless = run_blocking(move |cancellation| {
            while !cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            said.send(()).is_ok()
        });
        assert!(tokio::time::timeout(Duration::from_millis(50), endless).await.is_err(), "it waits to be cancelled");
        hears.recv_timeout(CEILING).expect("the work sees that it is cancelled");
        assert_eq!(run_blocking(|_| 7).await, 7, "there is a permit for the next");
    }

    #[tokio::test]
    async fn nothing_waits_for_costly_work() {
        let most = COSTLY.available_permits() + 3;
        let (ends, costly): (Vec<_>, Vec<_>) = (0..most)
            .map(|_| {
                let (end, ended) = mpsc::channel::<()>();
                (end, tokio::spawn(run_costly(move |_| ended.recv().is_err())))
            })
            .unzip();
        assert_eq!(run_blocking(|_| 7).await, 7);
        drop(ends);
        for one in costly {
            one.await.expect("it ends");
        }
    }

    #[tokio::test]
    async fn no_more_runs_at_once_than_there_are_permits() {
        let most = PERMITS.available_permits().max(1);
        let running = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let all: Vec<_> = (0..most + 8)
            .map(|_| {
                let running = Arc::clone(&running);
                tokio::spawn(run_blocking(move |_| {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    now
                }))
            })
            .collect();
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        for one in all {
            assert!(one.await.expect("it ends") <= processors.saturating_sub(1).max(1));
        }
    }
}
