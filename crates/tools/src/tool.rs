//! The trait of a tool, and its context while it runs. Tools depend on this file, the registry on the tools, and the
//! runner on the registry.

use crate::arguments::{ArgumentsSchema, decode};
use crate::digest::digest_of;
use crate::documents::quote_cache::QuoteCache;
use crate::error::ToolResult;
use crate::http::Outgoing;
use crate::inspection::owed::Inspection;
use crate::requirements::RecordDefaults;
use crate::requirements::checks::{claimed_rows::ClaimedRows, name_cache::NameCache};
use crate::requirements::validation_queue::{Graph, ValidationQueue};
use crate::search::TextIndex;
use crate::web::Web;
use crate::workspace::BoxFuture;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_documents::Parser;
use plumbline_documents::candidates::Scan;
use plumbline_engine::tools::Declaration;
use plumbline_engine::{Digest, Given, Handler, Phases, Product, Replay, ToolSpec, path::matches_pattern};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use uuid::Uuid;

/// Default time limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Default number of retries after a transient failure.
const RETRIES: u32 = 3;
/// Extra time for an attempt, including the wait before it.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);
/// Default maximum tokens of one result.
const MAX_RESULT_TOKENS: u32 = 8_000;

/// The scan without configured patterns.
static PLAIN: LazyLock<Scan> = LazyLock::new(Scan::default);
/// Record defaults without a configuration.
static NO_DEFAULTS: LazyLock<RecordDefaults> = LazyLock::new(RecordDefaults::default);

/// A built-in tool. The type is its arguments; their doc comments are the schema's descriptions and the documentation:
/// see [`Declaration`].
pub(crate) trait Declared: JsonSchema + DeserializeOwned + Send + 'static {
    /// The name that the model calls.
    const NAME: &str;
    /// The phases in which it is bound.
    const PHASES: Phases;
    /// One or two sentences for the request.
    const DESCRIPTION: &str;
    /// Who runs it.
    const HANDLER: Handler = Handler::Local;
    /// Whether it may run again after a crash.
    const REPLAY: Replay = Replay::Safe;
    /// Whether it only reads.
    const READS_ONLY: bool = false;
    /// Its time limit as a multiple of the default.
    const TIMEOUT_FACTOR: u32 = 1;

    /// Whether the text of a call's result, or of its refusal, may contain untrusted text: of documents, pages, foreign
    /// tools, or rows derived from such text.
    fn shows_untrusted(_arguments: &Value, _env: &ToolEnv<'_>) -> bool {
        true
    }

    /// Whether a call reaches another host than these.
    fn reaches_out(_arguments: &Value, _hosts: &[String]) -> bool {
        false
    }

    /// The schema as sent in requests, possibly less than the one for validation: parts that another tool's definition
    /// already contains are omitted.
    fn shown(schema: Value) -> Value {
        schema
    }

    /// The documentation, from the text of the doc comments.
    fn documentation(said: String) -> String {
        said
    }

    /// Runs a call.
    fn run(self, env: &ToolEnv<'_>) -> impl Future<Output = ToolResult> + Send;
}

/// Runs the calls of a tool.
pub(crate) trait Run: Send + Sync {
    /// Runs a call whose arguments are valid for the tool's schema.
    fn run<'a>(&'a self, env: &'a ToolEnv<'a>, arguments: Value) -> BoxFuture<'a, ToolResult>;
}

/// A tool of a job: a built-in one, or one whose name and schema are known only at run time.
pub(crate) struct Tool {
    /// Its description for the model and the engine.
    pub(crate) spec: ToolSpec,
    /// The schema for validating its arguments.
    pub(crate) schema: ArgumentsSchema,
    /// The time limit of a call.
    pub(crate) time_limit: TimeLimit,
    /// See [`Declared::shows_untrusted`].
    pub(crate) shows_untrusted: fn(&Value, &ToolEnv<'_>) -> bool,
    /// See [`Declared::reaches_out`].
    pub(crate) reaches_out: fn(&Value, &[String]) -> bool,
    /// For a tool that is known only at run time: the digest of its definition.
    pub(crate) digest: Option<Digest>,
    pub(crate) carrier: Box<dyn Run>,
}

/// The time limit of a call, for all of its attempts together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    /// A multiple of the default limit.
    Times(u32),
    /// Each attempt has its own limit, which the tool enforces itself.
    EachTry(Duration),
}

impl TimeLimit {
    /// The limit of a call with this many attempts, given the default limit.
    pub(crate) fn of(self, ordinary: Duration, tries: u32) -> Duration {
        match self {
            Self::Times(factor) => ordinary * factor,
            Self::EachTry(limit) => (limit + BETWEEN_TRIES) * tries.max(1),
        }
    }
}

impl Tool {
    /// A built-in tool.
    pub(crate) fn declared<T: Declared>() -> Self {
        let Declaration { parameters, documentation } = Declaration::of::<T>();
        let documentation = T::documentation(documentation);
        let spec = ToolSpec {
            name: T::NAME.into(),
            phases: T::PHASES,
            description: T::DESCRIPTION.into(),
            parameters: T::shown(parameters.clone()).into(),
            documentation: format!("# {}\n\n{documentation}\n", T::NAME),
            handler: T::HANDLER,
            replay: T::REPLAY,
            reads_only: T::READS_ONLY,
        };
        let carrier = Box::new(OfType::<T>(PhantomData));
        let time_limit = TimeLimit::Times(T::TIMEOUT_FACTOR);
        Self {
            spec,
            schema: ArgumentsSchema::new(parameters),
            time_limit,
            shows_untrusted: T::shows_untrusted,
            reaches_out: T::reaches_out,
            digest: None,
            carrier,
        }
    }

    /// A tool that is known only at run time. `address` is what it calls.
    pub(crate) fn foreign(
        spec: ToolSpec,
        schema: ArgumentsSchema,
        address: &Value,
        each_try: Duration,
        carrier: Box<dyn Run>,
    ) -> Self {
        let digest = Some(digest_of(&spec.name, &spec.description, schema.value(), address));
        Self {
            spec,
            schema,
            time_limit: TimeLimit::EachTry(each_try),
            shows_untrusted: |_, _| true,
            reaches_out: |_, _| true,
            digest,
            carrier,
        }
    }
}

/// Runs calls through the type of their arguments.
struct OfType<T>(PhantomData<fn() -> T>);

impl<T: Declared> Run for OfType<T> {
    fn run<'a>(&'a self, env: &'a ToolEnv<'a>, arguments: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { decode::<T>(arguments)?.run(env).await })
    }
}

/// Tools by name, in the order of requests; cheap to clone.
#[derive(Clone, Default)]
pub struct Registry(Vec<Arc<Tool>>);

impl Registry {
    /// No tool.
    pub const EMPTY: &Self = &Self(Vec::new());

    /// Their descriptions for the model and the engine.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.iter().map(|tool| tool.spec.clone()).collect()
    }

    /// The digest of a tool that is known only at run time: of its name, description, schema and address.
    pub fn digest(&self, name: &str) -> Option<Digest> {
        self.get(name)?.digest
    }

    /// What is stored with a job for each tool: name, description, its own schema and the digest.
    pub fn described(&self) -> Vec<Value> {
        let described = |tool: &Arc<Tool>| {
            json!({
                "name": tool.spec.name,
                "description": tool.spec.description,
                "schema": tool.schema.value(),
                "annotations": {"replay": tool.spec.replay.as_str()},
                "sha256": tool.digest.map(hex::encode),
            })
        };
        self.0.iter().map(described).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.spec.name == name).map(Arc::as_ref)
    }
}

impl FromIterator<Tool> for Registry {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        Self(tools.into_iter().map(Arc::new).collect())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| &tool.spec.name)).finish()
    }
}

/// The context of a batch.
#[derive(Clone, Copy, Debug)]
pub struct ToolContext<'a> {
    /// The job.
    pub job_id: Uuid,
    /// Maximum tokens of a tool's result; a larger one is refused with the parts to request.
    pub max_result_tokens: u32,
    /// Time limit of one call.
    pub call_timeout: Duration,
    /// Number of retries after a transient failure.
    pub retries: u32,
    /// Names of all tools bound in this phase, including the engine's: messages name no others.
    pub bound: &'a [&'a str],
    /// Requirements to validate and to compare with; none for a job without requirements.
    pub validation_queue: Option<&'a dyn ValidationQueue>,
    /// The job's graph.
    pub graph: Graph<'a>,
    /// The job's web access.
    pub web: Web<'a>,
    /// The sender for the job's own HTTP tools; none if nothing is sent.
    pub http: Option<Outgoing<'a>>,
    /// Ranked search over the job's texts; none if there is no index.
    pub texts: Option<&'a dyn TextIndex>,
    /// The checks of the job's files before it completes.
    pub inspection: Option<&'a Inspection>,
    /// Documents that are not sources, by path or file name; `*` matches any text.
    pub no_sources: &'a [String],
    /// Finds sentences and candidates in the texts of documents.
    pub scan: &'a Scan,
    /// The uncommitted products of earlier calls in the same answer, including calls that the engine ran.
    pub uncommitted: &'a [&'a Product],
    /// The job's own tools, besides the built-in ones.
    pub tools: &'a Registry,
    /// Whether jobs of this type record requirements, from which the system renders lists.
    pub records_requirements: bool,
    /// The values of a record that a call omits.
    pub record_defaults: &'a RecordDefaults,
    /// Unjudged requirements of other jobs that were presented for judging.
    pub given: &'a Given,
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
            http: None,
            texts: None,
            inspection: None,
            no_sources: &[],
            scan: &PLAIN,
            uncommitted: &[],
            tools: Registry::EMPTY,
            records_requirements: false,
            record_defaults: &NO_DEFAULTS,
            given: Given::NONE,
        }
    }
}

impl ToolContext<'_> {
    /// Whether this is a strategic phase: it binds the tool that writes the next todo list, regardless of other tools.
    pub(crate) fn plans(&self) -> bool {
        self.bound.contains(&"todo_write")
    }

    /// Whether quotes may be taken from a document.
    pub(crate) fn is_source(&self, path: &str) -> bool {
        is_source(path, self.no_sources)
    }
}

/// Whether quotes may be taken from a document: no pattern of `no_sources` matches its path or its file name.
pub fn is_source(path: &str, no_sources: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !no_sources.iter().any(|pattern| matches_pattern(path, pattern) || matches_pattern(name, pattern))
}

/// What the calls of a batch have looked up.
pub(crate) type Caches = (NameCache, ClaimedRows);

/// The environment of a running tool.
pub(crate) struct ToolEnv<'a> {
    pub(crate) overlay: &'a WorkspaceOverlay<'a>,
    pub(crate) ctx: &'a ToolContext<'a>,
    pub(crate) parser: &'a Parser,
    pub(crate) quotes: &'a QuoteCache,
    pub(crate) names: &'a NameCache,
    pub(crate) rows: &'a ClaimedRows,
    /// The id of the call; empty if the system makes the call.
    pub(crate) call_id: &'a str,
    /// Whether the same call was refused before with the note that it is accepted if repeated.
    pub(crate) again: bool,
}
