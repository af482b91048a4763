//! The worker's main loop: claim jobs, start them, wait for a wake-up.
//!
//! ```text
//! claimed as many as asked? ── yes ─▶ claim again
//!        │ no
//!        └─▶ wait for: a notification or a job's end · the poll interval, or the sweep's · a stop request
//! ```
//!
//! Notifications provide speed, polling provides correctness. All other periodic work (the sweep, reconciling leases)
//! is also done in this loop, so that the worker lives exactly as long as the loop. `shutdown` describes its end.

mod alone;
pub(crate) mod registration;
mod shutdown;
mod startup;
mod unknown_types;

pub use shutdown::Shutdown;

use crate::{
    active_jobs::ActiveJobs,
    app::{App, ENDS, STARTS},
    clients::{graph::Graphs, model::Models, web::Services},
    clock,
    config_cache::ConfigCache,
    error::Error,
    health::Health,
    heartbeat::Heartbeat,
    limits::{Limits, RefusedKeys},
    notifier::{Notifier, Wakeup},
    options::WorkerOptions,
    pulse::BeatGuard,
    reload,
    run::{cancellation, cancellation::StopLevel, document_budget::DocumentBudget, job},
    served::Live,
};
use plumbline_config::{NO_MODEL, Secrets};
use plumbline_documents::Parser;
use plumbline_engine::{JobError, KEY_REFUSED};
use plumbline_job_setup::{catalog, foreign_tools_by_type};
use plumbline_mirror::MirrorSync;
use plumbline_store::backoff::{Backoff, jittered, with_call_timeout};
use plumbline_store::{Lease, ReleaseReason, Store};
use plumbline_tools::ToolRunner;
use shutdown::wait_for;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{OnceCell, Semaphore, watch},
    task::{self, JoinError, JoinHandle, JoinSet},
};
use tracing::{error, info, warn};
use uuid::Uuid;

/// Maximum jobs per claim: beyond this number the fixed cost of a claim is negligible.
const CLAIM_BATCH: usize = 1000;

/// Sweeps between two searches for folders that a dead worker left incomplete.
const REPAIR_EVERY: u32 = 10;

/// Time between two reconciliations of our leases while there are jobs; and after one whose finding a second one must
/// confirm.
const RECONCILE_EVERY: Duration = Duration::from_millis(500);
const RECONCILE_AGAIN: Duration = Duration::from_millis(100);

/// Runs a worker until it is asked to stop, or is idle if it runs until idle.
///
/// # Errors
/// [`Error`]: the database cannot be used at startup, where an outage is waited for as long as a lease lasts; or an
/// essential loop ended.
pub async fn run(options: WorkerOptions, mut stop: watch::Receiver<Shutdown>) -> Result<(), Error> {
    options.timing.validate().map_err(Error::Options)?;
    let ours = stop.clone();
    let start = || async { Worker::start(startup::store(&options).await?, options.clone(), ours.clone()).await };
    let Some(worker) = startup::retry_until(options.timing.lease, &mut stop, start).await? else { return Ok(()) };
    // It has its own connections, and the outage may begin between the two.
    let (url, app) = (&options.database_url, worker.app.clone());
    let serve = || async { Ok(plumbline_dashboard::start(&options.http, url, app.health.clone()).await?) };
    let served = startup::retry_until(options.timing.lease, &mut stop, serve).await;
    if served.is_err() {
        // Others would take its row for a live worker until the lease ends. The error to report is that of the address.
        let _signed_off = app.store.unregister_worker(app.worker_id).await;
    }
    let _http = served?;
    let ended = worker.work().await;
    plumbline_telemetry::finish().await;
    ended
}

struct Worker {
    app: Arc<App>,
    heartbeat: Heartbeat,
    /// Dropped after the heartbeat, which depends on it.
    _beating: BeatGuard,
    stop: watch::Receiver<Shutdown>,
    jobs: JoinSet<()>,
    /// The lease of the job that a task runs.
    tasks: HashMap<task::Id, Lease>,
    active_jobs: ActiveJobs,
    notifier: Arc<Notifier>,
    reconciled: Instant,
    swept: Instant,
    sweeps: u32,
    repairing: Option<JoinHandle<()>>,
    _reloading: AbortOnDrop,
    /// Set while a suspect runs alone, or waits to.
    alone: Option<alone::Alone>,
    /// After a failed claim: jobs are claimed one by one until a claim succeeds.
    one_by_one: bool,
}

/// What the jobs of a worker share.
fn app(store: Store, options: WorkerOptions) -> Arc<App> {
    let own = foreign_tools_by_type(&options.configs, &options.model_env).into_iter().map(|tool| tool.spec);
    plumbline_telemetry::name_tools(&catalog().into_iter().chain(own).collect::<Vec<_>>());
    let parser = Parser::new(options.program.clone());
    let secrets = Arc::new(Secrets::of(&options.configs, &options.model_env));
    let mirror = MirrorSync::start(options.workspace_dir.clone(), store.clone(), options.timing.lease);
    let behind = mirror.behind().clone();
    let worker_id = Uuid::now_v7();
    Arc::new(App {
        worker_id,
        live: Live::new(options.configs.clone(), &options.model_env, options.job_types.as_deref()),
        secrets: secrets.clone(),
        config_cache: ConfigCache::default(),
        models: Models::new(secrets.clone()),
        limits: Limits::start(store.clone(), worker_id, options.timing.lease),
        refused_keys: RefusedKeys::default(),
        graphs: Graphs::new(secrets.clone()),
        services: Services::new(secrets),
        tool_runner: ToolRunner::new(parser.clone()),
        parser,
        token_tables: OnceCell::new(),
        mirror,
        import_root: options.workspace_dir.join("import"),
        memory: DocumentBudget::new(),
        starts: Arc::new(Semaphore::new(STARTS)),
        ends: Semaphore::new(ENDS),
        store,
        health: Arc::new(Health::new(&options.timing, behind)),
        options,
    })
}

/// Jobs that waited for a key or a model that another worker lacks are tried with this one's.
async fn retry_waiting(app: &App) -> Result<(), Error> {
    for waited_for in [KEY_REFUSED, NO_MODEL] {
        let jobs = app.store.retry_waiting_for(waited_for).await?;
        if jobs > 0 {
            info!(jobs, waited_for, "retrying jobs that waited for another worker");
        }
    }
    Ok(())
}

impl Worker {
    async fn start(store: Store, options: WorkerOptions, stop: watch::Receiver<Shutdown>) -> Result<Self, Error> {
        let app = app(store, options);
        reload::log_broken_types(&app);
        registration::write(&app).await?;
        retry_waiting(&app).await?;
        let beating = app.health.pulse.start();
        let (url, timing) = (app.options.database_url.clone(), app.options.timing);
        let heartbeat = Heartbeat::start(url, app.worker_id, timing, app.health.pulse.clone())
            .map_err(|error| Error::Options(format!("the heartbeat thread could not be started: {error}")))?;
        let notifier = Notifier::listen(app.store.clone());
        let reloading = tokio::spawn(reload::watch(app.clone()));
        info!(worker.id = %app.worker_id, concurrency = app.options.concurrency, "worker started");
        Ok(Self {
            app,
            heartbeat,
            _beating: beating,
            stop,
            jobs: JoinSet::new(),
            tasks: HashMap::new(),
            active_jobs: ActiveJobs::default(),
            notifier,
            reconciled: distant_past(),
            swept: distant_past(),
            sweeps: 0,
            repairing: None,
            _reloading: AbortOnDrop(reloading),
            alone: None,
            one_by_one: false,
        })
    }

    async fn work(mut self) -> Result<(), Error> {
        let (mut backoff, mut failing) = (Backoff::new(), false);
        let mut stopping = self.stop.clone();
        let ended = loop {
            if *self.stop.borrow() > Shutdown::None {
                break Ok(());
            }
            if !self.heartbeat.is_alive() {
                break Err(Error::LoopEnded("heartbeat"));
            }
            self.app.health.record_tick(self.heartbeat.lease_is_valid(), self.notifier.is_listening());
            // A drain waits for the claim: if the database executed it after the last release, it would count as a crash.
            let ticked = tokio::select! {
                ticked = with_call_timeout(self.tick()) => ticked,
                () = wait_for(&mut stopping, Shutdown::Immediate) => break Ok(()),
            };
            log_change(ticked.as_ref().err(), failing);
            failing = ticked.is_err();
            self.app.health.record_poll_result(failing);
            match ticked {
                Ok(Next::Again) => backoff.reset(),
                Ok(Next::Wait) => {
                    backoff.reset();
                    self.wait().await;
                }
                Ok(Next::Idle) => break Ok(()),
                Err(_) => {
                    self.guard_leases();
                    self.active_jobs.mark_unsynced();
                    tokio::select! {
                        () = backoff.sleep() => {}
                        _ = self.stop.changed() => {}
                    }
                }
            }
        };
        self.drain().await;
        ended
    }

    /// One turn of the loop.
    async fn tick(&mut self) -> Result<Next, plumbline_store::Error> {
        self.reap();
        self.guard_leases();
        if self.heartbeat.is_unregistered() {
            registration::write(&self.app).await?;
            self.heartbeat.mark_registered();
        }
        let sweeps = self.time_to_sweep().is_zero();
        if sweeps || self.time_to_reconcile().is_some_and(|left| left.is_zero()) {
            self.reconcile_leases().await?;
        }
        if sweeps {
            self.sweep().await?;
            self.repair_mirrors();
        }
        self.advance_suspect().await?;
        let batch = if self.one_by_one { 1 } else { CLAIM_BATCH };
        let room = if self.alone.is_some() { 0 } else { self.app.options.concurrency };
        let asked = room.saturating_sub(self.active_jobs.len()).min(batch);
        let claimed = if asked > 0 && self.heartbeat.lease_is_valid() { self.claim(asked).await? } else { 0 };
        if claimed > 0 && claimed == asked {
            return Ok(Next::Again);
        }
        let idle = self.app.options.until_idle && self.active_jobs.is_empty() && self.is_idle().await?;
        Ok(if idle { Next::Idle } else { Next::Wait })
    }

    async fn claim(&mut self, limit: usize) -> Result<usize, plumbline_store::Error> {
        let types = &self.app.live.now().job_types;
        let claimed = self.app.store.claim(self.app.worker_id, limit as i64, Some(types), self.lease_secs()).await;
        self.one_by_one = claimed.is_err();
        let claimed = claimed?;
        let count = claimed.len();
        if claimed.iter().any(|job| job.is_suspect) {
            self.make_room(claimed).await?;
            return Ok(0);
        }
        for job in claimed {
            let (handle, listener) = cancellation::channel();
            let (lease, app) = (job.lease(), self.app.clone());
            self.active_jobs.insert(lease, handle);
            let task = self.jobs.spawn(job::run(app, job, listener));
            self.tasks.insert(task.id(), lease);
        }
        Ok(count)
    }

    /// Forgets jobs that have left.
    fn reap(&mut self) {
        while let Some(ended) = self.jobs.try_join_next_with_id() {
            self.on_job_exit(ended.map(|(task, ())| task));
        }
    }

    /// A run that panicked fails its job: the same rows would make it panic again.
    fn on_job_exit(&mut self, ended: Result<task::Id, JoinError>) {
        let task = match &ended {
            Ok(task) => *task,
            Err(error) => error.id(),
        };
        let Some(lease) = self.tasks.remove(&task) else { return };
        self.active_jobs.remove(lease);
        if let Err(panic) = ended
            && panic.is_panic()
        {
            error!(job.id = %lease.job_id, error = %panic, "job run panicked");
            tokio::spawn(fail_panicked(self.app.clone(), lease));
        }
    }

    /// If the heartbeat has failed for too long, others may take our jobs: everything is dropped before that.
    fn guard_leases(&mut self) {
        if !self.heartbeat.lease_is_valid() && !self.active_jobs.is_empty() {
            warn!(n_jobs = self.active_jobs.len(), "leases lost: heartbeat overdue; dropping all runs");
            self.active_jobs.raise(StopLevel::LeaseLost);
        }
    }

    /// Time until the next reconciliation of our runs with the leases in the database.
    fn time_to_reconcile(&self) -> Option<Duration> {
        let pause = match self.active_jobs.needs_reconcile() {
            true => RECONCILE_AGAIN,
            false if self.active_jobs.is_empty() => return None,
            false => RECONCILE_EVERY,
        };
        Some(pause.saturating_sub(self.reconciled.elapsed()))
    }

    /// Time until the next search for dead workers, which does not depend on the poll interval.
    fn time_to_sweep(&self) -> Duration {
        self.app.options.timing.heartbeat.saturating_sub(self.swept.elapsed())
    }

    /// Compares our runs with the leases that the database counts for us.
    async fn reconcile_leases(&mut self) -> Result<(), plumbline_store::Error> {
        self.reconciled = Instant::now();
        let leases = self.app.store.held(self.app.worker_id).await?;
        for orphan in self.active_jobs.reconcile(&leases) {
            warn!(job.id = %orphan.job_id, "released a lease that has no run");
            match self.app.store.release(&orphan, ReleaseReason::Orphaned).await {
                Ok(()) | Err(plumbline_store::Error::LeaseLost(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn lease_secs(&self) -> u32 {
        u32::try_from(self.app.options.timing.lease.as_secs()).unwrap_or(u32::MAX)
    }

    async fn sweep(&mut self) -> Result<(), plumbline_store::Error> {
        for job in self.app.store.sweep(self.lease_secs()).await? {
            warn!(job.id = %job.job_id, worker.id = %job.worker_id, n_crashes = job.crash_count, failed = job.failed,
                  "reclaimed a job from a dead worker");
            plumbline_telemetry::instruments::rescued(1);
        }
        self.look_for_unknown_types().await?;
        clock::sync(&self.app.store).await?;
        self.swept = Instant::now();
        Ok(())
    }

    /// Periodically, and at startup, in the background.
    fn repair_mirrors(&mut self) {
        if self.sweeps.is_multiple_of(REPAIR_EVERY) {
            // If a volume hangs, one such search waits, and no others are added.
            if self.repairing.as_ref().is_none_or(JoinHandle::is_finished) {
                let app = self.app.clone();
                self.repairing = Some(tokio::spawn(async move { app.mirror.catch_up().await }));
            }
        }
        self.sweeps = self.sweeps.wrapping_add(1);
    }

    async fn is_idle(&self) -> Result<bool, plumbline_store::Error> {
        let types = &self.app.live.now().job_types;
        Ok(self.app.store.queue_counts(Some(types)).await?.is_idle())
    }

    async fn wait(&mut self) {
        let poll = jittered(self.app.options.timing.poll).min(self.time_to_sweep());
        let pause = tokio::time::sleep(self.time_to_reconcile().map_or(poll, |left| left.min(poll)));
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => return,
                wakeup = self.notifier.next() => {
                    if wakeup == Wakeup::Reconcile {
                        self.reconciled = distant_past();
                    }
                    return;
                }
                _ = self.stop.changed() => return,
                ended = self.jobs.join_next_with_id(), if !self.jobs.is_empty() => {
                    if let Some(ended) = ended {
                        self.on_job_exit(ended.map(|(task, ())| task));
                    }
                    self.notifier.job_ended();
                }
            }
        }
    }
}

async fn fail_panicked(app: Arc<App>, lease: Lease) {
    let said = "internal error: the job's run panicked; please report it with the worker's log";
    if let Err(error) = app.store.reject(&lease, &JobError::new("internal", said)).await {
        warn!(job.id = %lease.job_id, %error, "could not mark the job as failed; releasing it");
    }
}

/// Logs when the queue begins to fail and when it works again, not at every turn.
fn log_change(trouble: Option<&plumbline_store::Error>, before: bool) {
    match trouble {
        Some(error) if !before => warn!(%error, "could not read the queue; retrying"),
        None if before => info!("the queue is readable again"),
        _ => {}
    }
}

/// A task that ends with the worker.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the loop does next.
enum Next {
    Again,
    Wait,
    Idle,
}

/// An instant before which every interval has elapsed.
fn distant_past() -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_secs(3600)).unwrap_or(now)
}
