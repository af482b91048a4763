//! The coverage ledger: which passages of the documents were shown to the model, and what answered them.
//!
//! A document is cut into passages, a row each. A passage is *unread* until the results of tools have shown all of its
//! text, from whatever file and in however many parts ([`blocks()`]); then it is *read*. It is *answered*, and only
//! after it was read, once it is decided. In a job that records requirements these decide, not quotes: a candidate
//! sentence is *covered* by a standing requirement (`cover`), and *open* while it is neither covered nor decided by its
//! number; a passage is decided by what is said of all its open candidates, by a reason that comes again, or by closing
//! a todo that names it (`decide`). In a job that records none it is answered when verified quotes in delivered files
//! touch each candidate (`delivered`), or when it has none, or when what is left was closed with a reason. An earlier
//! job may have answered for the same text. None of this depends on the model's statements: it is derived from the
//! results of tools, in the step that commits them.

mod blocks;
mod counts;
mod cover;
mod decide;
mod delivered;
mod passage;
mod standing;
mod summary;
mod text;
mod todos;
mod versions;

pub use blocks::{Block, blocks};
pub(crate) use counts::{Counts, Covered};
pub use decide::PassageDecision;
pub(crate) use decide::named;
pub use passage::{
    Account, AnsweredPassage, Candidate, CutDocument, Decision, LONGEST_QUOTE, Passage, PassageState, SHORTEST_REASON,
    Touched,
};
pub(crate) use standing::beginning_at;
pub use standing::{PlacedQuote, StandingRequirement, quotes_of};
pub(crate) use summary::{MAX_NAMED, Scope, document_lines, reasons_of, worst, worst_of};
pub(crate) use todos::ShownPassage;
pub use versions::{Carried, CarriedPassage, Previous, Versions};

use crate::{Requirement, RequirementChange};
use standing::Row;
use std::collections::{BTreeMap, BTreeSet};

/// The passages of a job and the requirements that stand, and which passages the step at hand has changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    passages: BTreeMap<i32, Passage>,
    /// Standing requirements by their numbers.
    rows: BTreeMap<i32, Row>,
    /// The highest number that a requirement ever had.
    last_number: i32,
    /// Whether requirements decide: the job's type records some.
    records: bool,
    changed: BTreeSet<i32>,
    dropped: BTreeSet<i32>,
}

impl Ledger {
    /// The ledger as rows give it, at a step; `last_number` is the highest that a requirement ever had.
    pub(crate) fn load(
        passages: Vec<Passage>,
        standing: Vec<StandingRequirement>,
        last_number: i32,
        records: bool,
        step: i64,
    ) -> Self {
        let passages = passages.into_iter().map(|passage| (passage.number, passage)).collect();
        let rows = standing.into_iter().map(|standing| (standing.number, Row::of(standing, &passages))).collect();
        let mut ledger = Self { passages, rows, last_number, records, ..Self::default() };
        ledger.cover_anew(step);
        ledger
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Passage> {
        self.passages.values()
    }

    pub(crate) fn get(&self, number: i32) -> Option<&Passage> {
        self.passages.get(&number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.passages.is_empty()
    }

    /// Whether requirements decide.
    pub(crate) fn records(&self) -> bool {
        self.records
    }

    /// The requirements that stand, by their numbers.
    pub(crate) fn standing(&self) -> impl Iterator<Item = &StandingRequirement> {
        self.rows.values().map(|row| &row.standing)
    }

    /// The requirements that stand and whose first quote begins at a sentence of a passage.
    pub(crate) fn beginning_at(&self, place: (i32, i32)) -> impl Iterator<Item = &str> {
        let rows = self.rows.values().filter(move |row| row.first == Some(place));
        rows.map(|row| row.standing.candidate_id.as_str())
    }

    /// By passage and sentence the numbers of the requirements that stand and whose quotes touch this candidate, ascending.
    pub(crate) fn records_by_candidate(&self) -> BTreeMap<(i32, i32), Vec<i32>> {
        let mut records: BTreeMap<(i32, i32), Vec<i32>> = BTreeMap::new();
        for (number, row) in &self.rows {
            row.touched.iter().for_each(|place| records.entry(*place).or_default().push(*number));
        }
        records
    }

    /// The number of the next requirement.
    pub(crate) fn next_number(&self) -> i32 {
        self.last_number + 1
    }

    /// Whether a document has passages.
    pub(crate) fn knows(&self, document: &str) -> bool {
        self.all().any(|passage| passage.document == document)
    }

    /// What the step at hand has changed: rows to put, and numbers of rows to delete.
    pub(crate) fn take_changes(&mut self) -> (Vec<Passage>, Vec<i32>) {
        let changed = std::mem::take(&mut self.changed).into_iter();
        let put = changed.filter_map(|number| self.passages.get(&number).cloned()).collect();
        (put, std::mem::take(&mut self.dropped).into_iter().collect())
    }

    /// A requirement is recorded; it gets the next number where it has none.
    pub(crate) fn record(&mut self, requirement: &mut Requirement, step: i64) {
        let number = *requirement.number.get_or_insert(self.last_number + 1);
        self.last_number = self.last_number.max(number);
        self.put_row(StandingRequirement::of(requirement, number, step));
        self.cover_anew(step);
    }

    /// A requirement is put right or withdrawn.
    pub(crate) fn change(&mut self, change: &RequirementChange, step: i64) {
        let standing = self.standing().find(|standing| standing.candidate_id == change.candidate_id);
        let Some((number, placed_step)) = standing.map(|standing| (standing.number, standing.placed_step)) else {
            return;
        };
        let placed_step = if change.fields.contains_key("citations") { step } else { placed_step };
        match &change.becomes {
            Some(becomes) => self.put_row(StandingRequirement::of(becomes, number, placed_step)),
            None => _ = self.rows.remove(&number),
        }
        self.cover_anew(step);
    }

    fn put_row(&mut self, standing: StandingRequirement) {
        self.rows.insert(standing.number, Row::of(standing, &self.passages));
    }

    /// A document was cut, for the first time or anew: a passage with the same text keeps what it had come to.
    pub(crate) fn cut(&mut self, cut: CutDocument, step: i64) {
        let former: Vec<Passage> = self
            .passages
            .extract_if(.., |_, passage| passage.document == cut.document)
            .map(|(_, passage)| passage)
            .collect();
        let mut known: BTreeMap<[u8; 32], Vec<Passage>> = BTreeMap::new();
        for passage in former.into_iter().rev() {
            self.dropped.insert(passage.number);
            known.entry(passage.sha256).or_default().push(passage);
        }
        for passage in cut.passages {
            let before = known.get_mut(&passage.sha256).and_then(Vec::pop);
            let mut passage = Passage { cut_step: step, ..passage };
            if let Some(before) = before {
                passage = as_before(passage, before);
            }
            self.move_on(&mut passage, step);
            self.dropped.remove(&passage.number);
            self.changed.insert(passage.number);
            self.passages.insert(passage.number, passage);
        }
        let standing: Vec<StandingRequirement> = self.standing().cloned().collect();
        standing.into_iter().for_each(|standing| self.put_row(standing));
        self.cover_anew(step);
    }

    fn move_on(&self, passage: &mut Passage, step: i64) {
        match self.records {
            true => passage.note_read(step),
            false => passage.settle(step),
        }
    }

    /// Drops the passages without text of a document that is given anew: it may have text now.
    pub(crate) fn forget_unreadable(&mut self, document: &str) {
        let dropped = self.passages.extract_if(.., |_, passage| passage.document == document && !passage.has_text());
        self.dropped.extend(dropped.map(|(number, _)| number));
    }

    /// Whether no text is left that could be shown.
    pub(crate) fn is_all_seen(&self) -> bool {
        self.all().all(|passage| passage.unseen.is_empty())
    }

    /// A result or an opening as the model has seen it: what of the passages' texts it shows is seen.
    pub(crate) fn shown(&mut self, content: &str, step: i64) {
        let unread = || self.passages.values().filter(|passage| !passage.unseen.is_empty());
        let mut lengths: Vec<u8> = unread().flat_map(|passage| &passage.unseen).map(|block| block.words).collect();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.is_empty() {
            return;
        }
        let (seen, records) = (blocks::windows(content, &lengths), self.records);
        for passage in self.passages.values_mut().filter(|passage| !passage.unseen.is_empty()) {
            let before = passage.unseen.len();
            passage.unseen.retain(|block| !seen.contains(block));
            if passage.unseen.len() < before {
                match records {
                    true => passage.note_read(step),
                    false => passage.settle(step),
                }
                self.changed.insert(passage.number);
            }
        }
    }

    /// Whether a text shows something of a passage that is not answered.
    pub(crate) fn shows_open(&self, content: &str) -> bool {
        let open = || self.all().filter(|passage| passage.state != PassageState::Answered);
        let mut lengths: Vec<u8> = open().flat_map(|passage| &passage.blocks).map(|block| block.words).collect();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.is_empty() {
            return false;
        }
        let shown = blocks::windows(content, &lengths);
        open().any(|passage| passage.blocks.iter().any(|block| shown.contains(block)))
    }

    /// An earlier job has answered for these passages, and its requirements are recorded.
    pub(crate) fn carry(&mut self, carried: &[CarriedPassage], step: i64) {
        for CarriedPassage { number, from, decisions, is_decided } in carried {
            let passage = self.passages.get_mut(number).filter(|passage| passage.state != PassageState::Answered);
            let Some(passage) = passage else { continue };
            // Quotes alone, of a job that recorded nothing, decide nothing here.
            if *is_decided && !(self.records && *from == AnsweredPassage::Citation) {
                passage.decisions.clone_from(decisions);
                passage.answer(AnsweredPassage::Carried, step);
            }
            passage.carried_from = Some(*from);
            self.changed.insert(*number);
        }
        self.cover_anew(step);
    }

    /// Closes what a read passage has left, in a job that records no requirements.
    ///
    /// # Errors
    /// One sentence for the model: there is no such passage, or it was not read.
    pub(crate) fn close(&mut self, number: i32, reason: &str, step: i64) -> Result<(), String> {
        let passage = self.passages.get_mut(&number).ok_or_else(|| format!("there is no passage {number}"))?;
        match passage.state {
            PassageState::Answered => Ok(()),
            PassageState::Unread => Err(match &passage.chunk_path {
                Some(path) => format!("passage {number} was not read to its end; read {path} first"),
                None => format!("passage {number} has no text that could be read; name it in 'undelivered'"),
            }),
            PassageState::Read => {
                passage.reason = Some(reason.to_string());
                passage.answer(AnsweredPassage::Closed, step);
                self.changed.insert(number);
                Ok(())
            }
        }
    }
}

/// A passage with the same text as before: it keeps what it had come to. Cut as before, it is the row that it was. What its
/// candidates stand under depends on the passage before it as well.
fn as_before(cut: Passage, before: Passage) -> Passage {
    let cut_step = if before.number == cut.number { before.cut_step } else { cut.cut_step };
    let as_it_was = |candidate: Candidate| match before.candidate(candidate.sentence) {
        Some(known) => Candidate { cited_step: known.cited_step, seen_step: known.seen_step, ..candidate },
        None => candidate,
    };
    let candidates = cut.candidates.into_iter().map(as_it_was).collect();
    Passage {
        number: cut.number,
        document: cut.document,
        ordinal: cut.ordinal,
        pages: cut.pages,
        chunk_path: cut.chunk_path,
        cut_step,
        blocks: cut.blocks,
        candidates,
        reason: before.reason.clone().or(cut.reason),
        ..before
    }
}

#[cfg(test)]
#[allow(dead_code, reason = "the ledger is held against it")]
mod model;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
