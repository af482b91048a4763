//! Unjudged requirements of other jobs in results of `next_requirement`: which of them are in the conversation, and
//! which a request has shown to the model. A result whose rows are all judged leaves the conversation.

use crate::{Judgement, MessageKind, Product, Run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A requirement that a result gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRow {
    /// Its row.
    pub id: Uuid,
    /// Whether the result has all of it.
    pub whole: bool,
}

/// What is given and not judged. A job holds a bounded number of rows, so it has a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Given {
    /// The results of the conversation, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<GivenResult>,
    /// Rows that a request has shown: whether one has shown all of it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    shown: BTreeMap<Uuid, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GivenResult {
    /// Its message.
    seq: i64,
    /// Those of its rows that are not judged.
    rows: Vec<GivenRow>,
    /// Whether a request has carried it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    seen: bool,
}

impl Given {
    /// Nothing.
    pub const NONE: &Self = &Self { results: Vec::new(), shown: BTreeMap::new() };

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty() && self.shown.is_empty()
    }

    /// Whether a result of the conversation has the row.
    pub fn in_conversation(&self, row: Uuid) -> bool {
        self.results.iter().any(|result| result.has(row))
    }

    /// Whether a result has the row that no request has carried yet: one of the answer at hand.
    pub fn in_answer(&self, row: Uuid) -> bool {
        self.results.iter().any(|result| !result.seen && result.has(row))
    }

    /// Whether a request has shown the row, and if so whether all of it.
    pub fn shown(&self, row: Uuid) -> Option<bool> {
        self.shown.get(&row).copied()
    }

    /// Whether the message has rows that are not judged.
    pub(crate) fn is_open(&self, seq: i64) -> bool {
        self.results.iter().any(|result| result.seq == seq && !result.rows.is_empty())
    }

    /// The rows of a message.
    pub(crate) fn rows_of(&self, seq: i64) -> Vec<GivenRow> {
        self.results.iter().filter(|result| result.seq == seq).flat_map(|result| result.rows.iter().copied()).collect()
    }

    /// A message gives rows.
    pub fn give(&mut self, seq: i64, rows: Vec<GivenRow>) {
        if !rows.is_empty() {
            self.results.push(GivenResult { seq, rows, seen: false });
        }
    }

    /// A request has carried a message.
    pub fn see(&mut self, seq: i64) {
        for result in self.results.iter_mut().filter(|result| result.seq == seq) {
            result.seen = true;
            for row in &result.rows {
                *self.shown.entry(row.id).or_default() |= row.whole;
            }
        }
    }

    /// A row that is judged is none of them any more.
    pub fn take(&mut self, product: &Product) {
        let Product::JudgeRequirement(judgement) = product else { return };
        let Judgement { id, .. } = **judgement;
        self.shown.remove(&id);
        self.results.iter_mut().for_each(|result| result.rows.retain(|row| row.id != id));
    }

    /// The messages all of whose rows are judged, each told once.
    fn take_judged(&mut self) -> Vec<i64> {
        let judged = self.results.iter().filter(|result| result.rows.is_empty()).map(|result| result.seq).collect();
        self.results.retain(|result| !result.rows.is_empty());
        judged
    }

    /// The conversation begins here: what stands before it is read by nobody.
    pub(crate) fn begin_at(&mut self, seq: i64) {
        self.results.retain(|result| result.seq >= seq);
    }
}

impl GivenResult {
    fn has(&self, row: Uuid) -> bool {
        self.rows.iter().any(|given| given.id == row)
    }
}

impl Run {
    /// What `next_requirement` has given of the requirements of other jobs, as far as it is not judged.
    pub fn given(&self) -> &Given {
        &self.state.given
    }

    /// The request that is answered now has carried the results behind the answer before; one that was cleared meanwhile was
    /// carried to nobody.
    pub(crate) fn note_given_as_shown(&mut self) {
        if self.state.given.results.iter().all(|result| result.seen) {
            return;
        }
        let new = self.tail().rev().take_while(|message| message.kind() != MessageKind::Reply);
        let new: Vec<i64> = new.filter(|message| !message.cleared()).map(|message| message.seq()).collect();
        new.into_iter().for_each(|seq| self.state.given.see(seq));
    }

    /// Results all of whose requirements are judged leave the conversation before the next request.
    pub(crate) fn clear_what_is_judged(&mut self) {
        let from = self.state.context.tail_from;
        let mut judged = self.state.given.take_judged();
        judged.retain(|seq| *seq >= from && self.message(*seq).is_some_and(|message| !message.cleared()));
        if !judged.is_empty() {
            self.clear(judged);
        }
    }
}
