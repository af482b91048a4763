//! The tools' interface to the validation queue. The worker implements it over the store, tests in memory.

use crate::error::{Remedy, ToolError};
use crate::graph::GraphClient;
use crate::workspace::{BoxFuture, WorkspaceError};
use serde_json::Value;
use uuid::Uuid;

/// A requirement that this job validates.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldRequirement {
    /// Its row.
    pub id: Uuid,
    /// The job that recorded it.
    pub job_id: Uuid,
    /// Its number in that job, `r12`; other producers set none.
    pub number: Option<i32>,
    /// Its candidate id, `req_…`; other producers may set none.
    pub candidate_id: Option<String>,
    /// Whether a step of one of our jobs recorded it: then its quotes were verified, and it is complete.
    pub is_ours: bool,
    /// Its text.
    pub text: String,
    /// Its name.
    pub name: Option<String>,
    /// Its type; any text, since other producers may write rows.
    pub r#type: Option<String>,
    /// Its priority; any text.
    pub priority: Option<String>,
    /// Its document.
    pub source_document: Option<String>,
    /// Its place in the document.
    pub source_location: Option<Value>,
    /// Whether it bears on proper book-keeping.
    pub gobd_relevant: bool,
    /// Whether it bears on data protection.
    pub gdpr_relevant: bool,
    /// Its citations, unvalidated from the row.
    pub citations: Value,
    /// Names of objects, unvalidated from the row.
    pub mentioned_objects: Value,
    /// Names of messages, unvalidated from the row.
    pub mentioned_messages: Value,
    /// Why it is a requirement.
    pub reasoning: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Labels; any value, since other producers may write rows.
    pub tags: Value,
    /// The number of citations in the row.
    pub citations_given: u32,
    /// How many of them its job has verified against the source.
    pub citations_confirmed: u32,
}

/// A recorded requirement that shares words with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRequirement {
    /// Its row.
    pub id: Uuid,
    /// The job that recorded it.
    pub job_id: Uuid,
    /// Its number in that job.
    pub number: Option<i32>,
    /// Its candidate id.
    pub candidate_id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its text.
    pub text: String,
    /// Its status.
    pub status: String,
    /// Its node, once integrated.
    pub graph_node_id: Option<String>,
    /// The start of its first quote ([`place_of`]); none if it has no quote.
    pub place: Option<String>,
}

/// The start of a stored citation: document, page, text, and the sentence if the document was cut. Two requirements are
/// the same only if their texts and this are equal.
pub fn place_of(citation: &Value) -> Option<String> {
    let part = |key: &str| citation[key].to_string();
    citation["quote"].is_string().then(|| ["source", "page", "quote", "passage", "from"].map(part).join("\0"))
}

/// The query of a search for similar requirements.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Search the integrated ones and those of this job.
    pub job_id: Uuid,
    /// The text to compare with.
    pub text: &'a str,
    /// A row of the job: of the job's other rows, only those that precede it.
    pub before: Option<Uuid>,
    /// Include any requirement that shares a word, regardless of length.
    pub widely: bool,
}

/// This job's judgements so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// In the graph.
    pub integrated: u64,
    /// Passed, waiting for a graph.
    pub accepted: u64,
    /// Of these, those that were accepted by rule.
    pub by_rule: u64,
    /// Rejected.
    pub rejected: u64,
    /// Could not be judged.
    pub failed: u64,
    /// Still to be claimed.
    pub waiting: u64,
    /// Reasons of rejected and failed rows with their counts.
    pub reasons: Vec<(String, u64)>,
}

/// The rows of the validation queue. Read-only, except for [`ValidationQueue::claim`].
pub trait ValidationQueue: std::fmt::Debug + Send + Sync {
    /// Up to `count` requirements for this job, those it already holds first; idempotent. `recheck`: those that were
    /// accepted without a graph count as pending. Of those it holds, `left_out` are not returned.
    fn claim<'a>(
        &'a self,
        count: u32,
        recheck: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// Releases the requirements that this job holds, except these rows: they are pending again.
    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>>;

    /// The requirements that this job holds.
    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// For each text, in its position: requirements that share words with it.
    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>>;

    /// The file with the text of a document of the job that recorded a requirement, if it has one.
    fn text_path<'a>(
        &'a self,
        job_id: Uuid,
        document: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>>;

    /// A file of that job.
    fn read<'a>(&'a self, job_id: Uuid, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>>;

    /// The job whose requirements count as this job's own, and their number: for a validator those of the job that it
    /// validates, if it is bound to one.
    fn recorded(&self, is_validator: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>>;

    /// This job's judgements.
    fn tally(&self, recheck: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>>;
}

/// The graph of a job, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub enum Graph<'a> {
    /// None is configured: integration is disabled.
    #[default]
    Off,
    /// The configured graph.
    On(&'a GraphClient),
    /// The configured graph cannot be used, with the reason.
    Unusable(&'a str),
}

impl<'a> Graph<'a> {
    /// The client, if there is a graph.
    pub(crate) fn client(self) -> Result<Option<&'a GraphClient>, ToolError> {
        match self {
            Self::Off => Ok(None),
            Self::On(client) => Ok(Some(client)),
            Self::Unusable(reason) => {
                Err(ToolError::Unavailable { reason: reason.to_string(), remedy: Remedy::Operator })
            }
        }
    }
}
