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
    /// The job that found it.
    pub job_id: Uuid,
    /// The number that its job gave it, `r12`; other producers give none.
    pub number: Option<i32>,
    /// Its short id, `req_…`; other producers may give none.
    pub candidate_id: Option<String>,
    /// Whether a step of a job of ours recorded it: then its quotes were looked up, and it is complete.
    pub is_ours: bool,
    /// Its words.
    pub text: String,
    /// Its name.
    pub name: Option<String>,
    /// Its type; any text, since anybody may write rows.
    pub r#type: Option<String>,
    /// Its priority; any text.
    pub priority: Option<String>,
    /// The document it stands in.
    pub source_document: Option<String>,
    /// Where in it.
    pub source_location: Option<Value>,
    /// Whether it bears on proper book-keeping.
    pub gobd_relevant: bool,
    /// Whether it bears on data protection.
    pub gdpr_relevant: bool,
    /// Its citations, as the row has them.
    pub citations: Value,
    /// Names of objects, as the row has them.
    pub mentioned_objects: Value,
    /// Names of messages, as the row has them.
    pub mentioned_messages: Value,
    /// Why it is a requirement.
    pub reasoning: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Labels; any value, since anybody may write rows.
    pub tags: Value,
    /// How many citations the row names.
    pub citations_given: u32,
    /// How many of them its job has verified against the source.
    pub citations_confirmed: u32,
}

/// A recorded requirement that shares words with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRequirement {
    /// Its row.
    pub id: Uuid,
    /// The job that found it.
    pub job_id: Uuid,
    /// The number that its job gave it.
    pub number: Option<i32>,
    /// Its short id.
    pub candidate_id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its words.
    pub text: String,
    /// Its status.
    pub status: String,
    /// Its node, once integrated.
    pub graph_node_id: Option<String>,
    /// Where its first quote begins ([`place_of`]); none where it has no quote.
    pub place: Option<String>,
}

/// Where a stored citation begins: document, page, words, and the sentence where the document was cut. Two requirements are the same
/// only where their words and this are.
pub fn place_of(citation: &Value) -> Option<String> {
    let part = |key: &str| citation[key].to_string();
    citation["quote"].is_string().then(|| ["source", "page", "quote", "passage", "from"].map(part).join("\0"))
}

/// What requirements are looked up that are like it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Besides integrated ones, those of this job.
    pub job_id: Uuid,
    /// The words to compare with.
    pub text: &'a str,
    /// A row of the job: of its others, only those that count before it.
    pub before: Option<Uuid>,
    /// Any that share a word with it, however long they are.
    pub widely: bool,
}

/// What this job has judged so far.
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
    /// Why rows were rejected or failed, and how many.
    pub reasons: Vec<(String, u64)>,
}

/// The hand-over's rows. Reading, except for [`ValidationQueue::claim`].
pub trait ValidationQueue: std::fmt::Debug + Send + Sync {
    /// Up to `count` requirements for this job, those it holds already first; asking again gives the same. `recheck`:
    /// those that were accepted for want of a graph count as pending. Of those it holds, `left_out` are not given.
    fn claim<'a>(
        &'a self,
        count: u32,
        recheck: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// Gives back what this job holds but for these rows: they are pending again.
    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>>;

    /// The requirements that this job holds.
    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// For each text, in its place: requirements that share words with it.
    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>>;

    /// The file with the text of a document of the job that found a requirement, if it has one.
    fn text_path<'a>(
        &'a self,
        job_id: Uuid,
        document: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>>;

    /// A file of that job.
    fn read<'a>(&'a self, job_id: Uuid, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>>;

    /// The job whose requirements count as this job's own, and how many it has: for a validator those of the job that it
    /// judges, where it judges one.
    fn recorded(&self, is_validator: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>>;

    /// What this job has judged.
    fn tally(&self, recheck: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>>;
}

/// The graph of a job, as far as it has one.
#[derive(Clone, Copy, Debug, Default)]
pub enum Graph<'a> {
    /// None is configured: integration is switched off.
    #[default]
    Off,
    /// The one that is configured.
    On(&'a GraphClient),
    /// One is configured that cannot be used, with the reason.
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
