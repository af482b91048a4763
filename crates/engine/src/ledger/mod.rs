//! The coverage ledger: which passages of the documents were shown to the model, and what answered them.
//!
//! A document is cut into passages, one row each. A passage is *unread* until the results of tools have shown all of
//! its text, from any file and in any number of parts ([`blocks()`]); then it is *read*. It is *answered*, only after
//! it was read, once it is decided. In a job that records requirements these decide, not quotes: a candidate sentence
//! is *covered* by an active requirement (`cover`), and *open* while it is neither covered nor decided by number; a
//! passage is decided by an account of all its open candidates, by a repeated reason, or by closing a todo that names
//! it (`decide`). In a job that records none it is answered when verified quotes in delivered files touch each
//! candidate (`delivered`), when it has no candidates, or when the rest was closed with a reason. An earlier job may
//! have answered the same text. None of this depends on the model's statements: it is derived from the results of
//! tools, in the step that commits them.

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
use decide::unread;
pub use passage::{
    Account, AnsweredPassage, Candidate, CutDocument, Decision, LONGEST_QUOTE, Passage, PassageState, SHORTEST_REASON,
    Touched, is_reason,
};
pub(crate) use standing::beginning_at;
pub use standing::{PlacedQuote, StandingRequirement, quotes_of};
pub(crate) use summary::{MAX_NAMED, Scope, document_lines, first_lines, reasons_of, worst, worst_of};
pub(crate) use todos::ShownPassage;
pub use versions::{Carried, CarriedPassage, Previous, Versions};

use crate::{Requirement, RequirementChange};
use standing::{Row, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// The passages and active requirements of a job, and the passages changed by the current step.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    passages: BTreeMap<i32, Passage>,
    /// Active requirements by their numbers.
    rows: Rows,
    /// The highest number that a requirement of the job ever had.
    last_number: i32,
    /// Whether requirements decide: the job's type records requirements.
    records: bool,
    changed: BTreeSet<i32>,
    dropped: BTreeSet<i32>,
}

impl Ledger {
    /// Loads the ledger from rows, at a step; `last_number` is the highest number that a requirement ever had.
    pub(crate) fn load(
        passages: Vec<Passage>,
        standing: Vec<StandingRequirement>,
        last_number: i32,
        records: bool,
        step: i64,
    ) -> Self {
        let passages = passages.into_iter().map(|passage| (passage.number, passage)).collect();
        let rows =
            standing.into_iter().map(|standing| (standing.number, Box::new(Row::of(standing, &passages)))).collect();
        let mut ledger = Self { passages, rows, last_number, records, ..Self::default() };
        ledger.recompute_cover(step);
        ledger
    }

    /// The passages, by number.
    pub fn all(&self) -> impl Iterator<Item = &Passage> {
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

    /// The active requirements, by number.
    pub fn standing(&self) -> impl Iterator<Item = &StandingRequirement> {
        self.rows.values().map(|row| &row.standing)
    }

    /// The active requirements whose first quote begins at a sentence of a passage.
    pub fn beginning_at(&self, place: (i32, i32)) -> impl Iterator<Item = &str> {
        let rows = self.rows.values().filter(move |row| row.first == Some(place));
        rows.map(|row| row.standing.candidate_id.as_str())
    }

    /// By passage and sentence, the numbers of the active requirements whose quotes touch this candidate, ascending.
    pub fn records_by_candidate(&self) -> BTreeMap<(i32, i32), Vec<i32>> {
        let mut records: BTreeMap<(i32, i32), Vec<i32>> = BTreeMap::new();
        for (number, row) in &self.rows {
            row.touched.iter().for_each(|place| records.entry(*place).or_default().push(*number));
        }
        records
    }

    /// The number of the next requirement.
    pub fn next_number(&self) -> i32 {
        self.last_number + 1
    }

    /// Whether a document has passages.
    pub(crate) fn knows(&self, document: &str) -> bool {
        self.all().any(|passage| passage.document == document)
    }

    /// Takes the changes of the current step: rows to write, and numbers of rows to delete.
    pub(crate) fn take_changes(&mut self) -> (Vec<Passage>, Vec<i32>) {
        let changed = std::mem::take(&mut self.changed).into_iter();
        let put = changed.filter_map(|number| self.passages.get(&number).cloned()).collect();
        (put, std::mem::take(&mut self.dropped).into_iter().collect())
    }

    /// Records a requirement; it gets the next number if it has none.
    pub(crate) fn record(&mut self, requirement: &mut Requirement, step: i64) {
        let number = *requirement.number.get_or_insert(self.last_number + 1);
        self.last_number = self.last_number.max(number);
        let is_new = !self.rows.contains_key(&number);
        self.put_row(StandingRequirement::of(requirement, number, step));
        match is_new {
            true => self.add_to_cover(number, step),
            false => self.recompute_cover(step),
        }
    }

    /// A requirement is corrected or withdrawn.
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
        self.recompute_cover(step);
    }

    fn put_row(&mut self, standing: StandingRequirement) {
        self.rows.insert(standing.number, Box::new(Row::of(standing, &self.passages)));
    }

    /// A document was cut, for the first time or again: a passage with the same text keeps its state.
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
        self.recompute_cover(step);
    }

    fn move_on(&self, passage: &mut Passage, step: i64) {
        match self.records {
            true => passage.note_read(step),
            false => passage.settle(step),
        }
    }

    /// Drops the passages without text of a document that was supplied again: it may have text now.
    pub(crate) fn forget_unreadable(&mut self, document: &str) {
        let dropped = self.passages.extract_if(.., |_, passage| passage.document == document && !passage.has_text());
        self.dropped.extend(dropped.map(|(number, _)| number));
    }

    /// Whether all text was shown.
    pub(crate) fn is_all_seen(&self) -> bool {
        self.all().all(|passage| passage.unseen.is_empty())
    }

    /// The model has seen a result or an opening: the passages' texts in it are marked as seen.
    pub(crate) fn shown(&mut self, content: &str, step: i64) {
        let seen = blocks::windows(content, self.all().flat_map(|passage| &passage.unseen));
        let records = self.records;
        for passage in self.passages.values_mut().filter(|passage| !passage.unseen.is_empty()) {
            let before = passage.unseen.len();
            passage.unseen.retain(|block| !seen.contains(block));
            if passage.unseen.len() < before {
                passage.unseen.shrink_to_fit();
                match records {
                    true => passage.note_read(step),
                    false => passage.settle(step),
                }
                self.changed.insert(passage.number);
            }
        }
    }

    /// Whether a text shows a part of a passage that is not answered.
    pub(crate) fn shows_open(&self, content: &str) -> bool {
        let open = || self.all().filter(|passage| passage.state != PassageState::Answered);
        let shown = blocks::windows(content, open().flat_map(|passage| &passage.blocks));
        open().any(|passage| passage.blocks.iter().any(|block| shown.contains(block)))
    }

    /// An earlier job has answered these passages, and its requirements are recorded.
    pub(crate) fn carry(&mut self, carried: &[CarriedPassage], step: i64) {
        for CarriedPassage { number, from, decisions, is_decided } in carried {
            let passage = self.passages.get_mut(number).filter(|passage| passage.state != PassageState::Answered);
            let Some(passage) = passage else { continue };
            // Quotes alone, of a job that recorded nothing, do not decide here.
            if *is_decided && !(self.records && *from == AnsweredPassage::Citation) {
                passage.decisions.clone_from(decisions);
                passage.answer(AnsweredPassage::Carried, step);
            }
            passage.carried_from = Some(*from);
            self.changed.insert(*number);
        }
        self.recompute_cover(step);
    }

    /// Closes the rest of a read passage, in a job that records no requirements.
    ///
    /// # Errors
    /// One sentence for the model: there is no such passage, or it was not read.
    pub(crate) fn close(&mut self, number: i32, reason: &str, step: i64) -> Result<(), String> {
        let passage = self.passages.get_mut(&number).ok_or_else(|| format!("there is no passage {number}"))?;
        if let Some(why_not) = unread(passage) {
            return Err(why_not);
        }
        if passage.state == PassageState::Read {
            passage.reason = Some(reason.to_string());
            passage.answer(AnsweredPassage::Closed, step);
            self.changed.insert(number);
        }
        Ok(())
    }
}

/// A passage with the same text as before keeps its state. If it was cut the same way, it is the same row. The leads of
/// its candidates also depend on the previous passage.
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
pub(crate) mod tests;
