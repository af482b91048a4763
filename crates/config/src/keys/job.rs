//! The types of a job type's configuration. Their doc comments become the descriptions in `configs/schema.json`, so
//! they are written for the person who edits a configuration file.
//!
//! No default stands here: every default is a line of `configs/defaults.json`, where a user can read and change it.

use crate::{
    Connections, Coverage, CoverageSettings, Deliverable, Documents, Limits, Llm, LlmByPurpose, RecordDefaults,
};
use plumbline_engine::{Autonomy, HistoryAtBoundary, Untrusted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Configuration of a Plumbline job type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Name of the job type; the same as its folder's.
    pub job_type: String,
    /// Name for people.
    pub display_name: String,
    /// The language model and how to talk to it.
    pub llm: Llm,
    /// Parts of `llm` that differ by what a request is for.
    pub llm_by_purpose: LlmByPurpose,
    /// Which tools are bound in which phases.
    pub tools: Tools,
    /// Sizes and rules of phases.
    pub phase_settings: PhaseSettings,
    /// Bounds and budgets.
    pub limits: Limits,
    /// How far `resume_job` may raise the `limits` of one job, whatever they are here; no key here, no ceiling.
    #[schemars(with = "Limits")]
    pub limits_ceiling: Map<String, Value>,
    /// `full`: `job_complete` ends the job. `review`: it stops in status `review` for a person.
    #[schemars(with = "String", extend("enum" = ["full", "review"]))]
    pub autonomy: Autonomy,
    /// Tools whose calls wait for a person's decision, `*` at the end of a name standing for any end: `fetch_page`, `http_*`; `*` alone
    /// for all HTTP and MCP tools, `web_search`, `fetch_page` and `execute_cypher_query`. A job may add names. None when absent.
    pub approval: Option<Vec<String>>,
    /// What a job may do once its requests hold text of documents, pages or foreign tools, or of rows made of such. `allow`: what it
    /// may otherwise. `ask`: a call that reaches beyond the job waits for a person. `deny`: it is refused. Such calls are those of HTTP and
    /// MCP tools, `web_search` and `fetch_page` for hosts that `connections.web.allowed_hosts` does not name, and an `execute_cypher_query`
    /// that writes.
    #[schemars(with = "String", extend("enum" = ["allow", "ask", "deny"]))]
    pub untrusted: Untrusted,
    /// HTTP and MCP tools that `untrusted` does not keep back, `*` at the end of a name standing for any end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted_allowed: Option<Vec<String>>,
    /// Services besides the model.
    pub connections: Connections,
    /// What follows a completed job.
    pub on_complete: OnComplete,
    /// Files that the job is complete with only when they are there, and are what they must be: a path, or a path with a JSON
    /// Schema that the file must meet. One whose name ends in `.json` must be JSON. The result lists them.
    pub deliverables: Option<Vec<Deliverable>>,
    /// Files that must quote the job's documents when it completes: what stands in quotation marks or is a block quote, and in
    /// JSON the texts of keys like `quote`. A quote that occurs in no document is refused, and so is a file without any.
    pub citations_required: Option<Vec<String>>,
    /// Documents that are no source, by path or file name, `*` standing for anything, e.g. `questionnaire*`: nothing may be quoted
    /// or cited from them.
    pub no_sources: Option<Vec<String>>,
    /// `documents`: the job is complete only when each passage of its documents is answered, or named as undelivered. `off`:
    /// passages are not asked for.
    pub coverage: Coverage,
    /// How much of the documents must be worked through where `coverage` is `documents`.
    pub coverage_settings: CoverageSettings,
    /// Whether a validator without a graph accepts by rule, before its first request, what its checks find nothing to remark of; where
    /// none is left it makes no request. A requirement with a remark or a similar one always reaches the model.
    pub accept_by_rule: bool,
    /// What a recorded requirement says where the call that records it leaves it out.
    pub record_defaults: RecordDefaults,
    /// How documents are made ready for the model.
    pub documents: Documents,
    /// Keys that a job's `config` may set although their level forbids it, e.g. `llm.base_url`; a key opens what is below
    /// it.
    pub job_may_set: Option<Vec<String>>,
    /// Beginnings of the addresses that a job may set where `job_may_set` opens one: `https://host[:port][/path]`.
    pub addresses_allowed: Option<Vec<String>>,
    /// Models that a job may choose, `*` standing for anything; any when absent.
    pub models_allowed: Option<Vec<String>>,
    /// Folders of the import folder that a job's `document_path` may lie in, e.g. `policies/`; all of it when absent.
    pub document_roots: Option<Vec<String>>,
}

/// Tool names by where they are bound. A tool is bound in the phases of its lists, as far as it works there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// Tools over the workspace's files, bound in both kinds of phase.
    pub workspace: Vec<String>,
    /// Bound in strategic phases.
    pub strategic: Vec<String>,
    /// Bound in tactical phases.
    pub tactical: Vec<String>,
    /// The job type's own tools, bound wherever they work.
    pub domain: Vec<String>,
    /// Not bound until asked for.
    pub deferred: Vec<String>,
}

impl Tools {
    /// The tools of all lists.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.workspace, &self.strategic, &self.tactical, &self.domain, &self.deferred];
        lists.into_iter().flatten().map(String::as_str)
    }
}

/// Sizes and rules of phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseSettings {
    /// Fewest todos of a tactical phase.
    #[schemars(range(min = 1))]
    pub min_todos: u32,
    /// Most todos of a tactical phase.
    #[schemars(range(min = 1, max = 100))]
    pub max_todos: u32,
    /// Whether `archive/phase_<n>.yaml` is written when a phase ends.
    pub archive_on_transition: bool,
    /// `reset`: each phase starts with a fresh conversation, the files are the memory. `compact`: the conversation
    /// goes on and is summarized when it grows too large.
    #[schemars(with = "String", extend("enum" = ["reset", "compact"]))]
    pub history_at_boundary: HistoryAtBoundary,
}

/// What follows a completed job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnComplete {
    /// A job of this type is enqueued in the transaction that completes the job.
    pub enqueue: Option<String>,
}
