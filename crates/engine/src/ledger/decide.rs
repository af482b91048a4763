//! Decides passages: by a reason for each open candidate, by a reason for all remaining ones, by closing a todo.

use super::{Account, AnsweredPassage, Candidate, Decision, Ledger, Passage, PassageState, SHORTEST_REASON, is_reason};
use crate::phase::number_list::as_list;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A decision on a passage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageDecision {
    /// The passage's number.
    pub passage: i32,
    /// The accounts of candidates, by their numbers.
    pub by_number: Vec<(i32, Account)>,
    /// Why the rest of it contains no requirement.
    pub why: Option<String>,
    /// Whether the passage is to be decided; otherwise the open candidates are reported.
    pub decides: bool,
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Whether it decided the passage.
    pub(crate) is_taken: bool,
    /// The text for the model: a sentence without its full stop.
    pub(crate) said: String,
}

impl Passage {
    /// What answers it once it is decided.
    pub(super) fn outcome(&self) -> AnsweredPassage {
        let nothing_is_open = self.open_candidates().next().is_none();
        match self.has_requirement() {
            true if nothing_is_open => AnsweredPassage::Recorded,
            false if self.judged && self.candidates.is_empty() => AnsweredPassage::Empty,
            true | false => AnsweredPassage::Closed,
        }
    }

    /// Whether it is reopened when a candidate becomes open: not if older rules answered it.
    pub(super) fn is_held_to_records(&self) -> bool {
        self.state != PassageState::Answered || self.decided_step.is_some()
    }

    /// The fields that change with requirements.
    pub(super) fn clone_of_progress(&self) -> (Vec<bool>, PassageState, Option<AnsweredPassage>, Option<i64>) {
        let covered = self.candidates.iter().map(|candidate| candidate.cited_step.is_some()).collect();
        (covered, self.state, self.answered_by, self.asked_step)
    }
}

impl Ledger {
    /// Decides a passage, or reports what is open. A decision that accounts for each open candidate is accepted at
    /// once; any other when it is repeated in a later answer, with a reason for the rest.
    pub(crate) fn decide(&mut self, decision: &PassageDecision, step: i64) -> Decided {
        let number = decision.passage;
        let not_taken = |said: String| Decided { is_taken: false, said };
        let Some(passage) = self.get(number) else { return not_taken(format!("there is no passage {number}")) };
        if let Some(why_not) = unread(passage) {
            return not_taken(why_not);
        }
        if !decision.decides {
            let open: Vec<String> = passage.open_candidates().map(super::summary::quoted).collect();
            return not_taken(still_open(number, &open));
        }
        let was_decided = passage.state == PassageState::Answered;
        let mut said = self.account(decision, step);
        let why = decision.why.as_deref().filter(|why| is_reason(why));
        let Some(passage) = self.passages.get_mut(&number) else { return not_taken(said.join("; ")) };
        let open: Vec<String> = passage.open_candidates().map(super::summary::quoted).collect();
        let is_taken = match open.is_empty() {
            true => passage.judged || passage.has_requirement() || why.is_some(),
            false => why.is_some() && passage.asked_step.is_some_and(|asked| asked < step),
        };
        if was_decided {
            said.push(format!("passage {number} was answered already"));
        } else if is_taken {
            self.take(number, why, step);
            said.push(taken(number, &open));
        } else {
            self.changed.insert(number);
            said.push(left_open(passage, &open, step));
        }
        Decided { is_taken: is_taken || was_decided, said: said.join("; ") }
    }

    fn take(&mut self, number: i32, why: Option<&str>, step: i64) {
        let Some(passage) = self.passages.get_mut(&number) else { return };
        let by = passage.outcome();
        passage.reason = why.filter(|_| by == AnsweredPassage::Closed).map(str::to_owned);
        passage.answer(by, step);
        self.changed.insert(number);
    }

    /// Records the decisions on numbered candidates, and reports those that change nothing.
    fn account(&mut self, decision: &PassageDecision, step: i64) -> Vec<String> {
        let number = decision.passage;
        let (mut said, mut not_open) = (Vec::new(), BTreeSet::new());
        for (sentence, account) in &decision.by_number {
            let open = self.get(number).map(|passage| passage.open_candidates().any(|open| open.sentence == *sentence));
            let touches = match account {
                Account::Why(_) => true,
                Account::In(row) => self.rows.get(row).is_some_and(|row| row.touched.contains(&(number, *sentence))),
            };
            match (open, account) {
                (Some(true), _) if touches => {}
                (Some(true), Account::In(row)) => {
                    said.push(format!("sentence {sentence} stays open, for no quote of r{row} touches it"));
                    continue;
                }
                (_, _) => {
                    not_open.insert(*sentence);
                    continue;
                }
            }
            if let Some(passage) = self.passages.get_mut(&number) {
                passage.decisions.retain(|known| known.s != *sentence);
                passage.decisions.push(Decision { s: *sentence, account: account.clone(), step });
                self.changed.insert(number);
            }
            // A candidate assigned to a requirement is covered by it, and so are its leads: neither is open for the
            // accounts that follow.
            if matches!(account, Account::In(_)) {
                self.recompute_cover(step);
            }
        }
        // What answers a passage that is decided already may change with the accounts.
        self.recompute_cover(step);
        if !not_open.is_empty() {
            said.push(format!("nothing changes for {}: not open", as_list(&not_open)));
        }
        said
    }

    /// Closing a todo decides the passages that it names: those with nothing open are answered; for the others the
    /// answer counts as the first request to decide them.
    pub(crate) fn decide_by_todo(&mut self, numbers: &[i32], step: i64) {
        if !self.records {
            return;
        }
        for number in numbers {
            let Some(passage) = self.passages.get_mut(number).filter(|one| one.state == PassageState::Read) else {
                continue;
            };
            let nothing_is_open = passage.open_candidates().next().is_none();
            let is_empty = passage.judged && passage.candidates.is_empty();
            if nothing_is_open && (passage.has_requirement() || is_empty) {
                self.take(*number, None, step);
            } else if !nothing_is_open && passage.asked_step.is_none() {
                passage.asked_step = Some(step);
                self.changed.insert(*number);
            }
        }
    }
}

/// Why a passage that was not read cannot be decided.
pub(super) fn unread(passage: &Passage) -> Option<String> {
    let number = passage.number;
    (passage.state == PassageState::Unread).then(|| match &passage.chunk_path {
        Some(path) => format!("passage {number} was not read to its end; read {path} first"),
        None => format!("passage {number} has no text that could be read; name it in 'undelivered'"),
    })
}

fn still_open(number: i32, open: &[String]) -> String {
    match open.len() {
        0 => format!("nothing of passage {number} is open"),
        n => format!("{n} of passage {number} are open: {}", open.join("; ")),
    }
}

fn taken(number: i32, open: &[String]) -> String {
    match open.len() {
        0 => format!("passage {number} is decided, nothing of it is open"),
        n => format!("passage {number} is closed over {n}: {}", open.join("; ")),
    }
}

/// Reports what a decision leaves open, and records that it was reported.
fn left_open(passage: &mut Passage, open: &[String], step: i64) -> String {
    let number = passage.number;
    if open.is_empty() {
        return format!(
            "passage {number} stays open: the scan has no rules for it and no requirement is recorded from it; say in \
             {SHORTEST_REASON} characters or more what it is"
        );
    }
    passage.asked_step.get_or_insert(step);
    format!(
        "passage {number} stays open over {}: {}. Record what obliges somebody, say of each other one by its number why it is \
         no requirement; or say in your next answer, in {SHORTEST_REASON} characters or more, why none of those left is one",
        open.len(),
        open.join("; ")
    )
}

/// Candidates by number and first words.
pub(crate) fn named(candidates: &[(i32, &Candidate)]) -> String {
    let name =
        |(passage, candidate): &(i32, &Candidate)| format!("passage {passage} {}", super::summary::quoted(candidate));
    candidates.iter().map(name).collect::<Vec<_>>().join("; ")
}
