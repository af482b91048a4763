//! A passage, its candidate sentences, and its state.

use super::Block;
use serde::{Deserialize, Serialize};

/// Maximum sentences that one quote answers for. A quote of a whole passage does not distinguish its obligations.
pub const LONGEST_QUOTE: i32 = 6;

/// Minimum length of a reason for the rest of a passage, in characters.
pub const SHORTEST_REASON: usize = 15;

/// Whether a text is a reason for the rest of a passage: long enough, and letters or digits for half of that length. Dots
/// are none.
pub fn is_reason(text: &str) -> bool {
    text.trim().chars().count() >= SHORTEST_REASON
        && text.chars().filter(|c| c.is_alphanumeric()).count() > SHORTEST_REASON / 2
}

/// One passage of a document: a row of `passages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its number, unique in the job: the number of its chunk's file.
    pub number: i32,
    /// The document, a path under `input/`.
    pub document: String,
    /// Its place in the document, from 1 without gaps.
    pub ordinal: i32,
    /// The pages it begins and ends on, where the format has pages.
    pub pages: Option<(i32, i32)>,
    /// SHA-256 of its text.
    pub sha256: [u8; 32],
    /// The file with its text; none if the text cannot be extracted, and then it can never be read.
    pub chunk_path: Option<String>,
    /// The step that cut it.
    pub cut_step: i64,
    /// Its text as blocks, by which shown text is recognized.
    pub blocks: Vec<Block>,
    /// The blocks that no result has shown yet.
    pub unseen: Vec<Block>,
    /// How many sentences begin in it.
    pub n_sentences: i32,
    /// How many of them the scan has no rules for.
    pub n_not_judged: i32,
    /// How many active requirements have a verified quote that begins in it.
    pub n_requirements: i32,
    /// Its candidate sentences: those that probably state an obligation.
    pub candidates: Vec<Candidate>,
    /// Whether the scan has rules for all of its text. Finding nothing in another language, in verbatim text or in
    /// undecoded text proves nothing, so such a passage needs a reason that says what it is.
    pub judged: bool,
    /// The candidates decided by number.
    pub decisions: Vec<Decision>,
    /// Its state.
    pub state: PassageState,
    /// What answered it.
    pub answered_by: Option<AnsweredPassage>,
    /// What answered it in an earlier job, for a chain of jobs in the first: it is carried over from there. On a
    /// passage that is not answered: older rules answered it there, and the work is repeated.
    pub carried_from: Option<AnsweredPassage>,
    /// The step that showed its last unread part.
    pub read_step: Option<i64>,
    /// The step that answered it.
    pub answered_step: Option<i64>,
    /// The step of the decision that answered it; none if older rules did, which counted quotes.
    pub decided_step: Option<i64>,
    /// The step of the first decision that left something open; its result named what is open.
    pub asked_step: Option<i64>,
    /// The model's reason, if it was closed; the parser's, if its text cannot be extracted.
    pub reason: Option<String>,
}

/// A sentence of a passage that probably states an obligation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its number among the sentences of the passage, from 1.
    pub sentence: i32,
    /// Its text.
    pub text: String,
    /// The candidates of the passage whose lists contain it as an entry, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<i32>,
    /// The same in the previous passage of its document, whose last list continues here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads_before: Vec<i32>,
    /// The step since which it is covered: by an active requirement if the job records requirements, otherwise by a
    /// verified quote in a delivered file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited_step: Option<i64>,
    /// The step of its first citation, in a job that records no requirements: it was seen, but is not delivered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_step: Option<i64>,
}

/// A candidate decided by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Its number among the sentences of the passage.
    pub s: i32,
    /// Its account.
    #[serde(flatten)]
    pub account: Account,
    /// The step that decided it.
    pub step: i64,
}

/// How a decision accounts for a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// It is not a requirement, for this reason.
    Why(String),
    /// It belongs to the requirement of this number, whose quotes touch it.
    In(i32),
}

/// The state of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageState {
    /// Not all of its text was shown.
    Unread,
    /// All of its text was shown; it is not decided yet.
    Read,
    /// It was decided.
    Answered,
}

/// What answered a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredPassage {
    /// It was decided, nothing in it is open, and an active requirement begins in it.
    Recorded,
    /// Verified quotes in delivered files touch each of its candidates.
    Citation,
    /// It has no candidates, and no requirement begins in it.
    Empty,
    /// It was decided in any other way.
    Closed,
    /// An earlier job over the same text.
    Carried,
}

/// A document cut into passages; replaces its earlier passages.
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
    /// Whether the quote spans more sentences than it can answer for.
    pub fn is_too_long(&self) -> bool {
        self.to.saturating_sub(self.from) >= LONGEST_QUOTE
    }
}

impl Passage {
    /// A passage with only its place, unread and without a text.
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
            n_sentences: 0,
            n_not_judged: 0,
            n_requirements: 0,
            candidates: Vec::new(),
            judged: true,
            decisions: Vec::new(),
            state: PassageState::Unread,
            answered_by: None,
            carried_from: None,
            read_step: None,
            answered_step: None,
            decided_step: None,
            asked_step: None,
            reason: None,
        }
    }

    /// The candidates neither covered nor decided by number.
    pub fn open_candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|candidate| candidate.cited_step.is_none() && !self.is_closed(candidate.sentence))
    }

    /// The open candidates that no citation touches.
    pub fn unseen_candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.open_candidates().filter(|candidate| candidate.seen_step.is_none())
    }

    /// How many of its candidates are covered.
    pub fn n_covered(&self) -> usize {
        self.candidates.iter().filter(|candidate| candidate.cited_step.is_some()).count()
    }

    /// Whether a sentence was decided, by its number, to be no requirement.
    pub(crate) fn is_closed(&self, sentence: i32) -> bool {
        self.decisions.iter().any(|decision| decision.s == sentence && matches!(decision.account, Account::Why(_)))
    }

    /// The candidate of this number.
    pub(crate) fn candidate(&self, sentence: i32) -> Option<&Candidate> {
        let at = self.candidates.binary_search_by_key(&sentence, |candidate| candidate.sentence).ok()?;
        self.candidates.get(at)
    }

    /// Whether an active requirement has a verified quote that begins in it.
    pub(super) fn has_requirement(&self) -> bool {
        self.n_requirements > 0
    }

    /// Whether its text could be extracted.
    pub fn has_text(&self) -> bool {
        self.chunk_path.is_some()
    }

    /// Marks it as read once all of it was shown.
    pub(super) fn note_read(&mut self, step: i64) {
        if self.state == PassageState::Unread && self.has_text() && self.unseen.is_empty() {
            (self.state, self.read_step) = (PassageState::Read, Some(step));
        }
    }

    /// Advances its state as far as possible, in a job that records no requirements.
    pub(super) fn settle(&mut self, step: i64) {
        self.note_read(step);
        if self.state == PassageState::Read && self.judged && self.open_candidates().next().is_none() {
            let by = if self.candidates.is_empty() { AnsweredPassage::Empty } else { AnsweredPassage::Citation };
            self.answer(by, step);
        }
    }

    pub(super) fn answer(&mut self, by: AnsweredPassage, step: i64) {
        (self.state, self.answered_by) = (PassageState::Answered, Some(by));
        (self.answered_step, self.decided_step, self.carried_from) = (Some(step), Some(step), None);
    }

    /// It must be decided again: a covered candidate has become open.
    pub(super) fn reopen(&mut self, step: i64) {
        // Of one that is not answered it says that older rules answered it, until it is decided.
        if self.state == PassageState::Answered {
            self.carried_from = None;
        }
        (self.answered_by, self.answered_step, self.decided_step) = (None, None, None);
        (self.asked_step, self.reason) = (None, None);
        self.state = PassageState::Unread;
        match self.read_step {
            Some(_) => self.state = PassageState::Read,
            None => self.note_read(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_reason;

    #[test]
    fn a_reason_has_words() {
        for reason in ["it binds no one", "Begriffsbestimmung", "  §§ 1 to 3 define terms  "] {
            assert!(is_reason(reason), "{reason}");
        }
        for reason in
            ["no duty", ". . . . . . . . . .", "-------------------", "               ", "n/a ..............."]
        {
            assert!(!is_reason(reason), "{reason}");
        }
    }
}
