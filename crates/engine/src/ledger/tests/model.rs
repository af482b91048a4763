//! A reference model of the rules by which requirements decide passages, simple and slow: tests compare the ledger with
//! it.

use std::collections::{BTreeMap, BTreeSet};

/// A sentence by its passage and its number.
pub(super) type Place = (i32, i32);

/// A candidate: its sentence, and the sentences of its leads, in its passage or the previous one, nearest first.
#[derive(Clone, Debug)]
pub(super) struct ModelCandidate {
    pub(super) sentence: i32,
    pub(super) leads: Vec<Place>,
}

/// How a candidate was decided by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// It is not a requirement.
    Why,
    /// It belongs to this requirement.
    In(i32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ModelPassage {
    pub(super) candidates: Vec<ModelCandidate>,
    pub(super) judged: bool,
    pub(super) read: bool,
    pub(super) accounts: BTreeMap<i32, Account>,
    /// The step of the first decision that left something open.
    pub(super) asked: Option<i64>,
    pub(super) decided: Option<i64>,
}

/// The state of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Unread,
    Read,
    Recorded,
    Empty,
    Closed,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) passages: BTreeMap<i32, ModelPassage>,
    /// Active requirements by number: ranges of sentences that their verified quotes touch, in order.
    pub(super) rows: BTreeMap<i32, Vec<(i32, i32, i32)>>,
}

impl Model {
    fn candidate(&self, (passage, sentence): Place) -> Option<&ModelCandidate> {
        self.passages.get(&passage)?.candidates.iter().find(|candidate| candidate.sentence == sentence)
    }

    fn is_lead_of(&self, lead: Place, entry: Place) -> bool {
        self.candidate(entry).is_some_and(|entry| entry.leads.contains(&lead))
    }

    fn candidates(&self) -> BTreeSet<Place> {
        let of = |(number, passage): (&i32, &ModelPassage)| {
            passage.candidates.iter().map(|candidate| (*number, candidate.sentence)).collect::<Vec<_>>()
        };
        self.passages.iter().flat_map(of).collect()
    }

    /// The candidates that a requirement's quotes touch, in the order of the quotes.
    fn touched(&self, row: i32) -> Vec<Place> {
        let mut touched = Vec::new();
        for (passage, from, to) in &self.rows[&row] {
            for sentence in *from..=*to {
                let place = (*passage, sentence);
                if self.candidate(place).is_some() && !touched.contains(&place) {
                    touched.push(place);
                }
            }
        }
        touched
    }

    /// At most two, without leads of lists; a requirement that touches only leads has those.
    pub(super) fn own(&self, row: i32) -> Vec<Place> {
        let touched = self.touched(row);
        let is_lead = |place: &Place| touched.iter().any(|entry| self.is_lead_of(*place, *entry));
        touched.iter().filter(|place| !is_lead(place)).take(2).copied().collect()
    }

    /// Touched candidates beyond these that are open.
    pub(super) fn further(&self, row: i32) -> Vec<Place> {
        let covered = self.covered();
        self.touched(row).into_iter().filter(|place| !covered.contains(place)).collect()
    }

    fn holds(&self, (passage, sentence): Place) -> bool {
        let account = self.passages[&passage].accounts.get(&sentence);
        let touches = |row: &i32| self.rows.contains_key(row) && self.touched(*row).contains(&(passage, sentence));
        matches!(account, Some(Account::In(row)) if touches(row))
    }

    pub(super) fn covered(&self) -> BTreeSet<Place> {
        let mut covered: BTreeSet<Place> = self.rows.keys().flat_map(|row| self.own(*row)).collect();
        covered.extend(self.candidates().into_iter().filter(|place| self.holds(*place)));
        let entries = covered.clone();
        let leads = self.candidates().into_iter();
        covered.extend(leads.filter(|lead| entries.iter().any(|entry| self.is_lead_of(*lead, *entry))));
        covered
    }

    /// Covered candidates that are not the first of a requirement; leads are not counted.
    pub(super) fn merged(&self) -> BTreeSet<Place> {
        let firsts: BTreeSet<Place> = self.rows.keys().filter_map(|row| self.own(*row).first().copied()).collect();
        let seconds = self.rows.keys().filter_map(|row| self.own(*row).get(1).copied());
        let given = self.candidates().into_iter().filter(|place| self.holds(*place));
        seconds.chain(given).filter(|place| !firsts.contains(place)).collect()
    }

    /// Candidates neither covered nor decided by number.
    pub(super) fn open(&self, passage: i32) -> Vec<i32> {
        let covered = self.covered();
        let accounts = &self.passages[&passage].accounts;
        let sentences = self.passages[&passage].candidates.iter().map(|candidate| candidate.sentence);
        let is_open = |s: &i32| !covered.contains(&(passage, *s)) && accounts.get(s) != Some(&Account::Why);
        sentences.filter(is_open).collect()
    }

    pub(super) fn has_requirement(&self, passage: i32) -> bool {
        self.rows.values().flatten().any(|(begins, ..)| *begins == passage)
    }

    pub(super) fn standing(&self, passage: i32) -> Standing {
        let known = &self.passages[&passage];
        match known.decided {
            None if known.read => Standing::Read,
            None => Standing::Unread,
            Some(_) if self.open(passage).is_empty() && self.has_requirement(passage) => Standing::Recorded,
            Some(_) if known.judged && known.candidates.is_empty() && !self.has_requirement(passage) => Standing::Empty,
            Some(_) => Standing::Closed,
        }
    }

    /// Changes the requirements; a passage in which a covered candidate becomes open must be decided again.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.covered();
        change(self);
        let open: BTreeMap<i32, Vec<i32>> = self.passages.keys().map(|number| (*number, self.open(*number))).collect();
        for (number, passage) in &mut self.passages {
            if open[number].iter().any(|sentence| before.contains(&(*number, *sentence))) {
                (passage.decided, passage.asked) = (None, None);
            }
        }
    }

    /// Decides a passage: accounts by number, and an account of all the rest, if its reason is long enough. Returns
    /// whether it is accepted.
    pub(super) fn decide(&mut self, number: i32, by_number: &[(i32, Account)], whole: bool, step: i64) -> bool {
        if !self.passages[&number].read {
            return false;
        }
        for (sentence, account) in by_number {
            let touches = |row: i32| self.rows.contains_key(&row) && self.touched(row).contains(&(number, *sentence));
            let may = match account {
                Account::Why => true,
                Account::In(row) => touches(*row),
            };
            if may && self.open(number).contains(sentence) {
                self.passages.get_mut(&number).expect("it is there").accounts.insert(*sentence, *account);
            }
        }
        let (open, has_requirement) = (self.open(number), self.has_requirement(number));
        let passage = self.passages.get_mut(&number).expect("it is there");
        if passage.decided.is_some() {
            return true;
        }
        let says_what_it_is = passage.judged || has_requirement || whole;
        let is_taken = match open.is_empty() {
            true => says_what_it_is,
            false => whole && passage.asked.is_some_and(|asked| asked < step),
        };
        match is_taken {
            true => _ = passage.decided.get_or_insert(step),
            false if open.is_empty() => {}
            false => _ = passage.asked.get_or_insert(step),
        }
        is_taken
    }

    /// A todo that names the passage is closed: whether the passage is decided then.
    pub(super) fn close_todo(&mut self, number: i32, step: i64) -> bool {
        let (open, has_requirement) = (self.open(number), self.has_requirement(number));
        let passage = self.passages.get_mut(&number).expect("it is there");
        let is_empty = passage.judged && passage.candidates.is_empty();
        if passage.read && open.is_empty() && (has_requirement || is_empty) {
            passage.decided.get_or_insert(step);
        } else if passage.read && !open.is_empty() && passage.decided.is_none() {
            passage.asked.get_or_insert(step);
        }
        passage.decided.is_some()
    }
}

fn plain(sentences: &[i32]) -> ModelPassage {
    let candidates = sentences.iter().map(|sentence| ModelCandidate { sentence: *sentence, leads: Vec::new() });
    ModelPassage { candidates: candidates.collect(), judged: true, read: true, ..ModelPassage::default() }
}

#[test]
fn a_requirement_covers_two_and_names_the_further_ones() {
    let mut model = Model { passages: [(1, plain(&[1, 2, 3, 4]))].into(), ..Model::default() };
    model.rows.insert(1, vec![(1, 2, 4), (1, 1, 1)]);
    assert_eq!(model.covered(), [(1, 2), (1, 3)].into());
    assert_eq!(model.merged(), [(1, 3)].into());
    assert_eq!(model.further(1), [(1, 4), (1, 1)]);
    model.rows.insert(2, vec![(1, 3, 3)]);
    assert_eq!(model.merged(), [].into(), "it has a requirement of its own now");
}

#[test]
fn a_lead_is_covered_with_an_entry_and_not_counted() {
    let entry = |sentence| ModelCandidate { sentence, leads: vec![(1, 1)] };
    let lead = ModelCandidate { sentence: 1, leads: Vec::new() };
    let list = ModelPassage { candidates: vec![lead, entry(2), entry(3), entry(4)], ..plain(&[]) };
    let mut model = Model { passages: [(1, list)].into(), ..Model::default() };
    model.rows.insert(1, vec![(1, 1, 1), (1, 3, 3)]);
    assert_eq!((model.own(1), model.covered()), (vec![(1, 3)], [(1, 1), (1, 3)].into()));
    assert_eq!(model.merged(), [].into());
    model.rows.insert(1, vec![(1, 1, 1)]);
    assert_eq!(model.covered(), [(1, 1)].into(), "quoted alone it is a candidate as any other");
}

#[test]
fn a_decision_by_number_is_taken_at_once_and_any_other_when_it_comes_again() {
    let mut model = Model { passages: [(1, plain(&[1, 2]))].into(), ..Model::default() };
    assert!(model.decide(1, &[(1, Account::Why), (2, Account::Why)], false, 5));
    assert_eq!(model.standing(1), Standing::Closed);
    let mut model = Model { passages: [(1, plain(&[1, 2]))].into(), ..Model::default() };
    assert!(!model.decide(1, &[(1, Account::Why)], true, 5));
    assert!(!model.decide(1, &[], true, 5), "what is left was not read yet");
    assert!(model.decide(1, &[], true, 6));
}

#[test]
fn passages_that_become_open_must_be_decided_again() {
    let mut model = Model { passages: [(1, plain(&[1, 2]))].into(), ..Model::default() };
    model.change(|model| _ = model.rows.insert(1, vec![(1, 1, 2)]));
    assert!(model.decide(1, &[], false, 5));
    assert_eq!(model.standing(1), Standing::Recorded);
    model.change(|model| _ = model.rows.remove(&1));
    assert_eq!(model.standing(1), Standing::Read);
}
