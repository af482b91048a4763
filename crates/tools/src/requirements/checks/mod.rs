//! What the validator's tools share: the checks of a row, the comparison with others, the judgement.
//!
//! | question | file |
//! |---|---|
//! | which rows wait for judging, with their checks | `claimed_rows` |
//! | which of them does a call concern | `of_call` |
//! | is the row well formed, and does it have evidence | `form` |
//! | does it repeat a heading or a definition | `binding` |
//! | which text of its document is its evidence | `evidence` |
//! | does it already exist | `duplicates` |
//! | which nodes of the graph does it mention, is it relevant to the graph | `name_cache`, `relevance` |
//! | are the relations allowed, is anything missing | `relations` |
//! | is it fulfilled | `fulfilment` |
//! | which results are stored with the row | `result` |
//! | which properties does the node have | `node` |

mod binding;
pub(crate) mod claimed_rows;
pub(crate) mod duplicates;
pub(crate) mod evidence;
pub(crate) mod form;
pub(crate) mod fulfilment;
pub(crate) mod name_cache;
pub(crate) mod node;
pub(crate) mod of_call;
pub(crate) mod relations;
pub(crate) mod relevance;
pub(crate) mod result;

use crate::error::{Remedy, ToolError};
use crate::graph::GraphError;
use duplicates::Likeness;
use plumbline_engine::Verdict;
use plumbline_engine::{HeldRequirement, KnownRequirement, place_of};
use serde_json::{Value, json};

/// The results of a row's checks, before relations are added.
#[derive(Debug)]
pub(crate) struct Findings {
    /// Why it cannot be integrated; empty for a valid row.
    pub(crate) faults: Vec<String>,
    /// Notes for the reader.
    pub(crate) remarks: Vec<String>,
    /// Similar requirements, most similar first.
    pub(crate) similar: Vec<Likeness>,
}

impl Findings {
    /// Checks a row: form, evidence, duplicates among the `known` requirements.
    async fn of(row: &HeldRequirement, known: Vec<KnownRequirement>) -> Self {
        let mut faults = form::faults(row);
        let remarks = form::remarks(row);
        let similar = duplicates::compare(&row.text, known).await;
        let place = place_of(&row.citations[0]);
        let duplicate = similar.iter().find(|likeness| likeness.is_duplicate(place.as_deref()));
        faults.extend(duplicate.map(Likeness::fault));
        Self { faults, remarks, similar }
    }

    /// The entry in `validation_result`.
    pub(crate) fn report(&self, row: &HeldRequirement) -> Value {
        json!({
            "faults": self.faults,
            "remarks": self.remarks,
            "citations": {"given": row.citations_given, "verified": row.citations_confirmed},
            "similar": self.similar.iter().map(Likeness::report).collect::<Vec<_>>(),
        })
    }
}

/// The error of a failed graph operation. Nothing was changed, and the row is still held. Errors that the model can
/// correct go to the model; for the others the calls wait.
pub(crate) fn graph_error(error: &GraphError) -> ToolError {
    let remedy = match error {
        GraphError::Transient { .. } => Remedy::AnotherTry,
        GraphError::Unreachable { .. } | GraphError::TimedOut { .. } => Remedy::Time,
        GraphError::Unauthorized { .. } | GraphError::Unusable { .. } | GraphError::Malformed { .. } => {
            Remedy::Operator
        }
        GraphError::Constraint { .. } | GraphError::Refused { .. } | GraphError::TooLarge { .. } => {
            return ToolError::refused(error.to_string());
        }
    };
    ToolError::Unavailable { reason: error.to_string(), remedy }
}

/// The display name of a verdict.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Integrated => "integrated",
        Verdict::Rejected => "rejected",
        Verdict::Failed => "failed",
        Verdict::Accepted => "accepted",
    }
}
