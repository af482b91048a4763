//! Shutdown: every job is released, in one of the ways below, before the process ends.
//!
//! ```text
//! asked to stop ─▶ step boundaries ──grace over──▶ the effects in flight are abandoned ──▶ sign off
//!                          └───────── asked again ─────────────────┴──────────────────────▶ at once
//! ```
//!
//! It also waits, within the grace period, for unwritten folders of jobs that have left.

use super::Worker;
use crate::{app::App, run::cancellation::StopLevel};
use plumbline_store::ReleaseReason;
use std::time::Duration;
use tokio::sync::watch;
use tracing::{info, warn};

/// The requested kind of stop; only ever raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    /// No stop: work.
    None,
    /// Drain: claim no more jobs, give jobs back at their next boundary, at the latest when the grace period is over.
    Drain,
    /// Leave at once.
    Immediate,
}

/// Waits until at least this is requested; forever if no request can come any more.
pub(super) async fn wait_for(stop: &mut watch::Receiver<Shutdown>, wanted: Shutdown) {
    if stop.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// How long a worker that is shutting down tries to reach the database after its grace period.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The same for an immediate stop.
const IMMEDIATE_TIMEOUT: Duration = Duration::from_millis(500);

impl Worker {
    /// Stops: jobs are given back at their next boundary, at the latest when the grace period is over. An unreachable
    /// database is not waited for much longer: jobs not given back are rescued once their lease expires.
    pub(super) async fn drain(mut self) {
        if !self.jobs.is_empty() {
            info!(n_jobs = self.jobs.len(), "draining");
        }
        self.app.health.set_draining();
        self.active_jobs.raise(StopLevel::Drain);
        let grace = self.app.options.timing.drain;
        let (abandon, leave) = (tokio::time::sleep(grace), tokio::time::sleep(grace + RELEASE_TIMEOUT));
        tokio::pin!(abandon, leave);
        let mut abandoned = false;
        while !self.jobs.is_empty() {
            tokio::select! {
                _ = self.jobs.join_next() => {}
                () = &mut abandon, if !abandoned => {
                    abandoned = true;
                    self.active_jobs.raise(StopLevel::Abort);
                }
                () = wait_for(&mut self.stop, Shutdown::Immediate) => break,
                () = &mut leave => break,
            }
        }
        self.jobs.shutdown().await;
        // A folder that is not written now stays incomplete until another worker repairs it.
        if !abandoned {
            tokio::select! {
                () = self.app.mirror.idle() => {}
                () = &mut abandon => {}
                () = wait_for(&mut self.stop, Shutdown::Immediate) => {}
            }
        }
        let patience = if *self.stop.borrow() == Shutdown::Immediate { IMMEDIATE_TIMEOUT } else { RELEASE_TIMEOUT };
        if let Ok(Err(error)) = tokio::time::timeout(patience, release_remaining(&self.app)).await {
            warn!(%error, "could not unregister the worker; its row will expire");
        }
        info!(worker.id = %self.app.worker_id, "worker stopped");
    }
}

/// Gives back remaining leases, such as those of a claim whose answer was not awaited, and signs off.
async fn release_remaining(app: &App) -> Result<(), plumbline_store::Error> {
    for lease in app.store.held(app.worker_id).await? {
        match app.store.release(&lease, ReleaseReason::Abandoned).await {
            Ok(()) | Err(plumbline_store::Error::LeaseLost(_)) => {}
            Err(error) => return Err(error),
        }
    }
    app.store.unregister_worker(app.worker_id).await
}
