//! Runs CPU-bound work outside the event loop, which serves other jobs.
//!
//! At most one piece per processor, minus one, runs at a time, so that the event loop always has a processor,
//! regardless of how many jobs search or count at the same time. Work whose cost a model controls has a separate queue,
//! so that nothing else waits behind it. A caller that stops waiting, because of a timeout or a lost job, cancels the
//! work: long work checks its [`Cancellation`]. Disk-bound work uses no CPU and has a separate limit.
//!
//! CPU-bound work has its own few threads. A regular expression has a cache for each thread that searches with it, which
//! can take megabytes, and the runtime has dozens of threads, of which it would take another one each time.

#![allow(clippy::disallowed_methods, reason = "this is the module that makes them")]

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering},
    mpsc,
};
use std::thread::{Builder, available_parallelism};
use tokio::{
    sync::{Semaphore, oneshot},
    task::{JoinError, JoinHandle, spawn_blocking},
};

static QUICK: LazyLock<Threads> = LazyLock::new(|| Threads::start(processors().saturating_sub(1).max(1)));
/// For the costly queue: half of them.
static COSTLY: LazyLock<Threads> = LazyLock::new(|| Threads::start((processors() / 2).max(1)));

fn processors() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

type Work = Box<dyn FnOnce() + Send>;

/// Threads for CPU-bound work, with as many permits.
struct Threads {
    permits: Semaphore,
    queue: mpsc::Sender<Work>,
}

impl Threads {
    fn start(count: usize) -> Self {
        let (queue, waiting) = mpsc::channel::<Work>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..count {
            let waiting = Arc::clone(&waiting);
            let next = move || waiting.lock().recv();
            let serve = move || {
                while let Ok(work) = next() {
                    work();
                }
            };
            Builder::new().name("plumbline-work".to_owned()).spawn(serve).expect("the system starts a thread");
        }
        Self { permits: Semaphore::new(count), queue }
    }
}

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
    run(&QUICK, work).await
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
    threads: &'static Threads,
    work: impl FnOnce(&Cancellation) -> T + Send + 'static,
) -> T {
    let cancellation = Cancellation::default();
    let _cancel_on_drop = CancelOnDrop(cancellation.clone());
    // The semaphore is never closed, so acquiring always succeeds; the permit is released when the work ends, not the
    // wait.
    let permit = threads.permits.acquire().await;
    let (done, ends) = oneshot::channel();
    let work = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&cancellation)));
        drop(permit);
        // Its caller may wait no longer.
        let _ = done.send(ended);
    };
    threads.queue.send(Box::new(work)).expect("the threads never end");
    match ends.await.expect("work that ends says so") {
        Ok(done) => done,
        Err(panic) => resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    const CEILING: Duration = include!("../../../tests/src/wait/ceiling.rs");

    #[tokio::test]
    async fn work_without_a_waiter_is_cancelled_and_returns_its_permit() {
        let (begun, begins) = oneshot::channel();
        let (said, hears) = mpsc::channel();
        let endless = run_blocking(move |cancellation| {
            let _ = begun.send(());
            while !cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            said.send(()).is_ok()
        });
        // Other tests share the permits: work that is dropped before it begins is never run.
        tokio::select! {
            _ = endless => panic!("it waits to be cancelled"),
            begun = begins => begun.expect("the work begins"),
        }
        hears.recv_timeout(CEILING).expect("the work sees that it is cancelled");
        assert_eq!(run_blocking(|_| 7).await, 7, "there is a permit for the next");
    }

    #[tokio::test]
    async fn nothing_waits_for_costly_work() {
        let most = COSTLY.permits.available_permits() + 3;
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
        let most = QUICK.permits.available_permits().max(1);
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

    #[tokio::test]
    async fn all_work_is_done_by_the_same_few_threads() {
        let all: Vec<_> = (0..64).map(|_| tokio::spawn(run_blocking(|_| std::thread::current().id()))).collect();
        let mut threads = std::collections::HashSet::new();
        for one in all {
            threads.insert(one.await.expect("it ends"));
        }
        assert!(threads.len() <= processors().saturating_sub(1).max(1), "{threads:?}");
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_the_thread_goes_on() {
        let panicked = tokio::spawn(run_blocking(|_| -> i32 { panic!("a defect") })).await;
        assert!(panicked.is_err_and(|error| error.is_panic()));
        assert_eq!(run_blocking(|_| 7).await, 7);
    }
}
