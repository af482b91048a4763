//! Performs one effect: intake, preparing a document, a model call, tools, or waiting. It reads rows and does not
//! write; the result is the outcome.

use crate::{
    clock,
    run::{
        cancellation::StopLevel,
        error::StepError,
        intake::{self, IntakeJob},
        judged_job, previous_job,
        step::StepLoop,
        store_workspace::StoreWorkspace,
        text_index::JobTexts,
    },
};
use chrono::{DateTime, Utc};
use plumbline_config::Llm;
use plumbline_engine::{Change, Effect, Intake, ModelRequest, Outcome, OutsideCall, Passage, Product, Untrusted};
use plumbline_job_setup::allowed_hosts;
use plumbline_store::{
    Lease,
    backoff::retry_transient,
    fail_points::{Point, part, reach},
};
use plumbline_telemetry::spans;
use plumbline_tools::{BatchError, PreviousJob, ToolContext, accept_by_rule};
use plumbline_tools::{http::Outgoing, web::Web};
use std::time::Duration;
use tracing::{Instrument, debug};
use uuid::Uuid;

impl StepLoop<'_> {
    /// Performs the next effect.
    pub(super) async fn perform(&self) -> Result<Outcome, StepError> {
        let part = part(self.run.state());
        Ok(match self.run.next() {
            Effect::Intake => {
                let outcome = Box::pin(self.intake()).await?;
                reach(Point::IntakeDone, part).await?;
                outcome
            }
            Effect::Prepare { document } => {
                reach(Point::BeforeExtraction, part).await?;
                let outcome = Box::pin(self.prepare(document)).await?;
                reach(Point::AfterTools, part).await?;
                outcome
            }
            Effect::Carry { previous } => {
                let outcome = Box::pin(self.carry(previous)).await?;
                reach(Point::AfterTools, part).await?;
                outcome
            }
            Effect::CallModel(request) => {
                reach(Point::BeforeModel, part).await?;
                let outcome = self.call_model(request).await;
                reach(Point::AfterModel, part).await?;
                outcome
            }
            Effect::RunTools { calls, .. } => {
                reach(Point::BeforeTools, part).await?;
                let outcome = spans::tools(Box::pin(self.run_tools(&calls))).await?;
                reach(Point::AfterTools, part).await?;
                outcome
            }
            Effect::Wait { until } => {
                self.wait(until).await;
                Outcome::Woken
            }
            Effect::Exit(leave) => {
                return Err(StepError::Internal(format!("a run went on after it left: {leave:?}")));
            }
        })
    }

    async fn intake(&self) -> Result<Outcome, StepError> {
        let (id, input) = (self.claimed.id, self.input);
        let previous = match previous_job::of(&self.app.store, id, &input.context).await? {
            Ok(previous) => previous,
            Err(reason) => return Ok(Outcome::IntakeRefused { reason, no_text: false }),
        };
        let tools = &self.config.resolved.config.tools;
        if let Some(reason) = judged_job::wrong(&self.app.store, id, &input.context, tools).await? {
            return Ok(Outcome::IntakeRefused { reason, no_text: false });
        }
        if let Some(reason) = intake::too_many_bytes(self.start.as_ref().map_or(0, |start| start.bytes)) {
            return Ok(Outcome::IntakeRefused { reason, no_text: false });
        }
        let document = if input.document_bytes.is_some() {
            retry_transient(|| self.app.store.job_content(id)).await?
        } else {
            None
        };
        let documents = if input.documents_count > 0 { self.given_documents().await? } else { Vec::new() };
        let job = IntakeJob {
            prompt: input.prompt.clone(),
            context: serde_json::Value::clone(&input.context),
            document_path: input.document_path.clone(),
            document_roots: self.config.resolved.config.document_roots.clone(),
            document,
            documents,
        };
        let (instructions, shared) = (&self.run.settings().prompts.instructions, &self.config.shared);
        let taken = intake::ingest(job, &self.app.import_root, &self.app.parser, instructions, shared).await;
        Ok(match taken {
            Outcome::IntakeDone(taken) => {
                let by_rule = Box::pin(self.judged_by_rule()).await?;
                Outcome::IntakeDone(Intake { waiting: self.waiting().await?, by_rule, previous, ..taken })
            }
            refused => refused,
        })
    }

    /// The judgements by rule of the waiting requirements, if the job judges requirements, its type has rules for it,
    /// and there is no graph to which each requirement must be related.
    async fn judged_by_rule(&self) -> Result<Option<Vec<Product>>, StepError> {
        let config = &self.config.resolved.config;
        if !self.run.settings().judges_requirements() || !config.accept_by_rule || config.connections.neo4j.is_some() {
            return Ok(None);
        }
        let workspace = StoreWorkspace::new(&self.app.store, self.lease, &self.run, &self.lost_time);
        accept_by_rule(&workspace, self.lease.job_id).await.map(Some).map_err(StepError::from)
    }

    /// Number of waiting requirements for a job that judges requirements.
    async fn waiting(&self) -> Result<Option<u64>, StepError> {
        if !self.run.settings().judges_requirements() {
            return Ok(None);
        }
        let rechecks = self.config.resolved.config.connections.neo4j.is_some();
        let tally = retry_transient(|| self.app.store.validation_tally(self.claimed.id, rechecks)).await?;
        Ok(Some(tally.waiting))
    }

    /// The documents supplied with the row.
    async fn given_documents(&self) -> Result<Vec<(String, Vec<u8>)>, StepError> {
        let (id, store) = (self.claimed.id, &self.app.store);
        let listed = retry_transient(|| store.job_documents(id)).await?;
        let mut documents = Vec::with_capacity(listed.len());
        for document in listed {
            // A missing document means that the job was deleted, which the commit will detect.
            if let Some(bytes) = retry_transient(|| store.job_document(id, &document)).await? {
                documents.push((document.name, bytes));
            }
        }
        Ok(documents)
    }

    async fn call_model(&self, request: ModelRequest<'_>) -> Outcome {
        let llm = self.config.llm(request.purpose, self.run.fallback_for(request.purpose));
        match self.app.models.client(llm) {
            Ok(client) => {
                let asked = asked(llm);
                let (again, span) = (|| self.run.request(), spans::model_call(self.lease.job_id, &asked, &request));
                let falls_back = self.run.fallback_for(request.purpose).is_some();
                self.sent.add(self.step, &request, llm, &client, self.run.next_request_tokens(), falls_back);
                let call = client.call(request, again, clock::now, &self.learnt);
                let answered = call.instrument(span.clone()).await;
                spans::model_answered(&span, &self.tokens, &asked, &answered, again);
                match Box::pin(self.note_limits(&client, answered)).await {
                    Ok(reply) => Outcome::ModelReplied(reply),
                    Err(failure) => {
                        debug!(job.id = %self.lease.job_id, error = failure.message, "model call failed");
                        Outcome::ModelFailed(*failure)
                    }
                }
            }
            Err(error) => Outcome::ModelFailed(crate::clients::model::unusable(&request, llm, &error)),
        }
    }

    async fn run_tools(&self, calls: &[OutsideCall<'_>]) -> Result<Outcome, StepError> {
        let workspace = StoreWorkspace::new(&self.app.store, self.lease, &self.run, &self.lost_time);
        let connections = &self.config.resolved.config.connections;
        let graph = self.app.graphs.of(connections.neo4j.as_ref());
        let services = self.app.services.of(connections);
        let texts = JobTexts {
            store: &self.app.store,
            lost_time: &self.lost_time,
            job_id: self.lease.job_id,
            embedder: services.embedder(),
        };
        let settings = self.run.settings();
        let bound: Vec<&str> = self.run.bound(self.run.state().phase.kind).map(|tool| tool.name.as_str()).collect();
        let uncommitted: Vec<&Product> = self.changes.iter().filter_map(Change::product).collect();
        let is_kept = self.run.state().untrusted_step.is_some() && settings.untrusted.mode != Untrusted::Allow;
        let hosts = is_kept.then(|| allowed_hosts(&self.config.resolved.config));
        let Lease { job_id, epoch, .. } = self.lease;
        let traceparent = move || spans::traceparent(job_id, epoch);
        let http = services.http().map(|caller| Outgoing { caller, traceparent: &traceparent });
        let bounds = ToolContext {
            http,
            tools: &self.config.tools,
            max_result_tokens: settings.limits.max_tool_result_tokens,
            call_timeout: Duration::from_secs(self.config.resolved.config.limits.tool_timeout_s),
            retries: self.config.resolved.config.limits.tool_retries,
            validation_queue: Some(&workspace),
            graph: graph.access(),
            web: Web { hosts: hosts.as_deref(), ..services.web() },
            texts: Some(&texts),
            inspection: Some(&self.config.inspection),
            no_sources: self.config.resolved.config.no_sources.as_deref().unwrap_or_default(),
            scan: &self.config.scan,
            uncommitted: &uncommitted,
            records_requirements: settings.records_requirements(),
            record_defaults: &self.config.record_defaults,
            given: &self.run.state().given,
            ..ToolContext::new(self.lease.job_id, &bound)
        };
        match self.app.tool_runner.run(calls, &workspace, &bounds).await {
            Ok(returns) => Ok(Outcome::ToolsReturned(returns)),
            Err(BatchError::Unavailable(outage)) => {
                debug!(job.id = %self.lease.job_id, error = outage.reason, "a service that tools need is unavailable");
                Ok(Outcome::ToolsUnavailable(outage))
            }
            Err(BatchError::Workspace(error)) => Err(error.into()),
        }
    }

    /// Extracts and cuts a document, with the tools that the model also has.
    async fn prepare(&self, document: &str) -> Result<Outcome, StepError> {
        let workspace = StoreWorkspace::new(&self.app.store, self.lease, &self.run, &self.lost_time);
        let prepared = self.app.tool_runner.prepare(document, &workspace, &self.bounds_of_system()).await;
        prepared.map(Outcome::Prepared).map_err(StepError::from)
    }

    /// Looks up the findings of an earlier job. If that was deleted, there is nothing to carry over.
    async fn carry(&self, previous: Uuid) -> Result<Outcome, StepError> {
        let store = &self.app.store;
        let previous = PreviousJob {
            id: previous,
            sources: retry_transient(|| store.sources(previous)).await?,
            same_documents: retry_transient(|| store.same_documents(self.lease.job_id, previous)).await?,
            passages: retry_transient(|| store.passages(previous)).await?,
            recorded: retry_transient(|| store.recorded(previous)).await?,
        };
        let workspace = StoreWorkspace::new(store, self.lease, &self.run, &self.lost_time);
        let now: Vec<&Passage> = self.run.ledger().all().collect();
        let carried = self.app.tool_runner.carry(&previous, &now, &workspace, &self.bounds_of_system()).await;
        carried.map(Outcome::Carried).map_err(StepError::from)
    }

    /// The context for the system's work on documents.
    fn bounds_of_system(&self) -> ToolContext<'_> {
        let config = &self.config.resolved.config;
        ToolContext {
            call_timeout: Duration::from_secs(config.limits.tool_timeout_s),
            retries: config.limits.tool_retries,
            scan: &self.config.scan,
            no_sources: config.no_sources.as_deref().unwrap_or_default(),
            ..ToolContext::new(self.lease.job_id, &[])
        }
    }

    /// A draining worker does not wait: the job can wait elsewhere.
    async fn wait(&self, until: DateTime<Utc>) {
        let wait = (until - clock::now()).to_std().unwrap_or(Duration::ZERO);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.signal.at_least(StopLevel::Drain) => {}
        }
    }
}

/// The attributes for telemetry of the model that is called.
fn asked(llm: &Llm) -> spans::AskedModel<'_> {
    spans::AskedModel {
        base_url: llm.base_url.as_deref().unwrap_or_default(),
        model: llm.model.as_deref().unwrap_or_default(),
        temperature: llm.temperature,
        prices: llm.prices.into(),
    }
}
