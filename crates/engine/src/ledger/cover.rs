//! Which candidates are covered: a function of the active requirements, in the order of their numbers, and of the
//! decisions that assign a candidate to one.
//!
//! A requirement covers at most two candidates, the first ones that its quotes touch. The second is *merged* unless
//! another requirement has it as its first. The lead of a list is not counted; it is covered together with any entry
//! under it.

use super::{
    Account, Ledger, Passage,
    standing::{Place, Row, Rows},
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum candidates that one requirement covers.
const MOST: usize = 2;

/// The covered candidates.
#[derive(Debug, Default)]
pub(super) struct Cover {
    covered: BTreeSet<Place>,
    firsts: BTreeSet<Place>,
    /// Candidates that requirements cover in addition to their first.
    others: BTreeSet<Place>,
}

impl Cover {
    pub(super) fn of(passages: &BTreeMap<i32, Passage>, rows: &Rows) -> Self {
        let (mut cover, lists) = (Self::default(), Lists(passages));
        for row in rows.values() {
            let own = own(row, &lists);
            cover.firsts.extend(own.first());
            cover.others.extend(own.get(1));
        }
        for passage in passages.values() {
            cover.others.extend(given(passage, rows));
        }
        cover.covered = with_leads(cover.firsts.iter().chain(&cover.others).copied(), &lists);
        cover
    }

    /// What a requirement adds to the candidates that are covered already, in the passages that it affects.
    fn with(row: &Row, passages: &BTreeMap<i32, Passage>, rows: &Rows) -> Self {
        let (lists, touched) = (Lists(passages), row.touched.iter().filter_map(|(number, _)| passages.get(number)));
        let added = own(row, &lists).into_iter().chain(touched.flat_map(|passage| given(passage, rows)));
        Self { covered: with_leads(added, &lists), ..Self::default() }
    }

    pub(super) fn holds(&self, place: Place) -> bool {
        self.covered.contains(&place)
    }

    /// How many covered candidates are not the first of a requirement.
    pub(super) fn merged(&self) -> usize {
        self.others.difference(&self.firsts).count()
    }
}

/// The candidates that a requirement covers by its own quotes, at most two.
fn own(row: &Row, lists: &Lists<'_>) -> Vec<Place> {
    let leads: BTreeSet<Place> = row.touched.iter().flat_map(|place| lists.leads_of(*place)).collect();
    row.touched.iter().filter(|place| !leads.contains(place)).take(MOST).copied().collect()
}

/// Candidates and the leads of their lists.
fn with_leads(places: impl Iterator<Item = Place>, lists: &Lists<'_>) -> BTreeSet<Place> {
    places.flat_map(|place| std::iter::once(place).chain(lists.leads_of(place))).collect()
}

/// The lists of the documents; a list may span two passages.
struct Lists<'a>(&'a BTreeMap<i32, Passage>);

impl<'a> Lists<'a> {
    /// The previous passage of a document.
    fn before(&self, passage: &Passage) -> Option<i32> {
        let is_before = |one: &&Passage| one.ordinal + 1 == passage.ordinal && one.document == passage.document;
        self.0.values().find(is_before).map(|before| before.number)
    }

    /// The leads of the lists that contain a candidate.
    fn leads_of(&self, (number, sentence): Place) -> impl Iterator<Item = Place> + use<'a> {
        let passage = self.0.get(&number);
        let candidate = passage.and_then(|passage| passage.candidate(sentence));
        let before = candidate.filter(|one| !one.leads_before.is_empty()).and_then(|_| self.before(passage?));
        candidate.into_iter().flat_map(move |candidate| {
            let own = candidate.leads.iter().map(move |lead| (number, *lead));
            let of_before =
                before.into_iter().flat_map(|before| candidate.leads_before.iter().map(move |lead| (before, *lead)));
            own.chain(of_before)
        })
    }
}

/// Candidates that decisions assign to requirements whose quotes touch them.
fn given<'a>(passage: &'a Passage, rows: &'a Rows) -> impl Iterator<Item = Place> + 'a {
    passage.decisions.iter().filter_map(move |decision| {
        let place = (passage.number, decision.s);
        let Account::In(row) = decision.account else { return None };
        rows.get(&row)?.touched.contains(&place).then_some(place)
    })
}

impl Ledger {
    /// How many covered candidates are not the first of a requirement.
    pub(crate) fn merged(&self) -> usize {
        if self.records { Cover::of(&self.passages, &self.rows).merged() } else { 0 }
    }

    /// Candidates that a requirement's quotes touch and no requirement covers: passage and candidate of each.
    pub(crate) fn further(&self, number: i32) -> Vec<(i32, &super::Candidate)> {
        let touched = self.rows.get(&number).map_or(&[][..], |row| &row.touched);
        let open = touched.iter().filter_map(|(passage, sentence)| {
            let candidate = self.get(*passage)?.open_candidates().find(|candidate| candidate.sentence == *sentence)?;
            Some((*passage, candidate))
        });
        open.collect()
    }

    /// Recomputes the covered candidates from the active requirements. A passage in which a covered candidate becomes
    /// open must be decided again; passages answered by older rules stay answered.
    pub(super) fn recompute_cover(&mut self, step: i64) {
        self.count_requirements();
        if !self.records {
            return;
        }
        let cover = Cover::of(&self.passages, &self.rows);
        for passage in self.passages.values_mut() {
            if follow(passage, &cover, step) {
                self.changed.insert(passage.number);
            }
        }
    }

    /// The same for a requirement that was added: it covers candidates and uncovers none, so only the passages that it
    /// affects are looked at.
    pub(super) fn add_to_cover(&mut self, number: i32, step: i64) {
        let Some(row) = self.rows.get(&number) else { return };
        for number in &row.begun {
            if let Some(passage) = self.passages.get_mut(number) {
                passage.n_requirements += 1;
                self.changed.insert(*number);
            }
        }
        if !self.records {
            return;
        }
        let mut cover = Cover::with(row, &self.passages, &self.rows);
        let affected: BTreeSet<i32> =
            cover.covered.iter().map(|place| place.0).chain(row.begun.iter().copied()).collect();
        for number in affected {
            let Some(passage) = self.passages.get_mut(&number) else { continue };
            let covered = passage.candidates.iter().filter(|candidate| candidate.cited_step.is_some());
            cover.covered.extend(covered.map(|candidate| (number, candidate.sentence)));
            if follow(passage, &cover, step) {
                self.changed.insert(number);
            }
        }
    }

    /// Counts anew the requirements that begin in each passage.
    fn count_requirements(&mut self) {
        let mut counts: BTreeMap<i32, i32> = BTreeMap::new();
        for number in self.rows.values().flat_map(|row| &row.begun) {
            *counts.entry(*number).or_default() += 1;
        }
        for passage in self.passages.values_mut() {
            let n = counts.get(&passage.number).copied().unwrap_or_default();
            if std::mem::replace(&mut passage.n_requirements, n) != n {
                self.changed.insert(passage.number);
            }
        }
    }
}

/// Brings a passage in line with the covered candidates; returns whether it has changed.
fn follow(passage: &mut Passage, cover: &Cover, step: i64) -> bool {
    let before = passage.clone_of_progress();
    let lost = mark(passage, cover, step);
    if lost && passage.is_held_to_records() {
        passage.reopen(step);
    } else if lost {
        passage.asked_step = None;
    }
    if let Some(by) = outcome_if_decided(passage) {
        passage.answered_by = Some(by);
    }
    before != passage.clone_of_progress()
}

/// Marks the covered candidates; returns whether one became open.
fn mark(passage: &mut Passage, cover: &Cover, step: i64) -> bool {
    let number = passage.number;
    let mut lost = Vec::new();
    for candidate in &mut passage.candidates {
        match (candidate.cited_step, cover.holds((number, candidate.sentence))) {
            (None, true) => candidate.cited_step = Some(step),
            (Some(_), false) => {
                candidate.cited_step = None;
                lost.push(candidate.sentence);
            }
            (Some(_), true) | (None, false) => {}
        }
    }
    lost.into_iter().any(|sentence| !passage.is_closed(sentence))
}

/// What answers a decided passage.
fn outcome_if_decided(passage: &Passage) -> Option<super::AnsweredPassage> {
    let is_own = passage.decided_step.is_some() && passage.answered_by != Some(super::AnsweredPassage::Carried);
    is_own.then(|| passage.outcome())
}
