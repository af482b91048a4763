//! Unjudged requirements of other jobs in results of `next_requirement`: which of them are in the conversation, and
//! which a request has shown to the model. A result whose rows are all judged leaves the conversation.

use crate::{Judgement, Product};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A requirement in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRow {
    /// Its row.
    pub id: Uuid,
    /// Whether the result contains all of it.
    pub whole: bool,
}

/// The requirements in results that are not judged. A job holds a bounded number of rows, so this is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Given {
    /// The results of the conversation, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<GivenResult>,
    /// Rows that a request has shown; the value says whether one has shown all of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    shown: BTreeMap<Uuid, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GivenResult {
    /// Its message.
    seq: i64,
    /// Its rows that are not judged.
    rows: Vec<GivenRow>,
    /// Whether a request has contained it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seen: bool,
}

impl Given {
    /// None.
    pub const NONE: &Self = &Self { results: Vec::new(), shown: BTreeMap::new() };

    /// Whether a result of the conversation contains the row.
    pub fn in_conversation(&self, row: Uuid) -> bool {
        self.results.iter().any(|result| result.has(row))
    }

    /// Whether a result that no request has contained yet has the row: one of the current answer.
    pub fn in_answer(&self, row: Uuid) -> bool {
        self.results.iter().any(|result| !result.seen && result.has(row))
    }

    /// Whether a request has shown the row, and if so, whether all of it.
    pub fn shown(&self, row: Uuid) -> Option<bool> {
        self.shown.get(&row).copied()
    }

    /// Whether the message has rows that are not judged.
    pub(crate) fn is_open(&self, seq: i64) -> bool {
        self.results.iter().any(|result| result.seq == seq && !result.rows.is_empty())
    }

    /// Whether every row in the conversation is judged.
    pub(crate) fn all_judged(&self) -> bool {
        self.results.iter().all(|result| result.rows.is_empty())
    }

    /// The rows of a message.
    pub(crate) fn rows_of(&self, seq: i64) -> Vec<GivenRow> {
        self.results.iter().filter(|result| result.seq == seq).flat_map(|result| result.rows.iter().copied()).collect()
    }

    /// A message contains rows.
    pub fn give(&mut self, seq: i64, rows: Vec<GivenRow>) {
        if !rows.is_empty() {
            self.results.push(GivenResult { seq, rows, seen: false });
        }
    }

    /// A request has contained these messages.
    pub(crate) fn see_all(&mut self, messages: impl Iterator<Item = i64>) {
        if !self.results.iter().all(|result| result.seen) {
            messages.for_each(|seq| self.see(seq));
        }
    }

    /// A request has contained a message.
    pub fn see(&mut self, seq: i64) {
        for result in self.results.iter_mut().filter(|result| result.seq == seq) {
            result.seen = true;
            for row in &result.rows {
                *self.shown.entry(row.id).or_default() |= row.whole;
            }
        }
    }

    /// Removes a row that is judged.
    pub fn take(&mut self, product: &Product) {
        let Product::JudgeRequirement(judgement) = product else { return };
        let Judgement { id, .. } = **judgement;
        self.shown.remove(&id);
        self.results.iter_mut().for_each(|result| result.rows.retain(|row| row.id != id));
    }

    /// The messages whose rows are all judged, each returned once.
    pub(crate) fn take_judged(&mut self) -> Vec<i64> {
        let judged = self.results.iter().filter(|result| result.rows.is_empty()).map(|result| result.seq).collect();
        self.results.retain(|result| !result.rows.is_empty());
        judged
    }

    /// The conversation begins here: earlier messages are no longer read.
    pub(crate) fn begin_at(&mut self, seq: i64) {
        self.results.retain(|result| result.seq >= seq);
    }
}

impl GivenResult {
    fn has(&self, row: Uuid) -> bool {
        self.rows.iter().any(|given| given.id == row)
    }
}
