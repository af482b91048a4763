//! Threads for the mirror's file work, which yield to everything else: a job goes on whether its folder shows its last
//! step now or a little later. A busy worker's steps are written first; where there is time, both are.

use rustix::process::nice;
use tokio::{
    runtime::{Builder, Runtime},
    task::{self, JoinHandle},
};

/// How much they yield, as in `nice`: beside a thread that does not, one of these gets a quarter of a processor, so that
/// no folder waits for ever.
const NICENESS: i32 = 5;

/// Most threads at a time, idle ones included; those end after some seconds. Each has memory of its own.
const THREADS: usize = 8;

/// See the module. The runtime is used for its threads only.
#[derive(Debug)]
pub(super) struct Gentle(Option<Runtime>);

impl Default for Gentle {
    fn default() -> Self {
        let mut threads = Builder::new_current_thread();
        threads.thread_name("mirror").max_blocking_threads(THREADS);
        threads.on_thread_start(|| {
            // A system that does not let us yield runs these as any others.
            let _ = nice(NICENESS);
        });
        Self(threads.build().ok())
    }
}

impl Gentle {
    /// Runs file work on one of the threads, as soon as one is free.
    pub(super) fn spawn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        match &self.0 {
            Some(threads) => threads.spawn_blocking(work),
            None => task::spawn_blocking(work),
        }
    }
}

impl Drop for Gentle {
    fn drop(&mut self) {
        if let Some(threads) = self.0.take() {
            threads.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gentle, NICENESS};
    use std::fs;

    /// The niceness of the calling thread: the 19th field of its line, behind the name.
    fn niceness() -> i32 {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(16).unwrap().parse().unwrap()
    }

    #[tokio::test]
    async fn its_threads_yield_and_no_others() {
        let own = niceness();
        let gentle = Gentle::default();
        // Nothing yields more than 19.
        assert_eq!(gentle.spawn(niceness).await.unwrap(), (own + NICENESS).min(19));
        assert_eq!(tokio::task::spawn_blocking(niceness).await.unwrap(), own);
        drop(gentle);
    }
}
