//! The requirements recorded by a job, and their corrections while no validator has claimed them.

use crate::{Product, Requirement};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A change of a recorded requirement. It is written only if no validator has claimed the row meanwhile, and its former
/// state is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequirementChange {
    /// The requirement's `req_` id.
    pub candidate_id: String,
    /// The reason, in the model's words.
    pub reason: String,
    /// The new requirement; none if it is withdrawn.
    pub becomes: Option<Box<Requirement>>,
    /// The changed columns with their new values; empty if it is withdrawn.
    pub fields: Map<String, Value>,
}

impl RequirementChange {
    /// The word for it in the rows.
    pub fn kind(&self) -> &'static str {
        if self.becomes.is_some() { "updated" } else { "withdrawn" }
    }
}

/// A recorded requirement of the job, as in its row.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequirement {
    /// The requirement.
    pub requirement: Requirement,
    /// `requirement_cache.status`.
    pub status: String,
}

impl RecordedRequirement {
    /// Whether it may still be changed: no validator has claimed it.
    pub fn is_pending(&self) -> bool {
        self.status == "pending"
    }

    /// Whether it has this text, by its content key, or had it when it was recorded: a corrected requirement is the
    /// same one.
    pub fn is_of(&self, content_key: &[u8]) -> bool {
        let Requirement { content_key: own, candidate_id, .. } = &self.requirement;
        !self.is_withdrawn() && (own == content_key || *candidate_id == candidate_id_of(content_key))
    }

    /// Whether its job withdrew it.
    pub fn is_withdrawn(&self) -> bool {
        self.status == WITHDRAWN
    }
}

/// The requirements with these content keys, each key with its `candidate_id`; keys that are not recorded are left out.
pub fn known_keys(recorded: &[RecordedRequirement], keys: &[Vec<u8>]) -> Vec<(Vec<u8>, String)> {
    let known = keys.iter().filter_map(|key| {
        let known = recorded.iter().find(|known| known.is_of(key))?;
        Some((key.clone(), known.requirement.candidate_id.clone()))
    });
    known.collect()
}

/// The id of a requirement recorded with this text: `req_` and 12 hexadecimal digits of its content key.
pub fn candidate_id_of(content_key: &[u8]) -> String {
    format!("req_{}", hex::encode(&content_key[..content_key.len().min(6)]))
}

/// The status of a requirement that its job withdrew.
pub const WITHDRAWN: &str = "withdrawn";

/// Applies the products of a step to the job's recorded requirements, which are in order of recording.
pub fn apply_requirement_changes<'a>(
    recorded: &mut Vec<RecordedRequirement>,
    products: impl Iterator<Item = &'a Product>,
) {
    for product in products {
        match product {
            Product::AddRequirement(requirement) => recorded
                .push(RecordedRequirement { requirement: (**requirement).clone(), status: "pending".to_owned() }),
            Product::ChangeRequirement(change) => {
                let is_meant = |known: &&mut RecordedRequirement| {
                    known.is_pending() && known.requirement.candidate_id == change.candidate_id
                };
                let Some(known) = recorded.iter_mut().find(is_meant) else { continue };
                match &change.becomes {
                    Some(becomes) => known.requirement = (**becomes).clone(),
                    None => known.status = WITHDRAWN.to_owned(),
                }
            }
            Product::WriteFile(_)
            | Product::ShareFiles(_)
            | Product::AppendFile { .. }
            | Product::DeleteFile { .. }
            | Product::AddSource(_)
            | Product::AddCitation(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::JudgeRequirement(_) => {}
        }
    }
}
