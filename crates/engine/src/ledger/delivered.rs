//! The candidates of a job that records no requirements: a quote in a delivered file answers them, a citation alone
//! only marks them as seen.

use super::{Candidate, Ledger, Passage, PassageState, Touched};

impl Ledger {
    /// A citation touches these sentences: they were seen. If requirements decide, a quote alone has no effect.
    pub(crate) fn cited(&mut self, touched: &[Touched], step: i64) {
        if self.records {
            return;
        }
        for place in touched.iter().filter(|place| !place.is_too_long()) {
            let Some(passage) = self.passages.get_mut(&place.passage) else { continue };
            let is_newly_seen =
                |candidate: &&mut Candidate| candidate.seen_step.is_none() && place.holds(candidate.sentence);
            let mut newly = passage.candidates.iter_mut().filter(is_newly_seen).peekable();
            if newly.peek().is_some() {
                newly.for_each(|candidate| candidate.seen_step = Some(step));
                self.changed.insert(place.passage);
            }
        }
    }

    /// The quotes of the delivered files touch exactly these sentences: quotes that answered a passage may be gone.
    pub(crate) fn delivered(&mut self, touched: &[Touched], step: i64) {
        if self.records {
            return;
        }
        for passage in self.passages.values_mut() {
            let in_it = || touched.iter().filter(|place| place.passage == passage.number && !place.is_too_long());
            let are_touched: Vec<bool> =
                passage.candidates.iter().map(|one| in_it().any(|place| place.holds(one.sentence))).collect();
            let before = passage.clone_of_progress();
            if mark(passage, &are_touched, step) && passage.answered_by == Some(super::AnsweredPassage::Citation) {
                passage.reopen(step);
            }
            passage.settle(step);
            if before != passage.clone_of_progress() {
                self.changed.insert(passage.number);
            }
        }
    }
}

/// Marks the touched candidates; returns whether one is no longer touched.
fn mark(passage: &mut Passage, are_touched: &[bool], step: i64) -> bool {
    let mut is_lost = false;
    for (candidate, is_touched) in passage.candidates.iter_mut().zip(are_touched) {
        is_lost |= candidate.cited_step.is_some() && !is_touched;
        candidate.cited_step = is_touched.then(|| candidate.cited_step.unwrap_or(step));
    }
    is_lost
}

impl Touched {
    fn holds(&self, sentence: i32) -> bool {
        (self.from..=self.to).contains(&sentence)
    }
}

impl Passage {
    /// Whether work on it is left: a job that records no requirements has none left on passages that were read and
    /// cited, although they are answered only once the quotes are in a delivered file.
    pub(super) fn is_left(&self, records: bool) -> bool {
        let is_seen = || self.state == PassageState::Read && self.judged && self.unseen_candidates().next().is_none();
        self.state != PassageState::Answered && self.has_text() && (records || !is_seen())
    }
}
