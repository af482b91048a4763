//! The step loop of one job: *next → perform → apply → commit*.
//!
//! The engine decides the next effect, the worker performs it, the engine applies the outcome, and one transaction
//! writes the changes. No connection and no transaction is held while a model or a tool works. There is no commit
//! between a model's answer and the results of local tools: they are written together.
//!
//! A job spends nearly all of its life waiting for its model, and there are many jobs. Other futures are boxed, so that
//! a job's future has only the size of a model call: a commit or a tool is many times as large.

use crate::{
    app::App,
    clock,
    config_cache::ResolvedConfig,
    limits::Permit,
    run::{
        abandoned::Sent,
        cancellation::{StopLevel, StopListener},
        error::StepError,
        input_watcher::InputWatcher,
        intake,
        store_workspace::StoreWorkspace,
    },
};
use plumbline_engine::{ApprovalChange, Change, JobExit, Outcome, Run, Stage};
use plumbline_llm::Learnt;
use plumbline_mirror::MirrorFeed;
use plumbline_report::Rendering;
use plumbline_store::backoff::{Backoff, LostTime, retry_transient, with_call_timeout};
use plumbline_store::{
    ClaimedJob, Commit, Committed, Error as StoreError, JobInput, Lease, ReleaseReason,
    fail_points::{Point, part, reach},
};
use plumbline_telemetry::{instruments, spans};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::OwnedSemaphorePermit;
use tracing::{Instrument, debug, info, warn};

/// Maximum time of retrying a commit in place while the server refuses it: a full disk and a revoked right last longer,
/// and must be visible in the job's row.
const LONGEST_DELAY: Duration = Duration::from_secs(600);

/// How a job's run at this worker ended.
#[derive(Debug)]
pub(crate) enum Exit {
    /// As decided by the engine.
    Left(JobExit),
    /// Given back at a step boundary, because the worker is shutting down.
    Released,
}

/// One job while this worker runs it.
pub(crate) struct StepLoop<'a> {
    pub(crate) app: &'a App,
    pub(crate) claimed: &'a ClaimedJob,
    pub(crate) input: &'a JobInput,
    pub(crate) lease: Lease,
    pub(crate) config: Arc<ResolvedConfig>,
    /// Whether the next step stores the job's configuration: the first one, and the first one of a retry.
    pub(crate) stores_settings: bool,
    pub(crate) run: Run,
    pub(crate) step: i64,
    /// Held during the intake, until the first step is written.
    pub(crate) start: Option<Start>,
    /// Decided, not yet committed.
    pub(crate) changes: Vec<Change>,
    /// Requests not yet written by a step.
    pub(crate) sent: Sent,
    /// What its model requests have taught.
    pub(crate) learnt: Learnt,
    /// The permit for the next request, if its endpoint has a limit.
    pub(crate) permit: Option<Permit>,
    pub(crate) mirror: MirrorFeed,
    pub(crate) input_watcher: InputWatcher,
    pub(crate) signal: StopListener,
    pub(crate) span: spans::Step,
    /// The time that its reads have lost to outages of the database.
    pub(crate) lost_time: LostTime,
    /// For the claim's span.
    pub(crate) tokens: spans::ClaimTokens,
}

/// Resources of a job during its intake.
pub(crate) struct Start {
    /// Bytes of its documents, as far as known before the first of them is read.
    pub(crate) bytes: u64,
    _turn: Option<OwnedSemaphorePermit>,
    _room: Option<OwnedSemaphorePermit>,
}

impl StepLoop<'_> {
    /// Runs the job until it leaves the worker.
    pub(crate) async fn run(&mut self) -> Result<Exit, StepError> {
        loop {
            if self.run.feedback_waiting() {
                self.apply(Outcome::FeedbackReceived(Vec::new()))?;
            }
            if let Some(leave) = self.run.exit().cloned() {
                // Waits before the rest has a future: many jobs may wait, and it is as large as a commit.
                // The semaphore is never closed.
                let _turn = if self.run.reports() { self.app.ends.acquire().await.ok() } else { None };
                return Box::pin(self.leave(leave)).await;
            }
            if self.run.commits_next(!self.changes.is_empty()) {
                Box::pin(self.commit()).await?;
                continue;
            }
            // A dispatched call is made first: otherwise its outcome would count as unknown.
            let is_boundary = self.changes.is_empty() && !self.run.has_dispatched();
            if is_boundary && self.signal.now() >= StopLevel::Drain {
                reach(Point::Releasing, part(self.run.state())).await?;
                Box::pin(retry_transient(|| self.app.store.release(&self.lease, ReleaseReason::Drain))).await?;
                return Ok(Exit::Released);
            }
            if Box::pin(self.take_in_input_files()).await? {
                continue;
            }
            if let Some(reason) = self.refused_key() {
                Box::pin(self.wait_for_another_key(reason)).await?;
                return Ok(Exit::Released);
            }
            self.wait_to_start().await;
            if !Box::pin(self.wait_for_limit()).await {
                continue;
            }
            let outcome = self.perform().instrument(self.span.span()).await?;
            self.permit = None;
            self.apply(outcome)?;
            reach(Point::Applied, part(self.run.state())).await?;
        }
    }

    /// Imports files that people have put into the job's folder, if the model is called next; returns whether there
    /// were any.
    async fn take_in_input_files(&mut self) -> Result<bool, StepError> {
        if !self.asks_next() || !self.changes.is_empty() {
            return Ok(false);
        }
        let Some(placed) = self.input_watcher.look(self.app, &mut self.mirror, self.run.workspace().files()).await
        else {
            return Ok(false);
        };
        self.apply(Outcome::FilesPlaced(placed))?;
        Ok(true)
    }

    /// Waits until the intake may begin. A job with documents on a volume waits for the volume, and does not block
    /// other jobs.
    async fn wait_to_start(&mut self) {
        if !matches!(self.run.state().stage, Stage::Intake) || self.start.is_some() {
            return;
        }
        let turn = match self.input.document_path {
            Some(_) => None,
            // The semaphore is never closed.
            None => Arc::clone(&self.app.starts).acquire_owned().await.ok(),
        };
        let inline = self.input.document_bytes.unwrap_or(0).saturating_add(self.input.documents_bytes);
        let inline = u64::try_from(inline).unwrap_or(0);
        let roots = self.config.resolved.config.document_roots.clone();
        let imported = match &self.input.document_path {
            Some(path) => intake::size_of(path.clone(), roots, &self.app.import_root).await,
            None => 0,
        };
        let bytes = inline.saturating_add(imported);
        self.start = Some(Start { bytes, _turn: turn, _room: self.app.memory.room_for(bytes).await });
    }

    /// Whether the model is called next.
    fn asks_next(&self) -> bool {
        let state = self.run.state();
        matches!(state.stage, Stage::Model) && state.retry.not_before.is_none()
    }

    fn apply(&mut self, outcome: Outcome) -> Result<(), StepError> {
        let changes =
            self.run.apply(outcome, clock::now()).map_err(|illegal| StepError::Internal(illegal.to_string()))?;
        self.span.decided(&changes);
        self.changes.extend(changes);
        Ok(())
    }

    async fn leave(&mut self, leave: JobExit) -> Result<Exit, StepError> {
        // A run may be loaded only to leave again, e.g. if its budget is still used up.
        if !self.changes.iter().any(|change| matches!(change, Change::Exited(_))) {
            self.changes.push(Change::Exited(leave.clone()));
        }
        let workspace = StoreWorkspace::new(&self.app.store, self.lease, &self.run, &self.lost_time);
        let no_sources = self.config.resolved.config.no_sources.as_deref().unwrap_or_default();
        let rendering =
            Rendering::of(&self.run, &self.changes, &workspace, no_sources).await.map_err(StepError::from)?;
        rendering.add(&mut self.run, &mut self.changes);
        self.commit().await?;
        Ok(Exit::Left(leave))
    }

    /// Writes the decided changes and applies what the row returns.
    async fn commit(&mut self) -> Result<(), StepError> {
        let changes = std::mem::take(&mut self.changes);
        let Some(committed) = self.write_or_undo(changes).await? else { return Ok(()) };
        self.step = committed.step;
        self.sent.committed();
        self.run.committed(committed.step);
        self.span.followed_by(spans::Step::begin(self.claimed.id, committed.step + 1, self.run.state().phase.kind));
        self.stores_settings = false;
        self.start = None;
        self.signal.commit();
        if committed.feedback_pending && self.run.exit().is_none() {
            let feedback = Box::pin(retry_transient(|| self.app.store.feedback(self.lease.job_id))).await?;
            info!(job.id = %self.lease.job_id, n_feedback = feedback.len(), "feedback received");
            self.apply(Outcome::FeedbackReceived(feedback))?;
        }
        Ok(())
    }

    /// Writes a step. If the call that it dispatches is no longer approved, nothing is written: the call is not sent,
    /// and all other changes are written with its answer.
    async fn write_or_undo(&mut self, changes: Vec<Change>) -> Result<Option<Committed>, StepError> {
        // Steps that dispatch a call are rare.
        let is_dispatch = |change: &Change| matches!(change, Change::Approval(ApprovalChange::Executed { .. }));
        let kept: Option<Vec<Change>> = changes
            .iter()
            .any(is_dispatch)
            .then(|| changes.iter().filter(|change| !is_dispatch(change)).cloned().collect());
        match (self.write(changes).await, kept) {
            (Err(StepError::Store(StoreError::DispatchRefused(job_id))), Some(kept)) => {
                info!(job.id = %job_id, "skipped a call: it is no longer approved");
                self.changes = kept;
                self.apply(Outcome::DispatchRefused)?;
                Ok(None)
            }
            (written, _) => Ok(Some(written?)),
        }
    }

    /// Writes a step, and retries on database failures for as long as the lease is valid: a paid answer of a model must
    /// not be lost because Postgres restarts.
    async fn write(&self, mut changes: Vec<Change>) -> Result<Committed, StepError> {
        crate::run::limit_hint::append_limit_hint(&self.run, self.claimed.id, &mut changes);
        let next_job = crate::run::on_complete::next_job(
            self.claimed.id,
            &self.input.config,
            &self.config.resolved,
            self.run.ledger().standing().next().is_some() || !self.run.settings().records_requirements(),
            &changes,
        );
        let progress = self.run.progress();
        reach(Point::BeforeCommit, part(self.run.state())).await?;
        let mut backoff = Backoff::new();
        let (mut delayed, began) = (None, Instant::now());
        let mut span = spans::Commit::begin(&self.span, self.step, changes.len());
        let committed = loop {
            let commit = Commit {
                lease: self.lease,
                expected_step: self.step,
                changes: &changes,
                state: self.run.state(),
                progress: &progress,
                settings: self.stores_settings.then_some(&self.config.stored),
                enqueue_next: next_job.as_ref(),
            };
            let store = &self.app.store;
            let tried = match delayed.is_some() {
                false => span.attempt(with_call_timeout(store.commit(&commit))).await,
                true => span.attempt(with_call_timeout(Box::pin(store.commit_again(&commit)))).await,
            };
            match tried {
                Ok(committed) => break committed,
                Err(error) if error.is_transient() && !(error.is_said() && self.is_too_long(began)) => {
                    if delayed.is_none() {
                        warn!(job.id = %self.lease.job_id, step = self.step, %error, "commit failed; retrying");
                        delayed = Some(self.app.health.commit_stalled());
                    }
                    backoff.sleep().await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        if delayed.take().is_some() {
            info!(job.id = %self.lease.job_id, step = self.step, "commit succeeded after retries");
        }
        if self.run.exit().is_some() {
            // The mirror may take longer than the time to the next reconciliation, which must not drop the run
            // half-way.
            self.signal.mark_exited();
        }
        self.span.committed();
        instruments::passages(&changes, committed.step);
        debug!(job.id = %self.lease.job_id, step = committed.step, n_changes = changes.len(), "step committed");
        self.mirror.feed(committed.step, part(self.run.state()), &changes);
        Ok(committed)
    }

    /// Whether a server has refused a commit transiently for too long: then the job waits in the queue, with the reason
    /// in its row, and not at the worker.
    fn is_too_long(&self, began: Instant) -> bool {
        let patience = self.app.options.timing.give_up;
        let most = if patience.is_zero() { LONGEST_DELAY } else { LONGEST_DELAY.min(patience) };
        began.elapsed() >= most
    }
}
