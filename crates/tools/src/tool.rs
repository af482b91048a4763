//! The trait of a tool, and its context while it runs. Tools depend on this file, the registry on the tools, and the
//! runner on the registry.

use crate::approval::digest_of;
use crate::arguments::{ArgumentsSchema, decode};
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
use plumbline_engine::{Digest, Given, Handler, Phases, Product, Replay, ToolSpec, path::is_like};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use uuid::Uuid;

/// Ordinary time limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// How often a call that failed for a passing reason is ordinarily made again.
const RETRIES: u32 = 3;
/// What a try may take besides, the wait before it included.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);
/// Ordinary cap of one result, in tokens.
const MAX_RESULT_TOKENS: u32 = 8_000;

/// The scan without patterns of a configuration.
static PLAIN: LazyLock<Scan> = LazyLock::new(Scan::default);
/// Records without a configuration.
static NO_DEFAULTS: LazyLock<RecordDefaults> = LazyLock::new(RecordDefaults::default);

/// A tool that the program declares. The type is its arguments, whose doc comments are their schema and their documentation:
/// see [`Declaration`].
pub(crate) trait Declared: JsonSchema + DeserializeOwned + Send + 'static {
    /// The name the model calls.
    const NAME: &str;
    /// Where it is bound.
    const PHASES: Phases;
    /// One or two sentences for the request.
    const DESCRIPTION: &str;
    /// Who carries it out.
    const HANDLER: Handler = Handler::Local;
    /// Whether it may run again after a crash.
    const REPLAY: Replay = Replay::Safe;
    /// Whether it only reads.
    const READS_ONLY: bool = false;
    /// How many times the ordinary time limit it may take.
    const TIMEOUT_FACTOR: u32 = 1;

    /// Whether the text of a call's result, or of its refusal, may hold words of others: of documents, pages, foreign tools, or rows
    /// made of such.
    fn shows_untrusted(_arguments: &Value, _env: &ToolEnv<'_>) -> bool {
        true
    }

    /// Whether a call reaches beyond the job, to another host than these.
    fn reaches_out(_arguments: &Value, _hosts: &[String]) -> bool {
        false
    }

    /// What requests carry of the schema that calls are held against: less, where another tool's definition has it already.
    fn shown(schema: Value) -> Value {
        schema
    }

    /// The documentation, from what the doc comments say.
    fn documentation(said: String) -> String {
        said
    }

    /// Carries a call out.
    fn run(self, env: &ToolEnv<'_>) -> impl Future<Output = ToolResult> + Send;
}

/// Carries the calls of a tool out.
pub(crate) trait Run: Send + Sync {
    /// Carries a call out whose arguments are as the tool's schema says.
    fn run<'a>(&'a self, env: &'a ToolEnv<'a>, arguments: Value) -> BoxFuture<'a, ToolResult>;
}

/// A tool of a job: one that the program declares, or one whose name and schema are known only at run time.
pub(crate) struct Tool {
    /// What the model and the engine know of it.
    pub(crate) spec: ToolSpec,
    /// What its arguments are held against.
    pub(crate) schema: ArgumentsSchema,
    /// How long a call may take.
    pub(crate) time_limit: TimeLimit,
    /// See [`Declared::shows_untrusted`].
    pub(crate) shows_untrusted: fn(&Value, &ToolEnv<'_>) -> bool,
    /// See [`Declared::reaches_out`].
    pub(crate) reaches_out: fn(&Value, &[String]) -> bool,
    /// Of a tool that is known only at run time: the digest of what it is.
    pub(crate) digest: Option<Digest>,
    pub(crate) carrier: Box<dyn Run>,
}

/// How long a call may take, all of its tries together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimeLimit {
    /// So many times the ordinary limit.
    Times(u32),
    /// Each try by its own limit, which the tool keeps itself.
    EachTry(Duration),
}

impl TimeLimit {
    /// The limit of a call that is tried so many times, where the ordinary limit is this one.
    pub(crate) fn of(self, ordinary: Duration, tries: u32) -> Duration {
        match self {
            Self::Times(factor) => ordinary * factor,
            Self::EachTry(limit) => (limit + BETWEEN_TRIES) * tries.max(1),
        }
    }
}

impl Tool {
    /// One that the program declares.
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

    /// One that is known only at run time. `address` is whom it asks.
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

/// Carries calls out as the type of their arguments does.
struct OfType<T>(PhantomData<fn() -> T>);

impl<T: Declared> Run for OfType<T> {
    fn run<'a>(&'a self, env: &'a ToolEnv<'a>, arguments: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { decode::<T>(arguments)?.run(env).await })
    }
}

/// Tools by their names, in the order in which requests have them; cheap to clone.
#[derive(Clone, Default)]
pub struct Registry(Vec<Arc<Tool>>);

impl Registry {
    /// No tool.
    pub const EMPTY: &Self = &Self(Vec::new());

    /// What the model and the engine know of them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.iter().map(|tool| tool.spec.clone()).collect()
    }

    /// The digest of what a tool is that is known only at run time: of its name, description, schema and address.
    pub fn digest(&self, name: &str) -> Option<Digest> {
        self.get(name)?.digest
    }

    /// What is kept with a job of each: name, description, its own schema and the digest.
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
    /// What sends the calls of its own tools over HTTP; none where nothing is sent.
    pub http: Option<Outgoing<'a>>,
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
    /// Tools that are this job's own, besides those of the program.
    pub tools: &'a Registry,
    /// Whether jobs of this type record requirements, of which the system renders lists.
    pub records_requirements: bool,
    /// What a record says where a call leaves it out.
    pub record_defaults: &'a RecordDefaults,
    /// Requirements of other jobs that were given to be judged, and are not.
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
    /// Whether the phase is one that plans: it binds the gate by which the next list is written, whatever else it binds.
    pub(crate) fn plans(&self) -> bool {
        self.bound.contains(&"todo_write")
    }

    /// Whether quotes may be taken from a document.
    pub(crate) fn is_source(&self, path: &str) -> bool {
        is_source(path, self.no_sources)
    }
}

/// Whether quotes may be taken from a document: no pattern of `no_sources` is like its path or its file name.
pub fn is_source(path: &str, no_sources: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !no_sources.iter().any(|pattern| is_like(path, pattern) || is_like(name, pattern))
}

/// What a running tool has at hand.
pub(crate) struct ToolEnv<'a> {
    pub(crate) overlay: &'a WorkspaceOverlay<'a>,
    pub(crate) ctx: &'a ToolContext<'a>,
    pub(crate) parser: &'a Parser,
    pub(crate) quotes: &'a QuoteCache,
    pub(crate) names: &'a NameCache,
    pub(crate) rows: &'a ClaimedRows,
    /// The id of the call; empty where the system works.
    pub(crate) call_id: &'a str,
    /// Whether this very call was refused before with the word that, made again, it is taken.
    pub(crate) again: bool,
}
