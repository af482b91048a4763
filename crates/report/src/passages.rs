//! The state of each passage, shown at the top of its pages.

use plumbline_engine::{AnsweredPassage, Passage, PassageState};
use serde::Serialize;

/// Maximum candidate sentences without a quote that are listed per passage.
const MOST_OPEN: usize = 50;

/// The view of a passage.
#[derive(Clone, Serialize)]
pub(crate) struct PassageLine {
    number: i32,
    #[serde(skip)]
    pub(crate) pages: Option<(i32, i32)>,
    state: PassageState,
    /// Its state in words.
    words: String,
    reason: Option<String>,
    candidates: usize,
    /// Candidates without a quote.
    n_open: usize,
    open: Vec<String>,
    more_open: usize,
}

impl PassageLine {
    pub(crate) fn of(passage: &Passage) -> Self {
        let n_open = passage.open_candidates().count();
        Self {
            n_open,
            number: passage.number,
            pages: passage.pages,
            state: passage.state,
            words: words(passage).to_owned(),
            reason: passage.reason.clone(),
            candidates: passage.candidates.len(),
            open: passage.open_candidates().take(MOST_OPEN).map(|candidate| candidate.text.clone()).collect(),
            more_open: n_open.saturating_sub(MOST_OPEN),
        }
    }

    /// Whether something in it is not answered.
    pub(crate) fn is_open(&self) -> bool {
        self.state != PassageState::Answered
    }

    /// Its view on a page: its open candidates are listed on its first page. None if it is not on that page; a document
    /// without pages counts as one page.
    pub(crate) fn on_page(&self, page: Option<i32>) -> Option<Self> {
        let (Some((first, last)), Some(page)) = (self.pages, page) else { return Some(self.clone()) };
        let mut line = self.clone();
        if page != first {
            (line.open, line.more_open) = (Vec::new(), 0);
        }
        (first..=last).contains(&page).then_some(line)
    }
}

fn words(passage: &Passage) -> &'static str {
    match (passage.state, passage.answered_by) {
        (PassageState::Unread, _) => "not read to its end",
        (PassageState::Read, _) if !passage.judged => "read, not judged, and not closed",
        (PassageState::Read, _) => "read, and not answered",
        (PassageState::Answered, Some(AnsweredPassage::Recorded)) => "answered by requirements",
        (PassageState::Answered, Some(AnsweredPassage::Citation)) => "answered by quotes",
        (PassageState::Answered, Some(AnsweredPassage::Empty)) => "read; it has no candidate sentences",
        (PassageState::Answered, Some(AnsweredPassage::Closed)) => "closed with a reason",
        (PassageState::Answered, Some(AnsweredPassage::Carried)) => "carried over from an earlier job",
        (PassageState::Answered, None) => "answered",
    }
}

/// Passages of a document, or of all, in numbers.
#[derive(Default, Serialize)]
pub(crate) struct Counts {
    passages: usize,
    unread: usize,
    read: usize,
    answered: usize,
    candidates: usize,
    cited: usize,
}

impl Counts {
    pub(crate) fn of<'a>(passages: impl Iterator<Item = &'a Passage>) -> Self {
        let mut counts = Self::default();
        for passage in passages {
            counts.passages += 1;
            match passage.state {
                PassageState::Unread => counts.unread += 1,
                PassageState::Read => counts.read += 1,
                PassageState::Answered => counts.answered += 1,
            }
            counts.candidates += passage.candidates.len();
            counts.cited += passage.n_covered();
        }
        counts
    }
}
