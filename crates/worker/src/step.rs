//! The step loop of one job, to be read aloud: *next → perform → apply → commit*.
//!
//! The engine decides what is next, the outside performs it, the engine takes the outcome in, one transaction writes
//! what follows from it. No connection and no transaction is held while a model or a tool works. Between a model's
//! answer and the results of local tools there is no commit: they land together.

use crate::{
    config::Resolved,
    context::Context,
    desk::Desk,
    intake::{self, IntakeJob},
    mirror_feed::MirrorFeed,
    patience::Patience,
    signal::{Listener, Signal},
};
use chrono::{DateTime, Utc};
use plumbline_effects::tools::ToolContext;
use plumbline_engine::{Change, Effect, Leave, ModelRequest, Outcome, Run, ToolCall, ToolReturn};
use plumbline_store::{ClaimedJob, Commit, Error as StoreError, Lease, ReleaseReason};
use serde_json::Value;
use std::time::Duration;
use tracing::{debug, info, warn};

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
    pub(crate) lease: Lease,
    pub(crate) resolved: Resolved,
    /// Stored with the first step.
    pub(crate) new_settings: Option<Value>,
    pub(crate) run: Run,
    pub(crate) step: i64,
    /// Decided, not yet committed.
    pub(crate) changes: Vec<Change>,
    pub(crate) mirror: MirrorFeed,
    pub(crate) signal: Listener,
}

impl Stepper<'_> {
    /// Runs the job until it leaves.
    pub(crate) async fn drive(&mut self) -> Result<End, Trouble> {
        loop {
            if self.run.feedback_waiting() {
                self.apply(Outcome::FeedbackReceived(Vec::new()))?;
            }
            if let Some(leave) = self.run.left().cloned() {
                return self.leave(leave).await;
            }
            if !self.changes.is_empty() && !self.run.joins_next_commit() {
                self.commit().await?;
                continue;
            }
            if self.changes.is_empty() && self.signal.now() >= Signal::Drain {
                self.context.store.release(&self.lease, ReleaseReason::Drain).await?;
                return Ok(End::Released);
            }
            let outcome = self.perform().await?;
            self.apply(outcome)?;
        }
    }

    async fn perform(&self) -> Result<Outcome, Trouble> {
        Ok(match self.run.next() {
            Effect::TakeIn => self.take_in().await?,
            Effect::CallModel(request) => self.call_model(&request).await,
            Effect::RunTools { calls, .. } => Outcome::ToolsReturned(self.run_tools(&calls).await?),
            Effect::Wait { until } => {
                self.wait(until).await;
                Outcome::Woken
            }
            Effect::Leave(leave) => return Err(Trouble::Internal(format!("a run went on after it left: {leave:?}"))),
        })
    }

    async fn take_in(&self) -> Result<Outcome, Trouble> {
        let claimed = self.claimed;
        let document = if claimed.has_document_content { self.context.store.job_content(claimed.id).await? } else { None };
        let job = IntakeJob {
            id: claimed.id,
            prompt: claimed.prompt.clone(),
            context: claimed.context.clone(),
            document_path: claimed.document_path.clone(),
            document,
        };
        let settings = self.run.settings();
        let (instructions, tools) = (&settings.prompts.instructions, &settings.tools);
        Ok(intake::take_in(&job, &self.context.import_root, &self.context.parser, instructions, tools).await)
    }

    async fn call_model(&self, request: &ModelRequest<'_>) -> Outcome {
        let llm = self.resolved.llm(request.purpose);
        match self.context.models.client(&llm) {
            Ok(client) => match client.call(request, Utc::now).await {
                Ok(reply) => Outcome::ModelReplied(reply),
                Err(failure) => {
                    debug!(job.id = %self.lease.job_id, error = failure.message, "model call failed");
                    Outcome::ModelFailed(*failure)
                }
            },
            Err(reason) => Outcome::ModelFailed(crate::models::unusable(request, &llm, reason)),
        }
    }

    async fn run_tools(&self, calls: &[&ToolCall]) -> Result<Vec<ToolReturn>, Trouble> {
        let desk = Desk::new(&self.context.store, self.lease.job_id, &self.run);
        let settings = self.run.settings();
        let bound: Vec<&str> = settings.bound(self.run.state().phase.kind).map(|tool| tool.name).collect();
        let bounds = ToolContext {
            max_result_tokens: settings.limits.max_tool_result_tokens,
            call_timeout: Duration::from_secs(self.resolved.config.limits.tool_timeout_s),
            ..ToolContext::new(self.lease.job_id, &bound)
        };
        self.context.toolbox.run(calls, &desk, &bounds).await.map_err(|error| Trouble::Workspace(error.to_string()))
    }

    /// A draining worker does not wait: the job waits as well elsewhere.
    async fn wait(&self, until: DateTime<Utc>) {
        let wait = (until - Utc::now()).to_std().unwrap_or(Duration::ZERO);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.signal.at_least(Signal::Drain) => {}
        }
    }

    fn apply(&mut self, outcome: Outcome) -> Result<(), Trouble> {
        let changes = self.run.apply(outcome, Utc::now()).map_err(|illegal| Trouble::Internal(illegal.to_string()))?;
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

    /// Writes what was decided, waiting out database trouble for as long as the lease holds: what a model's answer
    /// cost is not thrown away for a restart of Postgres.
    async fn commit(&mut self) -> Result<(), Trouble> {
        let next_job = crate::hand_over::next_job(self.claimed, &self.resolved, &self.changes);
        let progress = self.run.progress();
        let mut patience = Patience::new();
        let committed = loop {
            let commit = Commit {
                lease: self.lease,
                expected_step: self.step,
                changes: &self.changes,
                state: self.run.state(),
                progress: &progress,
                settings: self.new_settings.as_ref(),
                enqueue_next: next_job.as_ref(),
            };
            match self.context.store.commit(&commit).await {
                Ok(committed) => break committed,
                Err(error) if error.is_transient() => {
                    warn!(job.id = %self.lease.job_id, step = self.step, %error, "commit delayed by database trouble");
                    patience.wait().await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.step = committed.step;
        self.new_settings = None;
        debug!(job.id = %self.lease.job_id, step = self.step, n_changes = self.changes.len(), "step committed");
        self.mirror.feed(self.step, std::mem::take(&mut self.changes)).await;
        if committed.feedback_pending && self.run.left().is_none() {
            let feedback = self.context.store.feedback(self.lease.job_id).await?;
            info!(job.id = %self.lease.job_id, n_feedback = feedback.len(), "feedback received");
            self.apply(Outcome::FeedbackReceived(feedback))?;
        }
        Ok(())
    }
}
