//! Runs the external calls of an answer: in order, each with a timeout, and none can crash the worker.

use crate::documents::{last_layouts::LastLayouts, quote_cache::QuoteCache};
use crate::error::{BatchError, Output, Remedy, ToolError, ToolResult};
use crate::inspection;
use crate::registry::BUILT_IN;
use crate::requirements::comparison;
use crate::tool::{Caches, Tool, ToolContext, ToolEnv};
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::{Workspace, read_file};
use futures_util::FutureExt;
use plumbline_documents::Parser;
use plumbline_engine::{Check, Outage, OutsideCall, Replay, ToolCall, ToolReturn};
use plumbline_llm::jitter;
use serde_json::Value;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::{Duration, Instant};
use tracing::{Instrument, Span};
use uuid::Uuid;

/// The wait before the first retry of a call; it doubles with each retry.
const RETRY_WAIT: Duration = Duration::from_millis(250);

/// The shortest wait for a call between two looks at the time that an outage takes.
const LEAST_WAIT: Duration = Duration::from_millis(100);

/// The shared state for the calls of all jobs; one per process.
pub struct ToolRunner {
    pub(crate) parser: Parser,
    pub(crate) quotes: QuoteCache,
    layouts: LastLayouts,
}

impl std::fmt::Debug for ToolRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolRunner").finish_non_exhaustive()
    }
}

impl ToolRunner {
    /// A runner that extracts documents with this parser.
    pub fn new(parser: Parser) -> Self {
        Self { parser, quotes: QuoteCache::default(), layouts: LastLayouts::default() }
    }

    /// Drops what is cached for a job that has left this worker.
    pub fn forget(&self, job_id: Uuid) {
        self.quotes.forget(job_id);
        drop(self.layouts.take(job_id));
    }

    /// Runs the calls in order and returns one result each. A call sees the products of the calls before it.
    ///
    /// # Errors
    /// The workspace could not be read, or a service that a call needs is unavailable: the earlier calls are done, and
    /// this call and those after it may be retried. If the call must not be repeated, the model reads the reason in
    /// place of its result.
    pub async fn run(
        &self,
        calls: &[OutsideCall<'_>],
        workspace: &dyn Workspace,
        ctx: &ToolContext<'_>,
    ) -> Result<Vec<ToolReturn>, BatchError> {
        let mut overlay = WorkspaceOverlay::over(workspace, ctx.uncommitted, self.layouts.take(ctx.job_id));
        let caches = Caches::default();
        let mut returns = Vec::with_capacity(calls.len());
        for call in calls {
            let span = call_span(call);
            let env = ToolEnv { call_id: &call.id, again: call.again, ..self.env(&overlay, ctx, &caches) };
            let untrusted = shows_untrusted(call, &env);
            let returned = match self.call(call, &env).instrument(span.clone()).await {
                Ok(mut output) => {
                    overlay.apply(&output.products);
                    let compared = comparison::after_cut(&overlay, ctx, &output.products).await?;
                    overlay.apply(&compared);
                    output.products.extend(compared);
                    done(&call.id, output)
                }
                Err(ToolError::Unavailable { reason, remedy }) if !call.once => {
                    let needs_operator = remedy == Remedy::Operator;
                    return Err(BatchError::Unavailable(Outage { returns, reason, needs_operator, jitter: jitter() }));
                }
                Err(ToolError::Refused(reason) | ToolError::Unreadable { reason, .. }) => {
                    span.record("error.type", "refused").record("otel.status_code", "ERROR");
                    tracing::debug!(tool.name = %call.name, tool.call_id = %call.id, %reason, "tool call refused");
                    ToolReturn::error(&call.id, clean(reason))
                }
                Err(ToolError::RefusedOnce(reason)) => {
                    span.record("error.type", "refused").record("otel.status_code", "ERROR");
                    ToolReturn { taken_again: true, ..ToolReturn::error(&call.id, clean(reason)) }
                }
                Err(ToolError::Transient(reason) | ToolError::Unavailable { reason, .. }) => {
                    span.record("error.type", "failed").record("otel.status_code", "ERROR");
                    tracing::debug!(tool.name = %call.name, tool.call_id = %call.id, %reason, "tool call failed");
                    ToolReturn::gave_up(&call.id, clean(reason))
                }
                Err(ToolError::Workspace(error)) => return Err(error.into()),
            };
            returns.push(ToolReturn { untrusted, ..returned });
        }
        self.layouts.put(ctx.job_id, overlay.last_layout());
        Ok(returns)
    }

    /// The environment of a call that the system makes.
    pub(crate) fn env<'a>(
        &'a self,
        overlay: &'a WorkspaceOverlay<'a>,
        ctx: &'a ToolContext<'a>,
        (names, rows): &'a Caches,
    ) -> ToolEnv<'a> {
        let Self { parser, quotes, .. } = self;
        ToolEnv { overlay, ctx, parser, quotes, names, rows, call_id: "", again: false }
    }

    async fn call(&self, call: &OutsideCall<'_>, env: &ToolEnv<'_>) -> ToolResult {
        match call.check {
            None => self.carry_out(call, call.once, env).await,
            Some(Check::Deliverables { requirements, sentences, compares }) => {
                let (requirements, sentences, compares) = (*requirements, *sentences, *compares);
                let wanted = inspection::Wanted { requirements, sentences, compares };
                let looked = inspection::before_the_end(env, &call.arguments, wanted);
                let said = ("nothing was changed; make the files that are owed smaller", UNCHANGED);
                bounded(call, env, env.ctx.call_timeout, said, looked).await
            }
            Some(Check::Passage { path, .. }) => {
                let looked = read_file::whole(env, path);
                bounded(call, env, env.ctx.call_timeout, after_failure(Replay::Safe), looked).await
            }
        }
    }

    pub(crate) async fn carry_out(&self, call: &ToolCall, once: bool, env: &ToolEnv<'_>) -> ToolResult {
        let Some(tool) = tool_of(call, env.ctx) else {
            // The engine answers names that are not bound, with the nearest ones; this name belongs to no tool at all.
            return Err(ToolError::refused(format!("there is no tool `{}`", call.name)));
        };
        let arguments = tool.schema.read(&call.arguments)?;
        let tries = if once { 1 } else { env.ctx.retries + 1 };
        let limit = tool.time_limit.of(env.ctx.call_timeout, tries);
        let compared = async {
            let mut output = with_retries(tool, once, env, arguments).await?;
            for said in comparison::settle(env.overlay, env.ctx, &mut output.products).await? {
                output.content.push_str(&format!("; {said}"));
            }
            Ok(output)
        };
        let done = bounded(call, env, limit, after_failure(tool.spec.replay), compared).await?;
        match env.ctx.inspection {
            Some(inspection) => Ok(inspection.remarked(env, done, limit).await),
            None => Ok(done),
        }
    }
}

/// The result of a call that was carried out.
fn done(call_id: &str, output: Output) -> ToolReturn {
    let content = clean(output.content);
    match output.is_failed {
        false => ToolReturn { gives: output.gives, ..ToolReturn::ok(call_id, content, output.products) },
        true => ToolReturn { products: output.products, ..ToolReturn::error(call_id, content) },
    }
}

/// Whether the result of a call may contain untrusted text. Lookups on behalf of the engine read the job's own files
/// and rows, which derive from its documents if it has any.
fn shows_untrusted(call: &OutsideCall<'_>, env: &ToolEnv<'_>) -> bool {
    let Some(tool) = tool_of(call, env.ctx).filter(|_| call.check.is_none()) else {
        return !env.overlay.sources().is_empty();
    };
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    (tool.shows_untrusted)(&arguments, env)
}

/// The tool of a call: a built-in one, or one of the job's own.
fn tool_of<'a>(call: &ToolCall, ctx: &ToolContext<'a>) -> Option<&'a Tool> {
    BUILT_IN.get(&call.name).or_else(|| ctx.tools.get(&call.name))
}

/// Waits for a call, at most this long without an outage.
async fn within<T>(limit: Duration, env: &ToolEnv<'_>, running: impl Future<Output = T>) -> Option<T> {
    let mut running = pin!(running);
    let (started, lost_before) = (Instant::now(), env.overlay.lost_time());
    let mut left = limit;
    loop {
        if let Ok(done) = tokio::time::timeout(left, running.as_mut()).await {
            return Some(done);
        }
        let lost = env.overlay.lost_time().saturating_sub(lost_before);
        left = (limit + lost).checked_sub(started.elapsed())?.max(LEAST_WAIT);
    }
}

const UNCHANGED: &str = "nothing was changed; try another way";

/// What the model reads of a tool of this class that did not finish, and of one that failed inside: a call that reaches
/// out may have taken effect.
fn after_failure(replay: Replay) -> (&'static str, &'static str) {
    const UNKNOWN: &str = "whether it was carried out is not known: find that out before you call it again";
    match replay {
        Replay::Safe => ("nothing was changed; ask for less at once", UNCHANGED),
        Replay::Keyed | Replay::Unsafe => (UNKNOWN, UNKNOWN),
    }
}

/// Applies the timeout, to which time lost to an outage of the rows does not count; converts panics to errors.
async fn bounded(
    call: &ToolCall,
    env: &ToolEnv<'_>,
    limit: Duration,
    (unfinished, failed): (&str, &str),
    running: impl Future<Output = ToolResult>,
) -> ToolResult {
    let name = call.name.as_str();
    match within(limit, env, AssertUnwindSafe(running).catch_unwind()).await {
        Some(Ok(result)) => result,
        Some(Err(panic)) => {
            tracing::error!(tool.name = name, tool.call_id = %call.id, reason = panic_text(&*panic), "tool panicked");
            Err(ToolError::Transient(format!("{name} failed inside; {failed}")))
        }
        None => {
            tracing::warn!(tool.name = name, tool.call_id = %call.id, limit_s = limit.as_secs(), "tool timed out");
            let limit = limit.as_secs_f64();
            Err(ToolError::Transient(format!("{name} did not finish within {limit} s; {unfinished}")))
        }
    }
}

/// Runs a tool, with retries after transient failures. The time limit applies to all attempts together. A call that
/// must not be repeated is tried once: a failure does not say whether it took effect.
async fn with_retries(tool: &Tool, once: bool, env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let mut wait = RETRY_WAIT;
    let retries = if once { 0 } else { env.ctx.retries };
    for _ in 0..retries {
        match tool.carrier.run(env, arguments.clone()).await {
            Err(ToolError::Transient(reason) | ToolError::Unavailable { reason, remedy: Remedy::AnotherTry }) => {
                tracing::debug!(%reason, "retrying tool call");
            }
            done => return done,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
    tool.carrier.run(env, arguments).await
}

/// The span of a call, for traces only: its target keeps it out of logs. A call that is only checked before the engine
/// runs it gets its span in the engine.
fn call_span(call: &OutsideCall<'_>) -> Span {
    if call.check.is_some() {
        return Span::none();
    }
    tracing::info_span!(
        target: "plumbline::span", "tool", otel.name = format!("execute_tool {}", call.name),
        operation = "execute_tool", tool.name = call.name, tool.call_id = call.id, tool.r#type = "function",
        error.r#type = tracing::field::Empty, otel.status_code = tracing::field::Empty,
    )
}

/// Rows cannot store NUL, and a file may contain it.
fn clean(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

#[cfg(test)]
mod tests;
