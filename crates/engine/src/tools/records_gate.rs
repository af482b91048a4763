//! The completion gate for jobs that record requirements: without any record, with nearly everything closed, or with
//! requirements that differ from their quotes.
//!
//! If the model gives a reason for each candidate by its number, the job goes into review, and a person decides.
//! Otherwise the model reads once which candidates are not decided, and the job fails at the next attempt to complete.

use super::Told;
use crate::{
    JobError, Passage, PassageState, Run, StandingRequirement, State, beginning,
    comparison::{Compared, NEEDS_LOOK, Reason, TRANSLATED},
    ledger::{Covered, worst_of},
};

/// Maximum requirements listed.
const MOST_NAMED: usize = 10;
/// Maximum characters quoted of a text or a quote.
const MOST_WORDS: usize = 120;

/// Why a job is not completed.
pub(super) enum Held {
    /// What is to be done about it, said once.
    Refused(Told, String),
    /// It has failed: an earlier refusal said it.
    Failed(JobError),
}

/// Whether a job ends with nothing recorded although there are candidates, or passages that the scan cannot judge,
/// because each candidate was decided by number, each unjudged passage by a reason.
///
/// # Errors
/// What is not decided by number.
pub(super) fn nothing_recorded(run: &Run) -> Result<bool, Held> {
    let Covered { candidates, open, .. } = run.ledger().covered();
    let not_judged = || run.ledger().all().filter(|passage| !passage.judged);
    if !run.ledger().records()
        || run.ledger().standing().count() > 0
        || (candidates == 0 && not_judged().next().is_none())
    {
        return Ok(false);
    }
    let is_decided = |passage: &&Passage| match passage.judged {
        true => passage.open_candidates().next().is_none(),
        false => passage.state == PassageState::Answered && passage.open_candidates().next().is_none(),
    };
    let left: Vec<&Passage> = run.ledger().all().filter(|passage| !is_decided(passage)).collect();
    if left.is_empty() {
        return Ok(true);
    }
    let left_over = match open {
        0 => format!("{} of {} passages that are not judged have no reason", left.len(), not_judged().count()),
        _ => format!("{open} of {candidates} candidate sentences are not decided by their numbers"),
    };
    let sentence = format!("no requirement is recorded, and {left_over}");
    Err(match was_told(run.state(), run.state().guards.told_nothing_recorded) {
        true => Held::Failed(JobError::new("nothing_recorded", sentence)),
        false => Held::Refused(
            |guards| &mut guards.told_nothing_recorded,
            format!(
                "the job is not complete: {sentence}:\n{}\nRecord what obliges somebody in another phase (todo_write), or say of \
                 each by its number why it is no requirement (close_passages with s). Called again as it is, the job ends as failed.",
                worst_of(left)
            ),
        ),
    })
}

/// Checks, once, that a job that judges requirements has judged those that waited for it, unless `next_requirement` has
/// said that none waits any more. It may end all the same, and its headline names how many it left.
pub(super) fn not_judged(run: &Run) -> Option<(Told, String)> {
    let judged = run.state().judged;
    let left = judged.left();
    if left == 0 || !run.settings().judges_requirements() || was_told(run.state(), run.state().guards.told_not_judged) {
        return None;
    }
    let told = format!(
        "the job is not complete: {left} of {} requirements that waited for it are not judged. Judge them in another phase \
         (todo_write) until next_requirement says that none is pending; called again, job_complete leaves them.",
        judged.waited
    );
    Some((|guards| &mut guards.told_not_judged, told))
}

/// Whether an earlier answer was refused for it.
fn was_told(state: &State, told: Option<i64>) -> bool {
    told.is_some_and(|told| told < state.answer_at_hand())
}

/// Why a job goes into review regardless of its `autonomy`: it closed its candidates one by one, and too many for a job
/// that recorded requirements.
pub(super) fn review_reason(run: &Run, is_decided: bool) -> Option<String> {
    let covered = run.ledger().covered();
    let (closed, candidates) = (covered.closed_by_number, covered.candidates);
    if is_decided {
        return Some(format!("no requirement was recorded: {closed} candidate sentences were closed one by one"));
    }
    (is_closed_too_much(run) && covered.open == 0 && run.ledger().records())
        .then(|| format!("{closed} of {candidates} candidate sentences were closed one by one"))
}

/// Checks that not too many requirements need a look.
///
/// # Errors
/// The worst of them.
pub(super) fn not_supported(run: &Run) -> Result<(), Held> {
    let Some(bounds) = run.settings().coverage.filter(|_| run.ledger().records()) else { return Ok(()) };
    let standing = run.ledger().standing().count();
    let mut suspect: Vec<Suspect<'_>> =
        run.ledger().standing().filter(|standing| standing.is_tagged(NEEDS_LOOK)).map(Suspect::of).collect();
    let share = suspect.len() as f64 / standing.max(1) as f64;
    if share <= bounds.unsupported {
        return Ok(());
    }
    let sentence = format!(
        "{} of {standing} requirements need a look: their texts say what their quotes do not, a share of {share:.2} where at most {} \
         is allowed (coverage_settings.unsupported)",
        suspect.len(),
        bounds.unsupported
    );
    suspect.sort_by(|one, other| one.share.total_cmp(&other.share));
    let named: Vec<String> = suspect.iter().take(MOST_NAMED).map(Suspect::line).collect();
    Err(match was_told(run.state(), run.state().guards.told_not_supported) {
        true => Held::Failed(JobError::new("not_supported", sentence)),
        false => Held::Refused(
            |guards| &mut guards.told_not_supported,
            format!(
                "the job is not complete: {sentence}. The worst:\n{}\nPut each right in another phase (todo_write): say what its \
                 quotes say (update_requirement), or take it back (withdraw_requirement). Called again as it is, the job ends as failed.",
                named.join("\n")
            ),
        ),
    })
}

/// A requirement that needs a look.
struct Suspect<'a> {
    standing: &'a StandingRequirement,
    reasons: Vec<Reason>,
    /// The share of its content words that occur in its quotes; negative without a quote.
    share: f64,
}

impl<'a> Suspect<'a> {
    fn of(standing: &'a StandingRequirement) -> Self {
        let compared = Compared {
            text: standing.text.to_string(),
            quotes: standing.quotes.iter().map(|quote| quote.words.to_string()).collect(),
            translated: standing.is_tagged(TRANSLATED),
            has_sources: true,
            ..Compared::default()
        };
        let reasons = compared.reasons();
        let share = match reasons.first() {
            Some(Reason::NoQuote) => -1.0,
            Some(Reason::Words { found, of }) => *found as f64 / (*of).max(1) as f64,
            _ => 1.0,
        };
        Self { standing, reasons, share }
    }

    /// `- r12 "Everybody must …": 1 of its 6 content words occur where it quotes. It quotes "The fund …"`
    fn line(&self) -> String {
        let StandingRequirement { number, text, quotes, .. } = self.standing;
        let reasons: Vec<String> = self.reasons.iter().map(ToString::to_string).collect();
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        let quote = quotes
            .first()
            .map_or_else(String::new, |quote| format!(". It quotes \"{}\"", beginning(&quote.words, MOST_WORDS)));
        format!("- r{number} \"{}\"{why}{quote}", beginning(text, MOST_WORDS))
    }
}

/// Whether too many passages were answered with hardly any of their candidates covered.
pub(super) fn is_closed_too_much(run: &Run) -> bool {
    let most = run.settings().coverage.map_or(1.0, |bounds| bounds.max_closed);
    run.ledger().counts().hardly_covered().1 > most
}
