//! Runs the calls that an answer has for the outside: in order, each within its time, none able to take the worker down.

use crate::arguments;
use crate::documents::quote_cache::QuoteCache;
use crate::error::{BatchError, Remedy, ToolError, ToolResult};
use crate::inspection::{self, Inspection};
use crate::registry::{TOOLS, Tool};
use crate::requirements::checks::{claimed_rows::ClaimedRows, name_cache::NameCache};
use crate::requirements::validation_queue::{Graph, ValidationQueue};
use crate::search::TextIndex;
use crate::web::Web;
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::{Workspace, read_file};
use futures_util::FutureExt;
use jsonschema::Validator;
use plumbline_documents::Parser;
use plumbline_documents::candidates::Scan;
use plumbline_engine::{Check, Outage, OutsideCall, Product, Replay, ToolCall, ToolReturn, ToolSpec, path::is_like};
use plumbline_llm::jitter;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::LazyLock;
use std::time::Duration;
use tracing::{Instrument, Span};
use uuid::Uuid;

/// Ordinary time limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// How often a call that failed for a passing reason is ordinarily made again.
const RETRIES: u32 = 3;
/// Wait before a call is made again for the first time; it doubles each time.
const RETRY_WAIT: Duration = Duration::from_millis(250);
/// Ordinary cap of one result, in tokens.
const MAX_RESULT_TOKENS: u32 = 8_000;

/// The scan without patterns of a configuration.
static PLAIN: LazyLock<Scan> = LazyLock::new(Scan::default);

/// What a batch is run under.
#[derive(Clone, Copy, Debug)]
pub struct ToolContext<'a> {
    /// The job.
    pub job_id: Uuid,
    /// Largest result, in tokens, that a tool may give; what would be larger is refused with the parts to ask for.
    pub max_result_tokens: u32,
    /// Time limit of one call.
    pub call_timeout: Duration,
    /// How often a call that failed for a passing reason is made again.
    pub retries: u32,
    /// Names of all tools bound in this phase, the engine's included: no message names another one (lesson 14).
    pub bound: &'a [&'a str],
    /// Requirements to validate and to compare with; none where a job has nothing to do with them.
    pub validation_queue: Option<&'a dyn ValidationQueue>,
    /// The job's graph.
    pub graph: Graph<'a>,
    /// What the job may do on the web.
    pub web: Web<'a>,
    /// Ranked search over the job's texts; none where there is no index.
    pub texts: Option<&'a dyn TextIndex>,
    /// What is looked up in the job's files before it completes.
    pub inspection: Option<&'a Inspection>,
    /// Documents that are no source, by path or file name, `*` standing for anything.
    pub no_sources: &'a [String],
    /// Finds sentences and candidates in the texts of documents.
    pub scan: &'a Scan,
    /// What the calls of the same answer before these have produced, whoever carried them out, as far as it is not committed.
    pub uncommitted: &'a [&'a Product],
}

impl<'a> ToolContext<'a> {
    /// A context with the default limits.
    pub fn new(job_id: Uuid, bound: &'a [&'a str]) -> Self {
        Self {
            job_id,
            max_result_tokens: MAX_RESULT_TOKENS,
            call_timeout: CALL_TIMEOUT,
            retries: RETRIES,
            bound,
            validation_queue: None,
            graph: Graph::Off,
            web: Web::default(),
            texts: None,
            inspection: None,
            no_sources: &[],
            scan: &PLAIN,
            uncommitted: &[],
        }
    }
}

impl ToolContext<'_> {
    /// Whether quotes may be taken from a document.
    pub(crate) fn is_source(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        !self.no_sources.iter().any(|pattern| is_like(path, pattern) || is_like(name, pattern))
    }
}

/// What a running tool has at hand.
pub(crate) struct ToolEnv<'a> {
    pub(crate) overlay: &'a WorkspaceOverlay<'a>,
    pub(crate) ctx: &'a ToolContext<'a>,
    pub(crate) parser: &'a Parser,
    pub(crate) quotes: &'a QuoteCache,
    pub(crate) names: &'a NameCache,
    pub(crate) rows: &'a ClaimedRows,
}

/// Every tool with its compiled schema; one for the whole process.
pub struct ToolRunner {
    pub(crate) parser: Parser,
    pub(crate) quotes: QuoteCache,
    tools: BTreeMap<&'static str, Compiled>,
}

struct Compiled {
    tool: &'static Tool,
    replay: Replay,
    schema: Value,
    validator: Validator,
}

impl std::fmt::Debug for ToolRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolRunner").field("tools", &self.tools.keys().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl ToolRunner {
    /// Compiles every tool's schema, once.
    pub fn new(parser: Parser) -> Self {
        let tools = TOOLS.iter().map(|tool| ((tool.spec)().name, Compiled::of(tool))).collect();
        Self { parser, quotes: QuoteCache::default(), tools }
    }

    /// Runs the calls in order and returns one result each. A call sees what the calls before it produced.
    ///
    /// # Errors
    /// The workspace could not be read, or a service that a call needs is away: the calls before it are done, and it and those
    /// behind it may be made again. Of one that may not be, the model reads the reason in place of its result.
    pub async fn run(
        &self,
        calls: &[OutsideCall<'_>],
        workspace: &dyn Workspace,
        ctx: &ToolContext<'_>,
    ) -> Result<Vec<ToolReturn>, BatchError> {
        let mut overlay = WorkspaceOverlay::over(workspace, ctx.uncommitted);
        let (names, rows) = (NameCache::default(), ClaimedRows::default());
        let mut returns = Vec::with_capacity(calls.len());
        for call in calls {
            let span = call_span(call);
            let env = ToolEnv {
                overlay: &overlay,
                ctx,
                parser: &self.parser,
                quotes: &self.quotes,
                names: &names,
                rows: &rows,
            };
            let done = match self.call(call, &env).instrument(span.clone()).await {
                Ok(output) => {
                    overlay.apply(&output.products);
                    ToolReturn::ok(&call.id, clean(output.content), output.products)
                }
                Err(ToolError::Unavailable { reason, remedy }) if self.may_be_repeated(call) => {
                    let needs_operator = remedy == Remedy::Operator;
                    return Err(BatchError::Unavailable(Outage { returns, reason, needs_operator, jitter: jitter() }));
                }
                Err(ToolError::Refused(reason)) => {
                    span.record("error.type", "refused").record("otel.status_code", "ERROR");
                    tracing::debug!(tool.name = %call.name, tool.call_id = %call.id, %reason, "tool call refused");
                    ToolReturn::error(&call.id, clean(reason))
                }
                Err(ToolError::Transient(reason) | ToolError::Unavailable { reason, .. }) => {
                    span.record("error.type", "failed").record("otel.status_code", "ERROR");
                    tracing::debug!(tool.name = %call.name, tool.call_id = %call.id, %reason, "tool call failed");
                    ToolReturn::gave_up(&call.id, clean(reason))
                }
                Err(ToolError::Workspace(error)) => return Err(error.into()),
            };
            returns.push(done);
        }
        Ok(returns)
    }

    fn may_be_repeated(&self, call: &ToolCall) -> bool {
        self.tools.get(call.name.as_str()).is_none_or(|known| known.replay != Replay::Unsafe)
    }

    async fn call(&self, call: &OutsideCall<'_>, env: &ToolEnv<'_>) -> ToolResult {
        match call.check {
            None => self.carry_out(call, env).await,
            Some(Check::Deliverables { requirements }) => {
                let looked = inspection::before_the_end(env, &call.arguments, *requirements);
                bounded(call, env.ctx.call_timeout, "make the files that are owed smaller", looked).await
            }
            Some(Check::Passage { path, .. }) => {
                bounded(call, env.ctx.call_timeout, "ask for less at once", read_file::whole(env, path)).await
            }
        }
    }

    pub(crate) async fn carry_out(&self, call: &ToolCall, env: &ToolEnv<'_>) -> ToolResult {
        let Some(compiled) = self.tools.get(call.name.as_str()) else {
            // The engine answers names that are not bound, with the nearest ones; this one is bound to nobody.
            return Err(ToolError::refused(format!("there is no tool `{}`", call.name)));
        };
        let arguments = arguments::read(&call.arguments, &compiled.schema, &compiled.validator)?;
        let limit = env.ctx.call_timeout * compiled.tool.timeout_factor;
        let done = bounded(call, limit, "ask for less at once", with_retries(compiled, env, arguments)).await?;
        match env.ctx.inspection {
            Some(inspection) => Ok(inspection.remarked(done, limit).await),
            None => Ok(done),
        }
    }
}

/// Runs a call within its time, and takes a panic for an error.
async fn bounded(
    call: &ToolCall,
    limit: Duration,
    remedy: &str,
    running: impl Future<Output = ToolResult>,
) -> ToolResult {
    let name = call.name.as_str();
    match tokio::time::timeout(limit, AssertUnwindSafe(running).catch_unwind()).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => {
            tracing::error!(tool.name = name, tool.call_id = %call.id, reason = panic_text(&*panic), "tool panicked");
            Err(ToolError::Transient(format!("{name} failed inside; nothing was changed; try another way")))
        }
        Err(_) => {
            tracing::warn!(tool.name = name, tool.call_id = %call.id, limit_s = limit.as_secs(), "tool timed out");
            let limit = limit.as_secs_f64();
            Err(ToolError::Transient(format!("{name} did not finish within {limit} s; nothing was changed; {remedy}")))
        }
    }
}

/// Runs a tool, and again when it failed for a reason that may pass. The time limit holds for all tries together. What may
/// not be made twice is tried once: a failure does not tell whether it was carried out.
async fn with_retries(Compiled { tool, replay, .. }: &Compiled, env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let mut wait = RETRY_WAIT;
    let retries = if *replay == Replay::Unsafe { 0 } else { env.ctx.retries };
    for _ in 0..retries {
        match (tool.run)(env, arguments.clone()).await {
            Err(ToolError::Transient(reason) | ToolError::Unavailable { reason, remedy: Remedy::AnotherTry }) => {
                tracing::debug!(%reason, "tool call is made again");
            }
            done => return done,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
    (tool.run)(env, arguments).await
}

impl Compiled {
    fn of(tool: &'static Tool) -> Self {
        let schema = (tool.schema)();
        let validator = jsonschema::validator_for(&schema).expect("a tool's schema compiles: a test compiles them all");
        let ToolSpec { replay, .. } = (tool.spec)();
        Self { tool, replay, schema, validator }
    }
}

/// The span of a call, for traces only: its target keeps it out of logs. What is only looked into before the engine carries
/// it out gets its span there.
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

/// Rows cannot hold NUL, and a file's bytes may.
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
