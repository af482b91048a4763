//! The requirements that a validator job judges, as the store reads them and the tools use them.

use serde_json::Value;
use uuid::Uuid;

/// The tool whose results contain requirements to be judged.
pub(crate) const NEXT_REQUIREMENT: &str = "next_requirement";

/// A requirement that a validator job holds.
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
    /// Its place in the document, or null; JSON that cannot be represented is null, here and below.
    pub source_location: Value,
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
    pub citations_given: i64,
    /// How many of them its job has verified against the source.
    pub citations_confirmed: i64,
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

/// A validator job's judgements so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows in the graph.
    pub integrated: u64,
    /// Rows that passed and wait for a graph.
    pub accepted: u64,
    /// Of these, those that were accepted by rule.
    pub by_rule: u64,
    /// Rows rejected.
    pub rejected: u64,
    /// Rows that could not be judged.
    pub failed: u64,
    /// Rows that this job could still claim.
    pub waiting: u64,
    /// Reasons of rejected and failed rows with their counts, the most frequent first within each.
    pub reasons: Vec<(String, u64)>,
}
