//! Rare rows, as the documents of a step for `commit_rare_rows.sql`.
//!
//! **Adding a kind of row** takes three edits:
//!
//! 1. A member of [`RareRows`], omitted from the document if empty (`skip_serializing_if`), and the arm of
//!    [`super::step_rows::StepRows`] that fills it. Two changes of the same row in one step are folded into one row, as
//!    [`RareRows::add_source`] does.
//! 2. A column of the same name in the statement's `steps`. A kind with many rows of a step is a document of its own
//!    instead ([`Documents`]).
//! 3. A part of the statement that writes it, for all steps of a batch: `INSERT … SELECT … FROM steps s CROSS JOIN LATERAL
//!    json_to_recordset(s.member) AS …`, with `ON CONFLICT … DO UPDATE` where a row may be there already.
//!
//! Nothing else changes: a step with such a row is written like any other. Only changes that must see the rows of this
//! statement need a separate statement after it (see [`super::batch`]).

use super::{Commit, checkpoint_retention, phase_rows::PhaseRows};
use crate::{bind::json, requirements::coverage::PassageRow};
use plumbline_engine::{
    ApprovalChange, Citation, JobExit, Judgement, Passage, Requirement, RequirementChange, SharedFiles, Source,
};
use serde::{Serialize, Serializer};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};
use uuid::Uuid;

/// Maximum passages of one statement: its arguments are in memory several times while they are sent.
const MOST_PASSAGES: usize = 200;

/// The rare rows of a step. Its members are the columns of `json_to_record` in the statement.
#[derive(Default, Serialize)]
pub(super) struct RareRows<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<&'a str>,
    /// The hash of the set of shared files, in hexadecimal digits.
    #[serde(rename = "shared_files", skip_serializing_if = "Option::is_none")]
    shared_set: Option<String>,
    #[serde(flatten)]
    pub(super) phases: PhaseRows<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cleared_results: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) feedback_read: Vec<i64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "values")]
    sources: BTreeMap<&'a str, &'a Source>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "values")]
    judgements: BTreeMap<Uuid, &'a Judgement>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    dropped_passages: BTreeSet<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unevidenced_todos: Vec<TodoPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned_checkpoints: Option<Range<i64>>,

    #[serde(skip)]
    pub(super) citations: Vec<&'a Citation>,
    #[serde(skip)]
    requirements: Vec<RequirementRow<'a>>,
    #[serde(skip)]
    passages: BTreeMap<i32, PassageRow<'a>>,
    /// The set itself, stored before the step.
    #[serde(skip)]
    pub(super) shared_files: Option<&'a SharedFiles>,
    /// In order: they are written one by one, after what the step recorded.
    #[serde(skip)]
    pub(super) requirement_changes: Vec<&'a RequirementChange>,
    /// Also in order.
    #[serde(skip)]
    pub(super) approvals: Vec<&'a ApprovalChange>,
    /// The job's exit from its worker, after everything else.
    #[serde(skip)]
    pub(super) exit: Option<&'a JobExit>,
}

/// A row of `requirement_cache`.
#[derive(Serialize)]
struct RequirementRow<'a> {
    id: Uuid,
    content_key_hex: String,
    #[serde(flatten)]
    requirement: &'a Requirement,
}

/// A todo of a phase.
#[derive(Serialize)]
pub(super) struct TodoPlace {
    pub(super) phase_number: i32,
    pub(super) position: i32,
}

/// The rare rows of a step as arguments of the statement.
#[derive(Debug)]
pub(super) struct Documents {
    /// Everything else.
    pub(super) document: String,
    pub(super) citations: Option<String>,
    pub(super) requirements: Option<String>,
    pub(super) passages: Option<String>,
}

/// The rare rows of a step, with its job and number.
#[derive(Serialize)]
struct Document<'a> {
    job_id: Uuid,
    step: i64,
    #[serde(flatten)]
    rows: &'a RareRows<'a>,
}

impl<'a> RareRows<'a> {
    /// The rows of a step independent of its changes.
    pub(super) fn without_changes(commit: &Commit<'a>) -> Self {
        Self {
            settings: commit.settings.map(|settings| &*settings.0),
            pruned_checkpoints: checkpoint_retention::pruned_at(commit.expected_step + 1),
            ..Self::default()
        }
    }

    pub(super) fn share(&mut self, shared: &'a SharedFiles) {
        self.shared_set = Some(hex::encode(shared.id));
        self.shared_files = Some(shared);
    }

    /// The last change of a document wins.
    pub(super) fn add_source(&mut self, source: &'a Source) {
        self.sources.insert(&source.path, source);
    }

    pub(super) fn add_requirement(&mut self, requirement: &'a Requirement) {
        let content_key_hex = hex::encode(&requirement.content_key);
        self.requirements.push(RequirementRow { id: Uuid::now_v7(), content_key_hex, requirement });
    }

    /// If the same row is judged twice in one step, the last judgement wins.
    pub(super) fn judge(&mut self, judgement: &'a Judgement) {
        self.judgements.insert(judgement.id, judgement);
    }

    /// The last change of a passage wins: one step may drop it and add it again when its document is cut again.
    pub(super) fn put_passages(&mut self, passages: &'a [Passage]) {
        for passage in passages {
            self.dropped_passages.remove(&passage.number);
            self.passages.insert(passage.number, PassageRow::of(passage));
        }
    }

    pub(super) fn drop_passages(&mut self, numbers: &[i32]) {
        for number in numbers {
            self.passages.remove(number);
            self.dropped_passages.insert(*number);
        }
    }

    /// The documents of the step, in writing order; none if all are empty. More than one only for many passages.
    pub(super) fn documents(&mut self, job_id: Uuid, step: i64) -> Vec<Documents> {
        let of = |rows: &RareRows<'_>| Documents::of(rows, job_id, step);
        let mut further = Vec::new();
        while let Some(at) = self.passages.keys().copied().nth(MOST_PASSAGES) {
            let rest = self.passages.split_off(&at);
            let passages = std::mem::replace(&mut self.passages, rest);
            further.push(of(&RareRows { passages, ..RareRows::default() }));
        }
        let first = of(self);
        let is_empty = !first.has_many() && first.document == of(&RareRows::default()).document;
        (!is_empty).then_some(first).into_iter().chain(further).collect()
    }
}

impl Documents {
    fn of(rows: &RareRows<'_>, job_id: Uuid, step: i64) -> Self {
        let passages: Vec<&PassageRow<'_>> = rows.passages.values().collect();
        Self {
            document: json(&Document { job_id, step, rows }),
            citations: list(&rows.citations),
            requirements: list(&rows.requirements),
            passages: list(&passages),
        }
    }

    /// Whether it has rows of the kinds that may be many.
    fn has_many(&self) -> bool {
        self.citations.is_some() || self.requirements.is_some() || self.passages.is_some()
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> usize {
        let many = [&self.citations, &self.requirements, &self.passages];
        self.document.len() + many.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

fn list<T: Serialize>(rows: &[T]) -> Option<String> {
    (!rows.is_empty()).then(|| json(rows))
}

fn values<K, V: Serialize, S: Serializer>(rows: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.values())
}

#[cfg(test)]
mod tests {
    use super::RareRows;
    use plumbline_engine::Passage;
    use uuid::Uuid;

    #[test]
    fn a_step_without_rare_rows_has_no_document_of_them() {
        assert!(RareRows::default().documents(Uuid::nil(), 1).is_empty());
        let mut cleared = RareRows { cleared_results: vec![3], ..RareRows::default() };
        let documents = cleared.documents(Uuid::nil(), 7);
        let documents: Vec<&str> = documents.iter().map(|step| &*step.document).collect();
        assert_eq!(documents, [format!(r#"{{"job_id":"{}","step":7,"cleared_results":[3]}}"#, Uuid::nil())]);
    }

    #[test]
    fn many_passages_are_in_several_documents() {
        let passages: Vec<Passage> = (1..=401).map(|number| Passage::unread(number, "input/a.pdf", number)).collect();
        let mut rows = RareRows { cleared_results: vec![3], ..RareRows::default() };
        rows.put_passages(&passages);
        let documents = rows.documents(Uuid::nil(), 7);
        let passages = documents.iter().filter_map(|step| step.passages.as_ref());
        let counts: Vec<usize> = passages.map(|passages| passages.matches("\"passage\":").count()).collect();
        assert_eq!(counts, [1, 200, 200]);
        let clearing = documents.iter().filter(|step| step.document.contains("cleared_results"));
        assert_eq!(clearing.count(), 1, "what is no passage is written once");
    }
}
