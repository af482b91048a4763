//! The heartbeat of this worker, on a separate thread, runtime and connection, so that neither a busy tool nor an
//! exhausted pool can starve it.
//!
//! # When leases are lost
//!
//! All leases of a worker depend on one row, `workers.heartbeat_at`. Others take this worker's jobs if that row is
//! older than the lease by the database's clock. This thread declares the leases lost *earlier*, by its own monotonic
//! clock: measured from the time at which it *sent* the last successful heartbeat, so that the database's time of it is
//! always later than ours.
//!
//! ```text
//! ours:      sent ─────────────── lease − margin ──▶ drop everything
//! database:    └─▶ heartbeat_at ─────────────── lease ──▶ others may take the jobs
//! ```
//!
//! The thread keeps running if the event loop is stalled, and a stalled worker must not keep others from its jobs: so
//! it sends no heartbeat until the loop moves again.

use crate::{options::Timing, pulse::Pulse};
use parking_lot::Mutex;
use plumbline_store::{ConnectOptions, Store};
use plumbline_telemetry::instruments;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::{sync::Notify, time::error::Elapsed};
use tracing::{info, warn};
use uuid::Uuid;

/// The running heartbeat.
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// When the last successful heartbeat was sent.
    sent: Mutex<Instant>,
    /// The worker's row was missing at a heartbeat.
    unregistered: AtomicBool,
    stop: Notify,
    timing: Timing,
    /// The pulse of the event loop that runs the jobs.
    pulse: Arc<Pulse>,
    /// No heartbeat is sent because the event loop is stalled.
    pausing: AtomicBool,
}

impl Heartbeat {
    /// Starts the heartbeat of a worker that has just been registered.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn start(
        database_url: String,
        worker_id: Uuid,
        timing: Timing,
        pulse: Arc<Pulse>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            sent: Mutex::new(Instant::now()),
            unregistered: AtomicBool::new(false),
            stop: Notify::new(),
            timing,
            pulse,
            pausing: AtomicBool::new(false),
        });
        let theirs = shared.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("lease-keeper".into())
            .spawn(move || runtime.block_on(run(&theirs, &database_url, worker_id)))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Whether the leases can still be trusted.
    pub(crate) fn lease_is_valid(&self) -> bool {
        let sent = *self.shared.sent.lock();
        instruments::heartbeat_age(sent.elapsed());
        sent.elapsed() < self.shared.timing.lease - margin(self.shared.timing.lease) && !self.is_unregistered()
    }

    /// Whether the worker's row is missing, e.g. swept while this process was frozen.
    pub(crate) fn is_unregistered(&self) -> bool {
        self.shared.unregistered.load(Ordering::Acquire)
    }

    /// The worker was registered again.
    pub(crate) fn mark_registered(&self) {
        *self.shared.sent.lock() = Instant::now();
        self.shared.unregistered.store(false, Ordering::Release);
    }

    /// Whether the thread runs; without it this process only appears to be alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread ends within one query's time-out; the panic hook has logged a panic in it.
            let _ = thread.join();
        }
    }
}

/// How much earlier than in the database the leases are given up: a tenth of the lease, at least a second if the lease
/// allows it.
fn margin(lease: Duration) -> Duration {
    (lease / 10).max(Duration::from_secs(1)).min(lease / 3)
}

/// How long the event loop may be stalled before the heartbeat pauses: longer than any normal operation takes, and
/// short compared to the lease, which is extended by at most this time.
fn stillness(lease: Duration) -> Duration {
    (lease / 3).min(Duration::from_secs(5))
}

/// How often the event loop is checked while it is stalled.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// Whether the heartbeat must pause now; logs the beginning and end of a pause.
fn pauses(shared: &Shared) -> bool {
    let delay = shared.pulse.delay();
    let pauses = delay > stillness(shared.timing.lease);
    match (shared.pausing.swap(pauses, Ordering::Release), pauses) {
        (false, true) => warn!(?delay, "event loop stalled; heartbeat paused, leases are not renewed"),
        (true, false) => info!("event loop recovered; heartbeat resumed"),
        _ => {}
    }
    pauses
}

async fn run(shared: &Shared, database_url: &str, worker_id: Uuid) {
    let options = ConnectOptions {
        max_connections: 1,
        application_name: "plumbline heartbeat".into(),
        statement_timeout: Some(shared.timing.heartbeat),
    };
    let (mut store, mut failing) = (None, false);
    loop {
        if pauses(shared) {
            tokio::select! {
                () = tokio::time::sleep(WATCH_EVERY) => continue,
                () = shared.stop.notified() => return,
            }
        }
        let beat = send(shared, database_url, worker_id, &options, &mut store);
        tokio::select! {
            beaten = tokio::time::timeout(shared.timing.heartbeat, beat) => {
                failing = log_change(&beaten, failing);
                // Sooner than the interval after a failure, because the lease is running out.
                let pause = if matches!(beaten, Ok(Ok(()))) { shared.timing.heartbeat } else { shared.timing.heartbeat / 4 };
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = shared.stop.notified() => return,
                }
            }
            () = shared.stop.notified() => return,
        }
    }
}

/// Logs when heartbeats begin to fail and when they succeed again, not each time; returns whether they fail.
fn log_change(beaten: &Result<Result<(), plumbline_store::Error>, Elapsed>, failing: bool) -> bool {
    match beaten {
        Ok(Ok(())) if failing => info!("heartbeat recovered"),
        Ok(Err(error)) if !failing => warn!(%error, "heartbeat failed; retrying"),
        Err(_) if !failing => warn!("heartbeat timed out; retrying"),
        _ => {}
    }
    !matches!(beaten, Ok(Ok(())))
}

async fn send(
    shared: &Shared,
    database_url: &str,
    worker_id: Uuid,
    options: &ConnectOptions,
    store: &mut Option<Store>,
) -> Result<(), plumbline_store::Error> {
    let store = match store {
        Some(store) => store,
        None => store.insert(Store::connect(database_url, options.clone()).await?),
    };
    let sent = Instant::now();
    if store.heartbeat(worker_id).await? {
        *shared.sent.lock() = sent;
    } else {
        shared.unregistered.store(true, Ordering::Release);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Heartbeat;
    use crate::{
        options::Timing,
        pulse::tests::{Loops, until},
    };
    use std::{io::ErrorKind, net::TcpListener, sync::atomic::Ordering, time::Duration};
    use uuid::Uuid;

    #[test]
    fn no_heartbeat_is_sent_while_the_event_loop_is_stalled() {
        let timing = Timing { lease: Duration::from_secs(3), heartbeat: Duration::from_secs(1), ..Timing::default() };
        let loops = Loops::start();
        let blocked = loops.block();
        until("the loops stand still", || loops.pulse.delay() > timing.lease / 3);

        let database = TcpListener::bind("127.0.0.1:0").unwrap();
        database.set_nonblocking(true).unwrap();
        let url = format!("postgres://nobody@{}/nothing?sslmode=disable", database.local_addr().unwrap());
        let keeper = Heartbeat::start(url, Uuid::now_v7(), timing, loops.pulse.clone()).unwrap();
        until("the keeper has looked at the loops", || keeper.shared.pausing.load(Ordering::Acquire));
        until("the leases have ended", || !keeper.lease_is_valid());
        assert_eq!(database.accept().map(drop).unwrap_err().kind(), ErrorKind::WouldBlock, "a heartbeat was sent");

        drop(blocked);
        until("a heartbeat is sent", || database.accept().is_ok());
    }
}
