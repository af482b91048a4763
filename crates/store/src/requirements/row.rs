//! Rows of `requirement_cache`.

use crate::UserJson;
use chrono::{DateTime, Utc};
use plumbline_engine::{KnownRequirement, place_of};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// A requirement of a job, with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct RequirementRow {
    pub id: Uuid,
    pub candidate_id: Option<String>,
    pub text: String,
    pub name: Option<String>,
    pub r#type: Option<String>,
    pub priority: Option<String>,
    pub source_document: Option<String>,
    pub source_location: Option<UserJson>,
    pub gobd_relevant: bool,
    pub gdpr_relevant: bool,
    pub citations: UserJson,
    pub mentioned_objects: UserJson,
    pub mentioned_messages: UserJson,
    pub reasoning: Option<String>,
    pub confidence: f64,
    pub tags: UserJson,
    pub research_notes: Option<String>,
    pub status: String,
    pub validation_result: Option<UserJson>,
    pub graph_node_id: Option<String>,
    pub rejection_reason: Option<String>,
    pub retry_count: i32,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub validated_at: Option<DateTime<Utc>>,
}

/// A recorded requirement that answers the query number `n`, from 1.
pub(crate) struct KnownRow {
    pub(crate) n: i64,
    pub(crate) id: Uuid,
    pub(crate) job_id: Uuid,
    pub(crate) number: Option<i32>,
    pub(crate) candidate_id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    pub(crate) status: String,
    pub(crate) graph_node_id: Option<String>,
    pub(crate) first_quote: Option<UserJson>,
}

impl KnownRow {
    /// The place of its query in the list of queries.
    pub(crate) fn place(&self) -> usize {
        usize::try_from(self.n - 1).unwrap_or(usize::MAX)
    }
}

impl From<KnownRow> for KnownRequirement {
    fn from(row: KnownRow) -> Self {
        let KnownRow { id, job_id, number, candidate_id, name, text, status, graph_node_id, first_quote, .. } = row;
        let place = first_quote.and_then(|quote| place_of(&Value::from(quote)));
        Self { id, job_id, number, candidate_id, name, text, status, graph_node_id, place }
    }
}
