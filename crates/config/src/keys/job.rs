//! The types of a job type's configuration. Their doc comments become the descriptions in `configs/schema.json`, so
//! they are written for the person who edits a configuration file.
//!
//! No defaults are in this file: every default is a line of `configs/defaults.json`, where a user can read and change
//! it.

use super::part::{Part, without};
use crate::{Connections, Coverage, CoverageSettings, Deliverable, Documents, Llm, LlmByPurpose, RecordDefaults};
use plumbline_engine::{Autonomy, Limits, PhaseSettings, Untrusted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Configuration of a Plumbline job type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Name of the job type; must equal the name of its folder.
    pub job_type: String,
    /// Display name.
    #[schemars(extend("x-level" = "job"))]
    pub display_name: String,
    /// The language model and its parameters.
    pub llm: Llm,
    /// Parts of `llm` that differ by the purpose of a request.
    pub llm_by_purpose: LlmByPurpose,
    /// Which tools are bound in which phases.
    #[schemars(extend("x-level" = "job"))]
    pub tools: Tools,
    /// Sizes and rules of phases.
    #[schemars(extend("x-level" = "job"))]
    pub phase_settings: PhaseSettings,
    /// Bounds and budgets.
    #[schemars(extend("x-level" = "bounded"))]
    pub limits: Limits,
    /// Maximum values to which `resume_job` may raise the `limits` of one job, independent of the values here; a
    /// missing key means no ceiling.
    // A choice among words has no order.
    #[schemars(with = "Part<Limits>", transform = without(&["closed_todos", "on_tool_failure"]))]
    pub limits_ceiling: Map<String, Value>,
    /// `full`: `job_complete` ends the job. `review`: the job stops in status `review` for a person.
    pub autonomy: Autonomy,
    /// Tools whose calls wait for a person's decision, with `*` as a wildcard at the end of a name: `fetch_page`,
    /// `http_*`; `*` alone means all HTTP and MCP tools, `web_search`, `fetch_page` and `execute_cypher_query`. A job
    /// may add names. None when absent.
    pub approval: Option<Vec<String>>,
    /// What a job may do once its requests have contained text from documents, pages or foreign tools, or from rows
    /// made of it. `allow`: the same as before. `ask`: a call that reaches beyond the job waits for a person. `deny`:
    /// such a call is refused. These are calls of HTTP and MCP tools, `web_search` and `fetch_page` for hosts that
    /// `connections.web.allowed_hosts` does not name, and an `execute_cypher_query` that writes.
    pub untrusted: Untrusted,
    /// HTTP and MCP tools that `untrusted` does not restrict, with `*` as a wildcard at the end of a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted_allowed: Option<Vec<String>>,
    /// Services other than the model.
    pub connections: Connections,
    /// The follow-up of a completed job.
    #[schemars(extend("x-level" = "job"))]
    pub on_complete: OnComplete,
    /// Files that must exist and be valid before the job can complete: a path, or a path with a JSON Schema for the
    /// file. A file whose name ends in `.json` must be JSON. The result lists them.
    #[schemars(extend("x-level" = "job"))]
    pub deliverables: Option<Vec<Deliverable>>,
    /// Files that must quote the job's documents when it completes: text in quotation marks or block quotes, and in
    /// JSON the texts of keys like `quote`. A quote that occurs in no document is refused, as is a file without quotes.
    #[schemars(extend("x-level" = "job"))]
    pub citations_required: Option<Vec<String>>,
    /// Documents that must not be quoted or cited, by path or file name, with `*` as a wildcard, e.g. `questionnaire*`.
    /// Only the operator may set it in a type that records requirements.
    #[schemars(extend("x-level" = "job"))]
    pub no_sources: Option<Vec<String>>,
    /// `documents`: the job can complete only when each passage of its documents is answered, or named as undelivered.
    /// `off`: passages are not checked.
    #[schemars(extend("x-level" = "job"))]
    pub coverage: Coverage,
    /// How much of the documents must be processed if `coverage` is `documents`.
    #[schemars(extend("x-level" = "bounded"))]
    pub coverage_settings: CoverageSettings,
    /// Whether a validator without a graph accepts by rule, before its first request, each requirement without a remark
    /// from its checks; if no other is left it makes no request. A requirement with a remark or a similar one always
    /// goes to the model.
    pub accept_by_rule: bool,
    /// Default values of a recorded requirement.
    #[schemars(extend("x-level" = "job"))]
    pub record_defaults: RecordDefaults,
    /// How documents are prepared for the model.
    pub documents: Documents,
    /// Keys that a job's `config` may set although their level forbids it, e.g. `llm.base_url`; a key also opens the
    /// keys below it.
    pub job_may_set: Option<Vec<String>>,
    /// Prefixes of the addresses that a job may set if `job_may_set` opens one: `https://host[:port][/path]`.
    pub addresses_allowed: Option<Vec<String>>,
    /// Models that a job may choose, with `*` as a wildcard; any when absent.
    pub models_allowed: Option<Vec<String>>,
    /// Subfolders of the import folder permitted for a job's `document_path`, e.g. `policies/`; all of it when absent.
    pub document_roots: Option<Vec<String>>,
}

/// Tool names by the phases in which they are bound. A tool is bound in the phases of its lists, if it works there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// Tools for the workspace's files, bound in both kinds of phase.
    pub workspace: Vec<String>,
    /// Bound in strategic phases.
    pub strategic: Vec<String>,
    /// Bound in tactical phases.
    pub tactical: Vec<String>,
    /// The job type's own tools, bound in all phases in which they work.
    pub domain: Vec<String>,
    /// Not bound until requested.
    pub deferred: Vec<String>,
}

impl Tools {
    /// The tools of all lists.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.workspace, &self.strategic, &self.tactical, &self.domain, &self.deferred];
        lists.into_iter().flatten().map(String::as_str)
    }
}

/// The follow-up of a completed job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnComplete {
    /// A job of this type is enqueued in the transaction that completes the job.
    pub enqueue: Option<String>,
}
