//! The spans, and what is measured with them.
//!
//! ```text
//! invoke_workflow <job type>        one a claim, linked to the job's earlier ones
//! ├─ invoke_agent <phase>           one a step
//! │  ├─ chat <model>                one a request
//! │  ├─ execute_tool <tool>         one a call, the engine's own tools included
//! │  └─ commit                      with the number of further tries
//! └─ mirror                         after a commit
//! ```
//!
//! Names of attributes are ours; [`super::names`] gives them the standard's. Without a collector only the two
//! kinds exist that [`crate::span_metrics`] measures: no other layer wants any.

use super::{TARGET, content, ids, instruments, pipeline};
use crate::{endpoint::Endpoint, engine_tool_spans::Unanswered};
use opentelemetry::{
    Array, StringValue, Value,
    trace::{Status, TraceContextExt},
};
use parking_lot::Mutex;
use plumbline_engine::{Change, Failure, ModelRequest, PhaseKind, Prices, Reply, RequestRecord};
use plumbline_store::{ClaimedJob, Error as StoreError};
use std::{
    future::Future,
    time::{Duration, Instant},
};
use tracing::{Instrument, Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::Uuid;

/// Earlier claims that a claim links to, the latest ones.
const LINKS: i64 = 32;

/// A claim, from taking the job to leaving it.
pub fn claim(job: &ClaimedJob, worker_id: Uuid) -> Span {
    instruments::claimed(job);
    let span = info_span!(
        target: TARGET, parent: None, "claim", otel.name = format!("invoke_workflow {}", job.job_type),
        operation = "invoke_workflow", agent.name = job.job_type, conversation.id = %job.id, job.id = %job.id,
        job.r#type = job.job_type, job.attempt = job.attempt, job.lease_epoch = job.lease_epoch, worker.id = %worker_id,
    );
    if pipeline().traces.is_some() {
        // Asking for its context begins the span, with the ids that are set just now.
        ids::for_claim(job.id, job.lease_epoch, || span.context());
        for epoch in (job.lease_epoch - LINKS).max(1)..job.lease_epoch {
            span.add_link(ids::link_to(job.id, epoch));
        }
    }
    span
}

/// The tokens of a claim's requests, which its span carries from the moment that this is dropped.
#[derive(Debug)]
pub struct ClaimTokens {
    span: Span,
    used: Mutex<TokenSums>,
}

#[derive(Debug, Default)]
struct TokenSums {
    input: i64,
    cached: i64,
    output: i64,
    reasoning: i64,
}

impl ClaimTokens {
    /// For the claim whose span is entered now.
    pub fn of_current() -> Self {
        Self { span: Span::current(), used: Mutex::default() }
    }

    fn add(&self, record: &RequestRecord) {
        let mut used = self.used.lock();
        used.input += i64::from(record.prompt_tokens);
        used.cached += i64::from(record.cached_tokens);
        used.output += i64::from(record.completion_tokens);
        used.reasoning += i64::from(record.reasoning_tokens);
    }
}

impl Drop for ClaimTokens {
    fn drop(&mut self) {
        let used = self.used.get_mut();
        self.span.set_attribute("model.input_tokens", used.input);
        self.span.set_attribute("model.cached_tokens", used.cached);
        self.span.set_attribute("model.output_tokens", used.output);
        self.span.set_attribute("model.reasoning_tokens", used.reasoning);
    }
}

/// A step, from what comes after the last commit to the end of the next one; the second of a job from its first request.
#[derive(Debug)]
pub struct Step {
    span: Span,
    started: Instant,
    unanswered: Unanswered,
}

impl Step {
    /// Begins the step with this number.
    pub fn begin(job_id: Uuid, number: i64, phase: PhaseKind) -> Self {
        let (span, unanswered) = (step(job_id, number, phase), Unanswered::default());
        Self { span, started: Instant::now(), unanswered }
    }

    /// The engine has decided on these changes: its own tools are called while it decides.
    pub fn decided(&mut self, changes: &[Change]) {
        self.unanswered.follow(&self.span, changes);
    }

    /// For what happens in the step.
    pub fn span(&self) -> Span {
        self.span.clone()
    }

    /// The step was committed.
    pub fn committed(&self) {
        instruments::stepped(self.started.elapsed());
    }

    /// The next one goes on where this one has ended.
    pub fn followed_by(&mut self, next: Self) {
        (self.span, self.started) = (next.span, next.started);
    }
}

fn step(job_id: Uuid, number: i64, phase: PhaseKind) -> Span {
    let phase = match phase {
        PhaseKind::Strategic => "strategic",
        PhaseKind::Tactical => "tactical",
    };
    info_span!(
        target: TARGET, "step", otel.name = format!("invoke_agent {phase}"), operation = "invoke_agent",
        agent.name = phase, conversation.id = %job_id, step = number,
    )
}

/// The model that a request goes to.
#[derive(Clone, Copy, Debug)]
pub struct AskedModel<'a> {
    /// Its endpoint.
    pub base_url: &'a str,
    /// Its name.
    pub model: &'a str,
    /// As configured.
    pub temperature: Option<f64>,
    /// What it costs.
    pub prices: Prices,
}

/// The span of a request to the model. It goes around the call where that is made: a future that is handed over takes its
/// room twice, for each of a thousand jobs that wait.
pub fn model_call(job_id: Uuid, asked: &AskedModel<'_>, request: &ModelRequest<'_>) -> Span {
    let (place, model) = (Endpoint::of(asked.base_url), asked.model);
    info_span!(
        target: TARGET, "chat", otel.name = format!("chat {model}"), otel.kind = "client", operation = "chat",
        model.provider = place.provider, model.name = model, model.max_tokens = i64::from(request.max_output_tokens),
        model.temperature = asked.temperature, model.host = place.host, model.port = i64::from(place.port),
        conversation.id = %job_id, model.attempt = i64::from(request.attempt),
    )
}

/// What became of it: its tokens, its cost, and what was said, if that is wanted. `again` makes the request anew.
pub fn model_answered<'r>(
    span: &Span,
    tokens: &ClaimTokens,
    asked: &AskedModel<'_>,
    answered: &Result<Reply, Box<Failure>>,
    again: impl Fn() -> ModelRequest<'r>,
) {
    let record = match answered {
        Ok(reply) => &reply.record,
        Err(failure) => &failure.record,
    };
    tokens.add(record);
    let cost = asked.prices.cost_microusd(&record.usage());
    let provider = Endpoint::of(asked.base_url).provider;
    instruments::asked(record, provider, cost, answered.as_ref().err().map(|failure| failure.class));
    if !span.is_disabled() {
        describe(span, answered, record, cost);
        if pipeline().settings.content {
            span.set_attribute("model.input_messages", content::input_messages(&again()).to_string());
            if let Ok(reply) = answered {
                span.set_attribute("model.output_messages", content::output_messages(reply).to_string());
            }
        }
    }
}

fn describe(span: &Span, answered: &Result<Reply, Box<Failure>>, record: &RequestRecord, cost_microusd: i64) {
    span.set_attribute("model.input_tokens", i64::from(record.prompt_tokens));
    span.set_attribute("model.cached_tokens", i64::from(record.cached_tokens));
    span.set_attribute("model.output_tokens", i64::from(record.completion_tokens));
    span.set_attribute("model.reasoning_tokens", i64::from(record.reasoning_tokens));
    span.set_attribute("model.cost_usd", cost_microusd as f64 / 1e6);
    match answered {
        Ok(reply) => {
            let reasons = Array::String(vec![StringValue::from(content::finish(reply))]);
            span.set_attribute("model.finish_reasons", Value::Array(reasons));
        }
        Err(failure) => {
            span.set_attribute("error.type", failure.class.as_str());
            span.set_status(Status::error(failure.message.clone()));
        }
    }
}

/// The header `traceparent` of what is sent now: it belongs to the span that it is sent in, and where no spans are kept, to the trace of
/// the claim, unsampled. <https://www.w3.org/TR/trace-context/#traceparent-header>
pub fn traceparent(job_id: Uuid, epoch: i64) -> String {
    let context = Span::current().context();
    let (span, sampled) = match context.span().span_context() {
        span if span.is_valid() => (span.clone(), u8::from(span.is_sampled())),
        _ => (ids::link_to(job_id, epoch), 0),
    };
    format!("00-{}-{}-{sampled:02x}", span.trace_id(), span.span_id())
}

/// The tools of a turn; each has a span of its own.
pub async fn tools<T>(run: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let returned = run.await;
    instruments::tools_ran(started.elapsed());
    returned
}

/// A step's transaction, with all its tries.
#[derive(Debug)]
pub struct Commit {
    span: Span,
    started: Instant,
    tries: i64,
}

impl Commit {
    /// Begins the commit of a step.
    pub fn begin(of: &Step, step: i64, n_changes: usize) -> Self {
        let span = info_span!(target: TARGET, parent: &of.span, "commit", step, n_changes = n_changes as i64);
        Self { span, started: Instant::now(), tries: 0 }
    }

    /// One try.
    pub async fn attempt<T>(&mut self, commit: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        if self.tries > 0 {
            instruments::retried();
            self.span.set_attribute("commit.retries", self.tries);
        }
        self.tries += 1;
        let committed = commit.instrument(self.span.clone()).await;
        match &committed {
            Ok(_) => {
                instruments::committed(self.started.elapsed());
                self.span.set_status(Status::Ok);
            }
            Err(error) => {
                if matches!(error, StoreError::LeaseLost(_)) {
                    instruments::refused();
                }
                self.span.set_status(Status::error(error.to_string()));
            }
        }
        committed
    }
}

/// Showing a commit in the folder; `waited` is how long the commit had been waiting for that.
/// The reader of the files records `n_files`.
pub async fn mirror<T>(step: i64, waited: Duration, show: impl Future<Output = T>) -> T {
    let span = info_span!(target: TARGET, "mirror", step, n_files = tracing::field::Empty);
    let started = Instant::now();
    let shown = show.instrument(span).await;
    instruments::mirrored(waited + started.elapsed());
    shown
}
