//! The coverage ledger: which passages of the documents were shown to the model, and what came of each.
//!
//! A document is cut into passages, a row each. A passage is *unread* until the results of tools have shown all of its
//! text, from whatever file and in however many parts ([`blocks()`]); then it is *read*. It is *answered*, and only after it
//! was read, when nothing of it is left open: verified quotes touch each of its candidate sentences, or it has none, or
//! what is left of them was closed with a reason; or an earlier job has answered for the same text. A passage that the scan
//! cannot judge is answered by a closing alone. Nothing of this is taken from what the model says: it follows from the
//! results of tools, in the step that commits them.

mod blocks;
mod summary;
mod text;
mod todos;
mod versions;

pub use blocks::{Block, blocks};
pub(crate) use summary::{MAX_NAMED, Scope, document_lines, reasons_of, worst, worst_of};
pub(crate) use todos::ShownPassage;
pub use versions::{Carried, Previous, Versions};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most sentences that one quote answers for. Who quotes a whole passage has told none of its obligations from another.
pub const LONGEST_QUOTE: i32 = 6;

/// A closed passage counts as closed without a citation where not one in so many of its candidates is cited: one quote is no
/// leave for the rest.
const HARDLY_CITED: usize = 4;

/// Shortest reason for closing a passage, in characters (INTERFACE 9.4).
pub(crate) const SHORTEST_REASON: usize = 15;

/// One passage of a document: a row of `passages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its number, unique in the job: that of its chunk's file.
    pub number: i32,
    /// The document, a path under `input/`.
    pub document: String,
    /// Its place in the document, from 1 without gaps.
    pub ordinal: i32,
    /// The pages it begins and ends on, where the format has pages.
    pub pages: Option<(i32, i32)>,
    /// SHA-256 of its text.
    pub sha256: [u8; 32],
    /// The file with its text; none where the text cannot be had, and then it can never be read.
    pub chunk_path: Option<String>,
    /// The step that cut it.
    pub cut_step: i64,
    /// Its text, as it is recognized when it is shown.
    pub blocks: Vec<Block>,
    /// What of it no result has shown yet.
    pub unseen: Vec<Block>,
    /// Its candidate sentences: those that are likely to oblige somebody.
    pub candidates: Vec<Candidate>,
    /// Whether the scan has rules for all of its text. That it finds nothing in another language, in verbatim text or in what
    /// was not decoded says nothing, so that such a passage is answered by a closing with a reason alone.
    pub judged: bool,
    /// How far it has come.
    pub state: PassageState,
    /// What answered it.
    pub answered_by: Option<AnsweredPassage>,
    /// The step that showed the last of it.
    pub read_step: Option<i64>,
    /// The step that answered it.
    pub answered_step: Option<i64>,
    /// The model's reason, when it was closed; the parser's, when its text cannot be had.
    pub reason: Option<String>,
}

/// A sentence of a passage that is likely to oblige somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its number among the sentences of the passage, from 1.
    pub sentence: i32,
    /// Its words.
    pub text: String,
    /// The step of the first verified quote that touches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited_step: Option<i64>,
}

/// How far a passage has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageState {
    /// Not all of its text was shown.
    Unread,
    /// All of its text was shown; candidates are left, or it could not be judged.
    Read,
    /// Nothing of it is left.
    Answered,
}

/// What answered a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredPassage {
    /// Verified quotes touch each of its candidates.
    Citation,
    /// It has no candidates.
    Empty,
    /// What was left of them was closed with a reason.
    Closed,
    /// An earlier job over the same text.
    Carried,
}

/// A document cut into passages: what was known of them before is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutDocument {
    /// The document, a path under `input/`.
    pub document: String,
    /// Its passages in order, all unread.
    pub passages: Vec<Passage>,
}

/// Sentences of a passage, first and last, that a quote touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The passage's number.
    pub passage: i32,
    /// First sentence, from 1.
    pub from: i32,
    /// Last sentence.
    pub to: i32,
}

impl Touched {
    /// Whether the quote spans more than it can answer for.
    pub fn is_too_long(&self) -> bool {
        self.to.saturating_sub(self.from) >= LONGEST_QUOTE
    }
}

impl Passage {
    /// A passage of which nothing but its place is known, unread and without a text.
    pub fn unread(number: i32, document: impl Into<String>, ordinal: i32) -> Self {
        Self {
            number,
            document: document.into(),
            ordinal,
            pages: None,
            sha256: [0; 32],
            chunk_path: None,
            cut_step: 0,
            blocks: Vec::new(),
            unseen: Vec::new(),
            candidates: Vec::new(),
            judged: true,
            state: PassageState::Unread,
            answered_by: None,
            read_step: None,
            answered_step: None,
            reason: None,
        }
    }

    /// The candidates that no quote touches yet.
    pub fn open_candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.cited_step.is_none())
    }

    /// Whether its text can be had at all.
    pub fn has_text(&self) -> bool {
        self.chunk_path.is_some()
    }

    /// Moves on as far as what is known of it allows.
    fn settle(&mut self, step: i64) {
        if self.state == PassageState::Unread && self.has_text() && self.unseen.is_empty() {
            (self.state, self.read_step) = (PassageState::Read, Some(step));
        }
        if self.state == PassageState::Read && self.judged && self.open_candidates().next().is_none() {
            let by = if self.candidates.is_empty() { AnsweredPassage::Empty } else { AnsweredPassage::Citation };
            self.answer(by, step);
        }
    }

    fn answer(&mut self, by: AnsweredPassage, step: i64) {
        (self.state, self.answered_by, self.answered_step) = (PassageState::Answered, Some(by), Some(step));
    }
}

/// How many passages have come how far: `passages` of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) total: usize,
    pub(crate) unread: usize,
    pub(crate) read: usize,
    pub(crate) answered: usize,
    pub(crate) cited: usize,
    pub(crate) empty: usize,
    pub(crate) closed: usize,
    #[serde(skip)]
    pub(crate) without_text: usize,
    #[serde(skip)]
    with_candidates: usize,
    #[serde(skip)]
    closed_with_candidates: usize,
}

impl Counts {
    fn take(&mut self, passage: &Passage) {
        self.total += 1;
        self.without_text += usize::from(!passage.has_text());
        match passage.state {
            PassageState::Unread => self.unread += 1,
            PassageState::Read => self.read += 1,
            PassageState::Answered => self.answered += 1,
        }
        let has_candidates = !passage.candidates.is_empty();
        self.with_candidates += usize::from(has_candidates);
        match passage.answered_by {
            Some(AnsweredPassage::Citation | AnsweredPassage::Carried) => self.cited += 1,
            Some(AnsweredPassage::Empty) => self.empty += 1,
            Some(AnsweredPassage::Closed) => {
                self.closed += 1;
                let cited = passage.candidates.len() - passage.open_candidates().count();
                let hardly_cited = cited * HARDLY_CITED < passage.candidates.len();
                self.closed_with_candidates += usize::from(has_candidates && hardly_cited);
            }
            None => {}
        }
    }

    /// The share of passages that are answered, rounded down to four places: 1 only if all are.
    pub(crate) fn share(&self) -> f64 {
        (self.answered * 10_000 / self.total.max(1)) as f64 / 10_000.0
    }

    /// The same of the passages that have text: a model cannot answer the others.
    pub(crate) fn share_of_text(&self) -> f64 {
        (self.answered * 10_000 / (self.total - self.without_text).max(1)) as f64 / 10_000.0
    }

    /// Of the passages that have candidates the share that was closed with hardly any citation.
    pub(crate) fn share_closed(&self) -> f64 {
        self.closed_with_candidates as f64 / self.with_candidates.max(1) as f64
    }
}

/// The passages of a job, and which of them the step at hand has changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    passages: BTreeMap<i32, Passage>,
    changed: BTreeSet<i32>,
    dropped: BTreeSet<i32>,
}

impl Ledger {
    pub(crate) fn new(passages: Vec<Passage>) -> Self {
        let passages = passages.into_iter().map(|passage| (passage.number, passage)).collect();
        Self { passages, ..Self::default() }
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

    /// Whether a document has passages.
    pub(crate) fn knows(&self, document: &str) -> bool {
        self.all().any(|passage| passage.document == document)
    }

    /// How many passages have come how far.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for passage in self.all() {
            counts.take(passage);
        }
        counts
    }

    /// "12 of 40 passages are answered, 20 are unread."
    pub(crate) fn progress_in_words(&self) -> String {
        let Counts { total, unread, answered, .. } = self.counts();
        format!("{answered} of {total} passages are answered, {unread} are unread.")
    }

    /// What the step at hand has changed: rows to put, and numbers of rows to delete.
    pub(crate) fn take_changes(&mut self) -> (Vec<Passage>, Vec<i32>) {
        let changed = std::mem::take(&mut self.changed).into_iter();
        let put = changed.filter_map(|number| self.passages.get(&number).cloned()).collect();
        (put, std::mem::take(&mut self.dropped).into_iter().collect())
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
            let mut passage = Passage { cut_step: step, ..passage };
            if let Some(before) = known.get_mut(&passage.sha256).and_then(Vec::pop) {
                // Cut as before, it is the row that it was.
                let cut_step = if before.number == passage.number { before.cut_step } else { step };
                passage.cut_step = cut_step;
                passage = Passage {
                    state: before.state,
                    unseen: before.unseen,
                    candidates: before.candidates,
                    judged: before.judged,
                    ..passage
                };
                passage.answered_by = before.answered_by;
                (passage.read_step, passage.answered_step) = (before.read_step, before.answered_step);
                passage.reason = before.reason.or(passage.reason);
            }
            passage.settle(step);
            self.dropped.remove(&passage.number);
            self.changed.insert(passage.number);
            self.passages.insert(passage.number, passage);
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

    /// A result as the model has seen it: what of the passages' texts it shows is seen.
    pub(crate) fn shown(&mut self, content: &str, step: i64) {
        let unread = || self.passages.values().filter(|passage| !passage.unseen.is_empty());
        let mut lengths: Vec<u8> = unread().flat_map(|passage| &passage.unseen).map(|block| block.words).collect();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.is_empty() {
            return;
        }
        let seen = blocks::windows(content, &lengths);
        for passage in self.passages.values_mut().filter(|passage| !passage.unseen.is_empty()) {
            let before = passage.unseen.len();
            passage.unseen.retain(|block| !seen.contains(block));
            if passage.unseen.len() < before {
                passage.settle(step);
                self.changed.insert(passage.number);
            }
        }
    }

    /// A verified quote touches these sentences.
    pub(crate) fn cited(&mut self, touched: &[Touched], step: i64) {
        for Touched { passage, from, to } in touched.iter().filter(|touched| !touched.is_too_long()) {
            let Some(passage) = self.passages.get_mut(passage) else { continue };
            let touches = |candidate: &&mut Candidate| {
                candidate.cited_step.is_none() && (*from..=*to).contains(&candidate.sentence)
            };
            let newly: Vec<&mut Candidate> = passage.candidates.iter_mut().filter(touches).collect();
            if newly.is_empty() {
                continue;
            }
            newly.into_iter().for_each(|candidate| candidate.cited_step = Some(step));
            passage.settle(step);
            self.changed.insert(passage.number);
        }
    }

    /// An earlier job has answered for these passages.
    pub(crate) fn carry(&mut self, numbers: &[i32], step: i64) {
        for number in numbers {
            let passage = self.passages.get_mut(number).filter(|passage| passage.state != PassageState::Answered);
            if let Some(passage) = passage {
                passage.answer(AnsweredPassage::Carried, step);
                self.changed.insert(*number);
            }
        }
    }

    /// Closes what a read passage has left.
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

#[cfg(test)]
#[allow(dead_code, reason = "the ledger is held against it")]
mod model;
#[cfg(test)]
mod tests;
