//! The spans, and what is measured with them.
//!
//! ```text
//! invoke_workflow <job type>        one a claim, linked to the job's earlier ones
//! └─ invoke_agent <phase>           one a step
//!    ├─ chat <model>                one a request
//!    ├─ execute_tool <tool>         one a call
//!    └─ commit
//! └─ mirror                         after a commit
//! ```
//!
//! Names of attributes are ours; [`super::names`] gives them the standard's. Without a collector no span exists: the
//! layer that would take them is not there, and the log's layer does not want them.

use super::{ids, instruments, pipeline};
use crate::config::Llm;
use opentelemetry::trace::Status;
use plumbline_engine::{Failure, Finish, ModelRequest, PhaseKind, Prices, Reply, RequestMessage, RequestRecord};
use plumbline_store::{ClaimedJob, Error as StoreError};
use serde_json::{Value, json};
use std::{future::Future, time::Instant};
use tracing::{Instrument, Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::Uuid;

/// The target that tells these spans from all others.
pub(crate) const TARGET: &str = "plumbline::span";
/// Earlier claims that a claim links to, the latest ones.
const LINKS: i64 = 32;

/// A claim, from taking the job to leaving it.
pub(crate) fn claim(job: &ClaimedJob, worker_id: Uuid) -> Span {
    instruments::claimed(&job.job_type);
    let span = info_span!(
        target: TARGET, parent: None, "claim", otel.name = format!("invoke_workflow {}", job.job_type),
        operation = "invoke_workflow", workflow.name = job.job_type, conversation.id = %job.id, job.id = %job.id,
        job.r#type = job.job_type, job.attempt = job.attempt, job.lease_epoch = job.lease_epoch, worker.id = %worker_id,
    );
    if !span.is_disabled() {
        // Asking for its context begins the span, with the ids that are set just now.
        ids::for_claim(job.id, job.lease_epoch, || span.context());
        for epoch in (job.lease_epoch - LINKS).max(1)..job.lease_epoch {
            span.add_link(ids::link_to(job.id, epoch));
        }
    }
    span
}

/// A step, from what comes after the last commit to the end of the next one.
#[derive(Debug)]
pub(crate) struct Step {
    span: Span,
    job_id: Uuid,
    started: Instant,
}

impl Step {
    /// Begins the step with this number.
    pub(crate) fn begin(job_id: Uuid, number: i64, phase: PhaseKind) -> Self {
        Self { span: step(job_id, number, phase), job_id, started: Instant::now() }
    }

    /// For what happens in the step.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// The step was committed; the one after it begins.
    pub(crate) fn committed(&mut self, number: i64, phase: PhaseKind) {
        instruments::stepped(self.started.elapsed());
        *self = Self::begin(self.job_id, number + 1, phase);
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

/// A request to the model: its span, its tokens, its cost.
pub(crate) async fn model_call(
    job_id: Uuid,
    llm: &Llm,
    request: &ModelRequest<'_>,
    call: impl Future<Output = Result<Reply, Box<Failure>>>,
) -> Result<Reply, Box<Failure>> {
    let place = Place::of(llm.base_url.as_deref().unwrap_or_default());
    let model = llm.model.as_deref().unwrap_or_default();
    let span = info_span!(
        target: TARGET, "chat", otel.name = format!("chat {model}"), otel.kind = "client", operation = "chat",
        model.provider = place.provider, model.name = model, model.max_tokens = request.max_output_tokens,
        model.temperature = llm.temperature, model.host = place.host, model.port = place.port,
        conversation.id = %job_id, model.attempt = request.attempt,
    );
    let answered = call.instrument(span.clone()).await;
    let record = match &answered {
        Ok(reply) => &reply.record,
        Err(failure) => &failure.record,
    };
    let prices = Prices { input: llm.prices.input, cached_input: llm.prices.cached_input, output: llm.prices.output };
    let cost = prices.cost_microusd(&record.usage());
    instruments::asked(record, place.provider, cost);
    if !span.is_disabled() {
        describe(&span, &answered, record, cost);
        if pipeline().settings.content {
            span.set_attribute("model.input_messages", input_messages(request).to_string());
            if let Ok(reply) = &answered {
                span.set_attribute("model.output_messages", output_messages(reply).to_string());
            }
        }
    }
    answered
}

fn describe(span: &Span, answered: &Result<Reply, Box<Failure>>, record: &RequestRecord, cost_microusd: i64) {
    span.set_attribute("model.input_tokens", i64::from(record.prompt_tokens));
    span.set_attribute("model.cached_tokens", i64::from(record.cached_tokens));
    span.set_attribute("model.output_tokens", i64::from(record.completion_tokens));
    span.set_attribute("model.cost_usd", cost_microusd as f64 / 1e6);
    match answered {
        Ok(reply) => span.set_attribute("model.finish_reasons", finish(&reply.finish)),
        Err(failure) => {
            span.set_attribute("error.type", format!("{:?}", failure.class).to_lowercase());
            span.set_status(Status::error(failure.message.clone()));
        }
    }
}

fn finish(finish: &Finish) -> &'static str {
    if *finish == Finish::Truncated { "length" } else { "stop" }
}

/// The tools of a turn; each has a span of its own.
pub(crate) async fn tools<T>(run: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let returned = run.await;
    instruments::tools_ran(started.elapsed());
    returned
}

/// A step's transaction.
pub(crate) async fn commit<T>(
    commit_of: &Step,
    step: i64,
    n_changes: usize,
    commit: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let span = info_span!(target: TARGET, parent: &commit_of.span, "commit", step, n_changes);
    let started = Instant::now();
    let committed = commit.instrument(span.clone()).await;
    instruments::committed(started.elapsed());
    if let Err(error) = &committed {
        if matches!(error, StoreError::LeaseLost(_)) {
            instruments::refused();
        }
        span.set_status(Status::error(error.to_string()));
    }
    committed
}

/// Showing a commit in the folder.
pub(crate) async fn mirror<T>(step: i64, n_files: usize, show: impl Future<Output = T>) -> T {
    let span = info_span!(target: TARGET, "mirror", step, n_files);
    let started = Instant::now();
    let shown = show.instrument(span).await;
    instruments::mirrored(started.elapsed());
    shown
}

/// Who answers, as the conventions name them.
struct Place {
    provider: &'static str,
    host: String,
    port: u16,
}

impl Place {
    fn of(base_url: &str) -> Self {
        let (scheme, rest) = base_url.split_once("://").unwrap_or(("http", base_url));
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().unwrap_or_default()),
            _ => (authority, if scheme == "https" { 443 } else { 80 }),
        };
        Self { provider: provider(host), host: host.to_owned(), port }
    }
}

fn provider(host: &str) -> &'static str {
    let known = [
        ("openai.azure.com", "azure.ai.openai"),
        ("openai.com", "openai"),
        ("mistral.ai", "mistral_ai"),
        ("groq.com", "groq"),
        ("deepseek.com", "deepseek"),
        ("x.ai", "x_ai"),
        ("perplexity.ai", "perplexity"),
        ("anthropic.com", "anthropic"),
        ("openrouter.ai", "openrouter"),
    ];
    let of = |name: &str| host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    known.into_iter().find(|(name, _)| of(name)).map_or("openai_compatible", |(_, provider)| provider)
}

fn input_messages(request: &ModelRequest<'_>) -> Value {
    let message = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let messages = request.messages.iter().map(|entry| match entry {
        RequestMessage::Stored(stored) => {
            message(&format!("{:?}", stored.role).to_lowercase(), stored.visible_content())
        }
        RequestMessage::System(text) => message("system", text),
        RequestMessage::User(text) => message("user", text),
    });
    messages.collect()
}

fn output_messages(reply: &Reply) -> Value {
    let mut parts = vec![json!({"type": "text", "content": reply.content})];
    parts.extend(
        reply
            .tool_calls
            .iter()
            .map(|call| json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})),
    );
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish(&reply.finish)}])
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn the_place_of_a_model_is_told_without_its_login() {
        for (url, provider, host, port) in [
            ("https://api.openai.com/v1", "openai", "api.openai.com", 443),
            ("http://user:secret@localhost:8000/v1", "openai_compatible", "localhost", 8000),
            ("https://res.openai.azure.com/openai?x=1", "azure.ai.openai", "res.openai.azure.com", 443),
            ("https://notopenai.com", "openai_compatible", "notopenai.com", 443),
        ] {
            let place = Place::of(url);
            assert_eq!((place.provider, place.host.as_str(), place.port), (provider, host, port), "{url}");
        }
    }
}
