//! What a tool is, and what it has at hand while it runs. Tools name this file; the registry names the tools, and the runner the
//! registry.

use crate::documents::quote_cache::QuoteCache;
use crate::error::ToolResult;
use crate::inspection::Inspection;
use crate::requirements::checks::{claimed_rows::ClaimedRows, name_cache::NameCache};
use crate::requirements::validation_queue::{Graph, ValidationQueue};
use crate::search::TextIndex;
use crate::web::Web;
use crate::workspace::BoxFuture;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_documents::Parser;
use plumbline_documents::candidates::Scan;
use plumbline_engine::{Product, ToolSpec, path::is_like};
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;
use uuid::Uuid;

/// Ordinary time limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// How often a call that failed for a passing reason is ordinarily made again.
const RETRIES: u32 = 3;
/// Ordinary cap of one result, in tokens.
const MAX_RESULT_TOKENS: u32 = 8_000;

/// The scan without patterns of a configuration.
static PLAIN: LazyLock<Scan> = LazyLock::new(Scan::default);

/// A tool, as its file declares it.
pub(crate) struct Tool {
    /// What the model and the engine know of it.
    pub(crate) spec: fn() -> ToolSpec,
    /// What its arguments are held against. The same as the schema of the spec, except for aliases, which refer to
    /// their original there to keep requests short.
    pub(crate) schema: fn() -> Value,
    /// How many times the ordinary time limit it may take.
    pub(crate) timeout_factor: u32,
    pub(crate) run: for<'a> fn(&'a ToolEnv<'a>, Value) -> BoxFuture<'a, ToolResult>,
}

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
    /// Whether jobs of this type record requirements, of which the system renders lists.
    pub records_requirements: bool,
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
            records_requirements: false,
        }
    }
}

impl ToolContext<'_> {
    /// Whether the phase is one that plans: it binds the gate by which the next list is written, whatever else it binds.
    pub(crate) fn plans(&self) -> bool {
        self.bound.contains(&"todo_write")
    }

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
