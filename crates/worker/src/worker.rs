//! The worker's own loop: claim what fits, start it, wait for a reason to look again.
//!
//! ```text
//! claimed as many as asked? ── yes ─▶ claim again
//!        │ no
//!        └─▶ wait for: a notification · a job's end · the poll interval · the wish to stop
//! ```
//!
//! Notifications make it fast, polling makes it right. Everything else that has to happen now and then (the sweep, the
//! look at what is still ours) happens in this loop too, so that one loop's life is the worker's life.

use crate::{
    context::Context,
    error::Error,
    job,
    keeper::Keeper,
    mirror::Mirror,
    models::Models,
    options::WorkerOptions,
    patience::Patience,
    signal::{self, Signal, Switch},
};
use plumbline_effects::{documents::Parser, tools::Toolbox};
use plumbline_engine::JobError;
use plumbline_store::{ConnectOptions, Lease, NewWorker, ReleaseReason, Store};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Notify, watch},
    task::{self, JoinError, JoinSet},
};
use tracing::{debug, error, info, warn};
use uuid::Uuid;

/// Most jobs taken in one claim.
const CLAIM_BATCH: usize = 100;

/// Looks in a row at which a job was not among those the database counts as ours before its run is dropped. One is not
/// enough: the job may just be committing its last step.
const MISSES: u32 = 2;

/// What the process is asked to do; only ever raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Nothing: work.
    No,
    /// Drain: claim nothing more, give the jobs back at their next boundary, at the latest when the grace is over.
    Drain,
    /// Leave at once.
    Now,
}

/// Runs a worker until it is asked to stop, or is idle where that is its end.
///
/// # Errors
/// [`Error`]: the database cannot be used at the start, or a loop that everything depends on ended.
pub async fn run(options: WorkerOptions, stop: watch::Receiver<Stop>) -> Result<(), Error> {
    options.timing.validate().map_err(Error::Options)?;
    let name = ConnectOptions { application_name: "plumbline worker".into(), ..ConnectOptions::default() };
    let store = Store::connect(&options.database_url, name).await?;
    store.check_schema().await?;
    let worker = Worker::start(store, options, stop).await?;
    worker.work().await
}

struct Held {
    epoch: i64,
    switch: Switch,
    misses: u32,
}

struct Worker {
    context: Arc<Context>,
    keeper: Keeper,
    stop: watch::Receiver<Stop>,
    jobs: JoinSet<()>,
    /// Which job a task runs.
    tasks: HashMap<task::Id, Uuid>,
    held: HashMap<Uuid, Held>,
    hint: Arc<Notify>,
    swept: Instant,
}

impl Worker {
    async fn start(store: Store, options: WorkerOptions, stop: watch::Receiver<Stop>) -> Result<Self, Error> {
        let parser = Parser::new(options.program.clone());
        let context = Arc::new(Context {
            worker_id: Uuid::now_v7(),
            configs: options.configs.clone(),
            models: Models::default(),
            toolbox: Toolbox::new(parser.clone()),
            parser,
            mirror: Mirror::new(options.workspace_dir.clone()),
            import_root: options.workspace_dir.join("import"),
            store,
            options,
        });
        register(&context).await?;
        let (url, timing) = (context.options.database_url.clone(), context.options.timing);
        let keeper = Keeper::start(url, context.worker_id, timing)
            .map_err(|error| Error::Options(format!("the lease keeper could not be started: {error}")))?;
        // The tokenizer's tables take a moment to load: off the runtime, before the first job needs them.
        tokio::task::spawn_blocking(plumbline_effects::tokens::warm);
        let hint = Arc::new(Notify::new());
        tokio::spawn(listen(context.store.clone(), hint.clone()));
        info!(worker.id = %context.worker_id, concurrency = context.options.concurrency, "worker started");
        Ok(Self { context, keeper, stop, jobs: JoinSet::new(), tasks: HashMap::new(), held: HashMap::new(), hint, swept: long_ago() })
    }

    async fn work(mut self) -> Result<(), Error> {
        let mut patience = Patience::new();
        let ended = loop {
            if *self.stop.borrow() > Stop::No {
                break Ok(());
            }
            if !self.keeper.is_alive() {
                break Err(Error::LoopEnded("lease keeper"));
            }
            match self.turn().await {
                Ok(Next::Again) => patience.reset(),
                Ok(Next::Wait) => {
                    patience.reset();
                    self.wait().await;
                }
                Ok(Next::Idle) => break Ok(()),
                Err(error) => {
                    warn!(%error, "the queue could not be read; trying again");
                    self.guard_leases();
                    tokio::select! {
                        () = patience.wait() => {}
                        _ = self.stop.changed() => {}
                    }
                }
            }
        };
        self.drain().await;
        ended
    }

    /// One look at everything.
    async fn turn(&mut self) -> Result<Next, plumbline_store::Error> {
        self.reap();
        self.guard_leases();
        if self.keeper.disowned() {
            register(&self.context).await?;
            self.keeper.registered_anew();
        }
        if !self.held.is_empty() {
            self.check_held().await?;
        }
        if self.swept.elapsed() >= self.context.options.timing.heartbeat {
            self.sweep().await?;
        }
        let asked = self.context.options.concurrency.saturating_sub(self.held.len()).min(CLAIM_BATCH);
        let claimed = if asked > 0 && self.keeper.holds() { self.claim(asked).await? } else { 0 };
        if claimed > 0 && claimed == asked {
            return Ok(Next::Again);
        }
        let idle = self.context.options.until_idle && self.held.is_empty() && self.nothing_left().await?;
        Ok(if idle { Next::Idle } else { Next::Wait })
    }

    async fn claim(&mut self, limit: usize) -> Result<usize, plumbline_store::Error> {
        let types = self.context.options.job_types.as_deref();
        let claimed = self.context.store.claim(self.context.worker_id, limit as i64, types).await?;
        let count = claimed.len();
        for job in claimed {
            let (switch, listener) = signal::channel();
            let (id, context) = (job.id, self.context.clone());
            self.held.insert(id, Held { epoch: job.lease_epoch, switch, misses: 0 });
            let task = self.jobs.spawn(job::run(context, job, listener));
            self.tasks.insert(task.id(), id);
        }
        Ok(count)
    }

    /// Forgets jobs that have left.
    fn reap(&mut self) {
        while let Some(ended) = self.jobs.try_join_next_with_id() {
            self.forget(ended.map(|(task, ())| task));
        }
    }

    /// A run that panicked fails its job: the same rows would make it panic again.
    fn forget(&mut self, ended: Result<task::Id, JoinError>) {
        let task = match &ended {
            Ok(task) => *task,
            Err(error) => error.id(),
        };
        let Some((id, held)) = self.tasks.remove(&task).and_then(|id| Some((id, self.held.remove(&id)?))) else {
            return;
        };
        if let Err(panic) = ended {
            error!(job.id = %id, error = %panic, "a job's run panicked");
            let (context, lease) = (self.context.clone(), Lease { job_id: id, epoch: held.epoch });
            tokio::spawn(async move {
                let reason = JobError::new("internal", "internal error: the job's run panicked; please report it with the worker's log");
                if let Err(error) = context.store.reject(&lease, &reason).await {
                    warn!(job.id = %lease.job_id, %error, "the job could not be failed; it is given back");
                }
            });
        }
    }

    /// When the heartbeat has failed for too long, others may take our jobs: everything is dropped before they do.
    fn guard_leases(&mut self) {
        if !self.keeper.holds() && !self.held.is_empty() {
            warn!(n_jobs = self.held.len(), "leases lost: no heartbeat for too long; all runs are dropped");
            self.raise(Signal::Lost);
        }
    }

    /// Compares our runs with what the database counts as ours.
    async fn check_held(&mut self) -> Result<(), plumbline_store::Error> {
        let leases = self.context.store.held(self.context.worker_id).await?;
        for (id, held) in &mut self.held {
            if leases.iter().any(|lease| lease.job_id == *id && lease.epoch == held.epoch) {
                held.misses = 0;
            } else {
                held.misses += 1;
                if held.misses >= MISSES {
                    debug!(job.id = %id, "the job was taken away");
                    held.switch.raise(Signal::Lost);
                }
            }
        }
        for orphan in leases.iter().filter(|lease| !self.held.contains_key(&lease.job_id)) {
            warn!(job.id = %orphan.job_id, "a lease without a run is given back");
            match self.context.store.release(orphan, ReleaseReason::Orphaned).await {
                Ok(()) | Err(plumbline_store::Error::LeaseLost(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), plumbline_store::Error> {
        let lease = self.context.options.timing.lease.as_secs();
        for job in self.context.store.sweep(u32::try_from(lease).unwrap_or(u32::MAX)).await? {
            warn!(job.id = %job.job_id, worker.id = %job.worker_id, n_crashes = job.crash_count, failed = job.failed,
                  "job taken back from a dead worker");
        }
        self.swept = Instant::now();
        Ok(())
    }

    async fn nothing_left(&self) -> Result<bool, plumbline_store::Error> {
        Ok(self.context.store.queue_counts(self.context.options.job_types.as_deref()).await?.is_idle())
    }

    async fn wait(&mut self) {
        // Between 80 and 120 % of the interval, so that many workers do not look at once.
        let spread = 0.8 + 0.4 * f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0;
        let poll = self.context.options.timing.poll.mul_f64(spread);
        tokio::select! {
            () = tokio::time::sleep(poll) => {}
            () = self.hint.notified() => {}
            _ = self.stop.changed() => {}
            ended = self.jobs.join_next_with_id(), if !self.jobs.is_empty() => {
                if let Some(ended) = ended {
                    self.forget(ended.map(|(task, ())| task));
                }
            }
        }
    }

    fn raise(&self, signal: Signal) {
        for held in self.held.values() {
            held.switch.raise(signal);
        }
    }

    /// Stops: jobs are given back at their next boundary, at the latest when the grace is over.
    async fn drain(mut self) {
        if !self.jobs.is_empty() {
            info!(n_jobs = self.jobs.len(), "draining");
        }
        self.raise(Signal::Drain);
        let grace = tokio::time::sleep(self.context.options.timing.drain);
        tokio::pin!(grace);
        let mut abandoned = false;
        while !self.jobs.is_empty() {
            tokio::select! {
                _ = self.jobs.join_next() => {}
                () = &mut grace, if !abandoned => {
                    abandoned = true;
                    self.raise(Signal::Abandon);
                }
                () = until(&mut self.stop, Stop::Now) => {
                    self.jobs.abort_all();
                    break;
                }
            }
        }
        if let Err(error) = self.context.store.unregister_worker(self.context.worker_id).await {
            warn!(%error, "the worker could not be unregistered; its row ages away");
        }
        info!(worker.id = %self.context.worker_id, "worker stopped");
    }
}

/// What the loop does next.
enum Next {
    Again,
    Wait,
    Idle,
}

async fn until(stop: &mut watch::Receiver<Stop>, wanted: Stop) {
    if stop.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// An instant from which every interval has passed.
fn long_ago() -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_secs(3600)).unwrap_or(now)
}

async fn register(context: &Context) -> Result<(), plumbline_store::Error> {
    context
        .store
        .register_worker(&NewWorker {
            id: context.worker_id,
            hostname: hostname(),
            version: env!("CARGO_PKG_VERSION").into(),
            concurrency: i32::try_from(context.options.concurrency).unwrap_or(i32::MAX),
        })
        .await
}

fn hostname() -> String {
    let known = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    known
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_string()))
        .unwrap_or_else(|| "unknown".into())
}

/// Turns notifications into hints. Losing the listener costs latency only, so it tries for ever, unhurried.
async fn listen(store: Store, hint: Arc<Notify>) {
    let mut patience = Patience::new();
    loop {
        match store.listen().await {
            Ok(mut listener) => {
                patience.reset();
                while listener.next().await.is_ok() {
                    hint.notify_one();
                }
            }
            Err(error) => debug!(%error, "not listening for notifications; polling goes on"),
        }
        patience.wait().await;
    }
}
