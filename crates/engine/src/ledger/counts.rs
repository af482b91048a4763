//! Counts of passages and sentences by state.

use super::{AnsweredPassage, Ledger, Passage, PassageState};
use serde::Serialize;
use std::collections::BTreeSet;

/// A passage counts as closed without a requirement if fewer than one in this many of its candidates are covered: one
/// quote does not justify closing the rest.
const HARDLY_COVERED: usize = 4;

/// Passages by state: `passages` of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) total: usize,
    pub(crate) unread: usize,
    pub(crate) read: usize,
    pub(crate) answered: usize,
    pub(crate) cited: usize,
    pub(crate) empty: usize,
    pub(crate) closed: usize,
    pub(crate) not_judged: usize,
    #[serde(skip)]
    pub(crate) without_text: usize,
    #[serde(skip)]
    with_candidates: usize,
    #[serde(skip)]
    hardly_covered: usize,
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
        self.not_judged += usize::from(!passage.judged);
        self.with_candidates += usize::from(!passage.candidates.is_empty());
        self.hardly_covered += usize::from(is_hardly_covered(passage));
        // A carried-over passage counts by what answered it in the earlier job.
        let by = match passage.answered_by {
            Some(AnsweredPassage::Carried) => passage.carried_from.or(passage.answered_by),
            by => by,
        };
        match by {
            Some(AnsweredPassage::Recorded | AnsweredPassage::Citation | AnsweredPassage::Carried) => self.cited += 1,
            Some(AnsweredPassage::Empty) => self.empty += 1,
            Some(AnsweredPassage::Closed) => self.closed += 1,
            None => {}
        }
    }

    /// The share of passages that are answered, rounded down to four places: 1 only if all are.
    pub(crate) fn share(&self) -> f64 {
        (self.answered * 10_000 / self.total.max(1)) as f64 / 10_000.0
    }

    /// The same for passages with text: a model cannot answer the others.
    pub(crate) fn share_of_text(&self) -> f64 {
        (self.answered * 10_000 / (self.total - self.without_text).max(1)) as f64 / 10_000.0
    }

    /// How many passages were answered with hardly any of their candidates covered, and their share of the passages
    /// with candidates.
    pub(crate) fn hardly_covered(&self) -> (usize, f64) {
        (self.hardly_covered, self.hardly_covered as f64 / self.with_candidates.max(1) as f64)
    }
}

/// Whether a passage was answered with hardly any of its candidates covered. In passages answered by quotes, by older
/// rules or in a job that records nothing, all candidates were quoted.
fn is_hardly_covered(passage: &Passage) -> bool {
    let by =
        if passage.answered_by == Some(AnsweredPassage::Carried) { passage.carried_from } else { passage.answered_by };
    by.is_some_and(|by| !matches!(by, AnsweredPassage::Citation | AnsweredPassage::Carried))
        && passage.n_covered() * HARDLY_COVERED < passage.candidates.len()
}

/// The candidates and sentences of a job's documents by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered {
    /// Candidates.
    pub(crate) candidates: usize,
    /// Of these, those covered by an active requirement.
    pub(crate) covered: usize,
    /// Of these, those that are not the first candidate of a requirement: one requirement covers several.
    pub(crate) merged: usize,
    /// Candidates that are not covered and were decided by number.
    pub(crate) closed_by_number: usize,
    /// Candidates that are neither covered nor decided.
    pub(crate) open: usize,
    /// Sentences.
    pub(crate) sentences: usize,
    /// Of these, those that a verified quote of an active requirement touches.
    pub(crate) sentences_quoted: usize,
    /// Of these, those for which the scan has no rules.
    pub(crate) sentences_not_judged: usize,
}

impl Ledger {
    /// Counts passages by state.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for passage in self.all() {
            counts.take(passage);
        }
        counts
    }

    /// Counts candidates and sentences by state.
    pub(crate) fn covered(&self) -> Covered {
        let mut covered = Covered { merged: self.merged(), ..Covered::default() };
        for passage in self.all() {
            covered.candidates += passage.candidates.len();
            covered.covered += passage.n_covered();
            covered.open += passage.open_candidates().count();
            covered.sentences += usize::try_from(passage.n_sentences).unwrap_or(0);
            covered.sentences_not_judged += usize::try_from(passage.n_not_judged).unwrap_or(0);
        }
        covered.closed_by_number = covered.candidates - covered.covered - covered.open;
        covered.sentences_quoted = self.sentences_quoted().len();
        covered
    }

    /// How many passages were read, and how many answered, together: for comparison with a later count.
    pub(crate) fn passages_worked(&self) -> u32 {
        let steps = |passage: &Passage| match passage.state {
            PassageState::Unread => 0,
            PassageState::Read => 1,
            PassageState::Answered => 2,
        };
        self.all().map(steps).sum()
    }

    /// Candidates that are not open, sentences quoted, and requirements that quote no passage, together: for comparison with
    /// a later count.
    pub(crate) fn sentences_worked(&self) -> u32 {
        let decided = |passage: &Passage| passage.candidates.len() - passage.open_candidates().count();
        let elsewhere = self.rows.values().filter(|row| row.first.is_none()).count();
        let worked = self.all().map(decided).sum::<usize>() + self.sentences_quoted().len() + elsewhere;
        u32::try_from(worked).unwrap_or(u32::MAX)
    }

    /// How many requirements are active.
    pub(crate) fn active(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    fn sentences_quoted(&self) -> BTreeSet<(i32, i32)> {
        let places = self.standing().flat_map(|requirement| &requirement.quotes).flat_map(|quote| &quote.places);
        let is_there = |place: &(i32, i32)| self.get(place.0).is_some_and(|passage| place.1 <= passage.n_sentences);
        let sentences = places.flat_map(|place| (place.from..=place.to).map(|sentence| (place.passage, sentence)));
        sentences.filter(is_there).collect()
    }

    /// "12 of 40 passages are answered, 20 are unread."
    pub(crate) fn progress_in_words(&self) -> String {
        let Counts { total, unread, answered, .. } = self.counts();
        format!("{answered} of {total} passages are answered, {unread} are unread.")
    }
}
