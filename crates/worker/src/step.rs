//! The step loop of one job, to be read aloud: *next → perform → apply → commit*.
//!
//! The engine decides what is next, the outside performs it, the engine takes the outcome in, one transaction writes
//! what follows from it. No connection and no transaction is held while a model or a tool works. Between a model's
//! answer and the results of local tools there is no commit: they land together. The job's first step is written while
//! the model is asked for the first time.
//!
//! A job spends nearly all of its life waiting for its model, in numbers. What it waits for otherwise is boxed, so that
//! its future holds the room for a model's call and no more: a commit or a tool takes many times as much.

use crate::{
    clock,
    context::Context,
    desk::Desk,
    inbox::Inbox,
    intake::{self, IntakeJob},
    mirror_feed::MirrorFeed,
    patience::{Patience, bounded, patiently},
    profiles::Profile,
    signal::{Listener, Signal},
    telemetry::spans,
    validation_desk::ValidationDesk,
};
use chrono::{DateTime, Utc};
use plumbline_effects::{
    model::Prefix,
    tools::{BatchError, ToolContext, WorkspaceError},
};
use plumbline_engine::{Change, Effect, Leave, ModelRequest, Outcome, Run, Stage, ToolCall};
use plumbline_store::{
    ClaimedJob, Commit, Committed, Error as StoreError, JobInput, Lease, ReleaseReason,
    fail_points::{Point, part, reach},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::OwnedSemaphorePermit;
use tracing::{Instrument, debug, info, warn};

/// The tool that reads documents, in a process of its own.
const EXTRACTION: &str = "extract_document_text";

/// How a job's stay at this worker ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By the engine's word.
    Left(Leave),
    /// Given back at a step boundary, because the worker is shutting down.
    Released,
}

/// What ends a stay without the engine's word.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// The fence refused: another claim or the user's command. Normal.
    #[error("the job is no longer this worker's")]
    LeaseLost,
    /// The database refuses for good.
    #[error(transparent)]
    Store(StoreError),
    /// The job's rows could not be read for a tool.
    #[error("{0}")]
    Workspace(String),
    /// The engine and its driver disagree, which is a defect.
    #[error("internal error: {0}; please report it with the job's trace")]
    Internal(String),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost(_) => Self::LeaseLost,
            other => Self::Store(other),
        }
    }
}

/// One job while this worker runs it.
pub(crate) struct Stepper<'a> {
    pub(crate) context: &'a Context,
    pub(crate) claimed: &'a ClaimedJob,
    pub(crate) input: &'a JobInput,
    pub(crate) lease: Lease,
    pub(crate) profile: Arc<Profile>,
    /// Whether the next step is the job's first, with which its configuration is stored.
    pub(crate) stores_settings: bool,
    pub(crate) run: Run,
    pub(crate) step: i64,
    /// While the job is being taken in, until its first step is written.
    pub(crate) start: Option<Start>,
    /// Decided, not yet committed.
    pub(crate) changes: Vec<Change>,
    /// Of the last request to the model.
    pub(crate) prefix: Prefix,
    pub(crate) mirror: MirrorFeed,
    pub(crate) inbox: Inbox,
    pub(crate) signal: Listener,
    pub(crate) span: spans::Step,
}

/// What a job holds while it is being taken in.
pub(crate) struct Start {
    _turn: Option<OwnedSemaphorePermit>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Stepper<'_> {
    /// Runs the job until it leaves.
    pub(crate) async fn drive(&mut self) -> Result<End, Trouble> {
        loop {
            if self.run.feedback_waiting() {
                self.apply(Outcome::FeedbackReceived(Vec::new()))?;
            }
            if let Some(leave) = self.run.left().cloned() {
                return Box::pin(self.leave(leave)).await;
            }
            if !self.changes.is_empty() && !self.run.joins_next_commit() && !self.asks_while_committing() {
                Box::pin(self.commit()).await?;
                continue;
            }
            if self.changes.is_empty() && self.signal.now() >= Signal::Drain {
                reach(Point::Releasing, part(self.run.state())).await?;
                Box::pin(patiently(|| self.context.store.release(&self.lease, ReleaseReason::Drain))).await?;
                return Ok(End::Released);
            }
            if Box::pin(self.take_in_placed()).await? {
                continue;
            }
            self.wait_to_start().await;
            let outcome = match self.asks_while_committing() {
                true => Box::pin(self.ask_and_commit()).await?,
                false => self.perform().instrument(self.span.span()).await?,
            };
            self.apply(outcome)?;
            reach(Point::Applied, part(self.run.state())).await?;
        }
    }

    pub(crate) async fn perform(&self) -> Result<Outcome, Trouble> {
        let part = part(self.run.state());
        Ok(match self.run.next() {
            Effect::TakeIn => {
                let outcome = Box::pin(self.take_in()).await?;
                reach(Point::TakenIn, part).await?;
                outcome
            }
            Effect::CallModel(request) => {
                reach(Point::BeforeModel, part).await?;
                let outcome = self.call_model(request).await;
                reach(Point::AfterModel, part).await?;
                outcome
            }
            Effect::RunTools { calls, .. } => {
                let extracts = calls.iter().any(|call| call.name == EXTRACTION);
                reach(if extracts { Point::BeforeExtraction } else { Point::BeforeTools }, part).await?;
                let outcome = spans::tools(Box::pin(self.run_tools(&calls))).await?;
                reach(Point::AfterTools, part).await?;
                outcome
            }
            Effect::Wait { until } => {
                self.wait(until).await;
                Outcome::Woken
            }
            Effect::Leave(leave) => return Err(Trouble::Internal(format!("a run went on after it left: {leave:?}"))),
        })
    }

    /// Takes in what people have put into the job's folder, if the model is about to be asked; whether there was any.
    async fn take_in_placed(&mut self) -> Result<bool, Trouble> {
        if !self.asks_next() || !self.changes.is_empty() {
            return Ok(false);
        }
        let Some(placed) = self.inbox.look(self.context, &mut self.mirror, self.run.files()).await else {
            return Ok(false);
        };
        self.apply(Outcome::FilesPlaced(placed))?;
        Ok(true)
    }

    /// Waits until the job may be taken in. One whose documents lie on a volume has that to wait for, and keeps no other
    /// job waiting.
    async fn wait_to_start(&mut self) {
        if !matches!(self.run.state().stage, Stage::Intake) || self.start.is_some() {
            return;
        }
        let turn = match self.input.document_path {
            Some(_) => None,
            // Nobody closes the semaphore.
            None => Arc::clone(&self.context.starts).acquire_owned().await.ok(),
        };
        let inline = self.input.document_bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let roots = self.profile.resolved.config.document_roots.clone();
        let imported = match &self.input.document_path {
            Some(path) => intake::size_of(path.clone(), roots, &self.context.import_root).await,
            None => 0,
        };
        self.start = Some(Start { _turn: turn, _room: self.context.memory.room_for(inline + imported).await });
    }

    /// Whether the model is asked next.
    fn asks_next(&self) -> bool {
        let state = self.run.state();
        matches!(state.stage, Stage::Model) && state.retry.not_before.is_none()
    }

    async fn take_in(&self) -> Result<Outcome, Trouble> {
        let (id, input) = (self.claimed.id, self.input);
        let document =
            if input.document_bytes.is_some() { patiently(|| self.context.store.job_content(id)).await? } else { None };
        let job = IntakeJob {
            id,
            prompt: input.prompt.clone(),
            context: serde_json::Value::clone(&input.context),
            document_path: input.document_path.clone(),
            document_roots: self.profile.resolved.config.document_roots.clone(),
            document,
        };
        let (instructions, shared) = (&self.run.settings().prompts.instructions, &self.profile.shared);
        Ok(intake::take_in(job, &self.context.import_root, &self.context.parser, instructions, shared).await)
    }

    async fn call_model(&self, request: ModelRequest<'_>) -> Outcome {
        let llm = self.profile.llm(request.purpose);
        match self.context.models.client(llm) {
            Ok(client) => {
                let (again, span) = (|| self.run.request(), spans::model_call(self.lease.job_id, llm, &request));
                let call = client.call(request, again, clock::now, &self.prefix);
                let answered = call.instrument(span.clone()).await;
                spans::model_answered(&span, llm, &answered, again);
                match answered {
                    Ok(reply) => Outcome::ModelReplied(reply),
                    Err(failure) => {
                        debug!(job.id = %self.lease.job_id, error = failure.message, "model call failed");
                        Outcome::ModelFailed(*failure)
                    }
                }
            }
            Err(error) => Outcome::ModelFailed(crate::models::unusable(&request, llm, &error)),
        }
    }

    async fn run_tools(&self, calls: &[&ToolCall]) -> Result<Outcome, Trouble> {
        let desk = Desk::new(&self.context.store, self.lease, &self.run);
        let hand_over = ValidationDesk::new(&self.context.store, self.lease);
        let connections = &self.profile.resolved.config.connections;
        let graph = self.context.graphs.of(connections.neo4j.as_ref());
        let services = self.context.services.of(connections);
        let texts = services.texts(&self.context.store, self.lease.job_id);
        let settings = self.run.settings();
        let bound: Vec<&str> = self.run.bound(self.run.state().phase.kind).map(|tool| tool.name).collect();
        let bounds = ToolContext {
            max_result_tokens: settings.limits.max_tool_result_tokens,
            call_timeout: Duration::from_secs(self.profile.resolved.config.limits.tool_timeout_s),
            retries: self.profile.resolved.config.limits.tool_retries,
            hand_over: Some(&hand_over),
            graph: graph.access(),
            web: services.web(),
            texts: Some(&texts),
            ..ToolContext::new(self.lease.job_id, &bound)
        };
        match self.context.toolbox.run(calls, &desk, &bounds).await {
            Ok(returns) => Ok(Outcome::ToolsReturned(returns)),
            Err(BatchError::Away(outage)) => {
                debug!(job.id = %self.lease.job_id, error = outage.reason, "a service that tools need is away");
                Ok(Outcome::ToolsUnavailable(outage))
            }
            Err(BatchError::Workspace(error)) if is_lease_lost(&error) => Err(Trouble::LeaseLost),
            Err(BatchError::Workspace(error)) => Err(Trouble::Workspace(error.to_string())),
        }
    }

    /// A draining worker does not wait: the job waits as well elsewhere.
    async fn wait(&self, until: DateTime<Utc>) {
        let wait = (until - clock::now()).to_std().unwrap_or(Duration::ZERO);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.signal.at_least(Signal::Drain) => {}
        }
    }

    fn apply(&mut self, outcome: Outcome) -> Result<(), Trouble> {
        let changes =
            self.run.apply(outcome, clock::now()).map_err(|illegal| Trouble::Internal(illegal.to_string()))?;
        self.span.decided(&changes);
        self.changes.extend(changes);
        Ok(())
    }

    async fn leave(&mut self, leave: Leave) -> Result<End, Trouble> {
        // A run may be loaded just to leave again, e.g. when its budget is still used up.
        if !self.changes.iter().any(|change| matches!(change, Change::Left(_))) {
            self.changes.push(Change::Left(leave.clone()));
        }
        self.commit().await?;
        Ok(End::Left(leave))
    }

    /// Writes what was decided and takes in what the row says back.
    async fn commit(&mut self) -> Result<(), Trouble> {
        let changes = std::mem::take(&mut self.changes);
        let committed = self.write(changes).await?;
        self.is_at(&committed, self.next_span(committed.step));
        if committed.feedback_pending && self.run.left().is_none() {
            let feedback = Box::pin(patiently(|| self.context.store.feedback(self.lease.job_id))).await?;
            info!(job.id = %self.lease.job_id, n_feedback = feedback.len(), "feedback received");
            self.apply(Outcome::FeedbackReceived(feedback))?;
        }
        Ok(())
    }

    /// Whether what was decided is written while the model is asked, and not before: when the job has just been taken
    /// in. Nothing has been paid for that a crash could lose, and what the model is told would be made anew from the
    /// job's row. From then on an answer is on disk before the next one is asked for.
    fn asks_while_committing(&self) -> bool {
        self.step == 0 && !self.changes.is_empty() && self.asks_next() && self.signal.now() < Signal::Drain
    }

    /// The request is on its way before the step is: the model's future is polled first, and the task of its connection
    /// has its turn before the step's rows are made. Feedback that came meanwhile is told of by the next commit.
    async fn ask_and_commit(&mut self) -> Result<Outcome, Trouble> {
        let (changes, span) = (std::mem::take(&mut self.changes), self.next_span(self.step + 1));
        let start = self.start.take();
        let (outcome, committed) = {
            let ask = self.perform().instrument(span.span());
            let write = Box::pin(async {
                tokio::task::yield_now().await;
                let written = self.write(changes).await;
                drop(start);
                written
            });
            tokio::pin!(ask, write);
            tokio::select! {
                biased;
                // Whatever became of the request, a step that has begun to be written is never given up half way.
                outcome = &mut ask => (outcome, write.await?),
                // A step that could not be written ends the run, and with it the request.
                written = &mut write => {
                    let committed = written?;
                    (ask.await, committed)
                }
            }
        };
        self.is_at(&committed, span);
        outcome
    }

    /// The run has got to a step that was committed.
    fn is_at(&mut self, committed: &Committed, next: spans::Step) {
        self.step = committed.step;
        self.run.committed(committed.step);
        self.span.followed_by(next);
        self.stores_settings = false;
        self.start = None;
        self.signal.commit();
    }

    /// The span of the step after the one with this number.
    fn next_span(&self, step: i64) -> spans::Step {
        spans::Step::begin(self.claimed.id, step + 1, self.run.state().phase.kind)
    }

    /// Writes a step, waiting out database trouble for as long as the lease holds: what a model's answer cost is not
    /// thrown away for a restart of Postgres.
    async fn write(&self, changes: Vec<Change>) -> Result<Committed, Trouble> {
        let next_job = crate::hand_over::next_job(
            self.claimed.id,
            &self.input.config,
            &self.profile.resolved,
            self.run.requirements(),
            &changes,
        );
        let progress = self.run.progress();
        reach(Point::BeforeCommit, part(self.run.state())).await?;
        let mut patience = Patience::new();
        let mut delayed = None;
        let mut span = spans::Commit::begin(&self.span, self.step, changes.len());
        let committed = loop {
            let commit = Commit {
                lease: self.lease,
                expected_step: self.step,
                changes: &changes,
                state: self.run.state(),
                progress: &progress,
                settings: self.stores_settings.then_some(&self.profile.stored),
                enqueue_next: next_job.as_ref(),
            };
            let store = &self.context.store;
            let tried = match delayed.is_some() {
                false => span.attempt(bounded(store.commit(&commit))).await,
                true => span.attempt(bounded(Box::pin(store.commit_again(&commit)))).await,
            };
            match tried {
                Ok(committed) => break committed,
                Err(error) if error.is_transient() => {
                    if delayed.is_none() {
                        warn!(job.id = %self.lease.job_id, step = self.step, %error, "commit delayed by database trouble");
                        delayed = Some(self.context.vitals.delay());
                    }
                    patience.wait().await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        if delayed.take().is_some() {
            info!(job.id = %self.lease.job_id, step = self.step, "the delayed commit went through");
        }
        if self.run.left().is_some() {
            // The mirror may take longer than the next look at what is ours, which must not drop it half way.
            self.signal.leave();
        }
        self.span.committed();
        debug!(job.id = %self.lease.job_id, step = committed.step, n_changes = changes.len(), "step committed");
        self.mirror.feed(committed.step, part(self.run.state()), changes);
        Ok(committed)
    }
}

/// Whether a tool found that the job is another's by now.
fn is_lease_lost(error: &WorkspaceError) -> bool {
    matches!(error.0.downcast_ref(), Some(StoreError::LeaseLost(_)))
}
