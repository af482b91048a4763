//! The end of a job whose requirements decide: one that recorded nothing, and one that closed nearly everything.
//!
//! A model that gives a reason for each candidate by its number has looked at each; the job goes into review, and a person decides.
//! A model that does not reads once what is not decided, and a job that asks for its end again fails.

use super::todo_complete::answer_at_hand;
use crate::{
    JobError, Passage, PassageState, Run,
    ledger::{Covered, worst_of},
};

/// What is to be said at the end of a job that has recorded nothing.
pub(super) enum Nothing {
    /// It has recorded something, or there was nothing to record.
    Else,
    /// Each candidate was decided by its number, each passage that is not judged by a reason.
    Decided,
    /// It has failed: it was told before what is not decided.
    Failed(JobError),
}

/// Whether a job ends with nothing recorded although there are candidates, or passages that the scan cannot judge.
///
/// # Errors
/// What is not decided by its number, once.
pub(super) fn nothing_recorded(run: &mut Run) -> Result<Nothing, String> {
    let Covered { candidates, open, .. } = run.ledger.covered();
    let not_judged = || run.ledger.all().filter(|passage| !passage.judged);
    if !run.ledger.records() || run.requirements() > 0 || (candidates == 0 && not_judged().next().is_none()) {
        return Ok(Nothing::Else);
    }
    let is_decided = |passage: &&Passage| match passage.judged {
        true => passage.open_candidates().next().is_none(),
        false => passage.state == PassageState::Answered && passage.open_candidates().next().is_none(),
    };
    let left: Vec<&Passage> = run.ledger.all().filter(|passage| !is_decided(passage)).collect();
    if left.is_empty() {
        return Ok(Nothing::Decided);
    }
    let sentence = format!(
        "no requirement is recorded, and {open} of {candidates} candidate sentences are not decided by their numbers"
    );
    let answer = answer_at_hand(run);
    let (named, told) = (worst_of(left), *run.state.guards.told_nothing_recorded.get_or_insert(answer));
    match told < answer {
        true => Ok(Nothing::Failed(JobError::new("nothing_recorded", sentence))),
        false => Err(format!(
            "the job is not complete: {sentence}:\n{named}\nRecord what obliges somebody in another phase (todo_write), or say of \
             each by its number why it is no requirement (close_passages with s). Called again as it is, the job ends as failed."
        )),
    }
}

/// Why a job goes into review whatever its `autonomy`: it closed its candidates one by one, too many of them for a job that
/// recorded some.
pub(super) fn review_reason(run: &Run, nothing: &Nothing) -> Option<String> {
    let covered = run.ledger.covered();
    let (closed, candidates) = (covered.closed_by_number, covered.candidates);
    match nothing {
        Nothing::Decided => {
            Some(format!("no requirement was recorded: {closed} candidate sentences were closed one by one"))
        }
        Nothing::Else if is_closed_too_much(run) && covered.open == 0 && run.ledger.records() => {
            Some(format!("{closed} of {candidates} candidate sentences were closed one by one"))
        }
        Nothing::Else | Nothing::Failed(_) => None,
    }
}

/// Whether more passages than may be were answered with hardly any of their candidates covered.
pub(super) fn is_closed_too_much(run: &Run) -> bool {
    let most = run.settings.coverage.map_or(1.0, |bounds| bounds.max_closed);
    run.ledger.counts().hardly_covered().1 > most
}
