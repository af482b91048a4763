//! The heart of the work: the normative sentences of some chunks become requirements.
//!
//! Three kinds of turns, chosen by what the conversation shows: read the chunks; record what is not recorded yet, and close the
//! passages, which is answered with what is open in them; write the findings down, close the passages again and then the
//! todo. A chunk whose text was cleared from the conversation is read again; a requirement is known by its text, so nothing is
//! recorded twice.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::call::{Call, Turn, append, close_passages, read_file, read_lines, todo_complete, turn};
use crate::plan::manifest::chunk_file;
use crate::request_view::pages::body;
use crate::request_view::{Done, RequestView};
use crate::requirement::{self, Pointer, candidates};
use crate::text::{Finding, Numbered, ends_in_mid_sentence, findings};

/// Earlier tries to record a sentence, by its text.
type Tries<'a> = HashMap<&'a str, Vec<&'a Done<'a>>>;

/// How much of the chunk behind is read to complete a sentence, in lines.
const LINES_BEHIND: usize = 20;

/// Why a passage is closed: what is left of its candidate sentences has no word that this model goes by.
const NOTHING_LEFT: &str = "no further sentence of it has a normative word that the rehearsal model knows";

/// The same when it is asked which of those left oblige somebody.
const LOOKED_AGAIN: &str = "each was looked at again, and none has a normative word that the rehearsal model knows";

/// Where one finding stands.
enum Progress<'a> {
    /// To be recorded by this call.
    Open(Call),
    /// Recorded, with this result.
    Recorded(&'a str),
    /// Refused for good.
    Dropped,
}

/// Processes the chunks `numbers`; the findings go to part `part`.
pub(super) fn process(view: &RequestView<'_>, numbers: RangeInclusive<u32>, part: u32) -> Turn {
    let mut reads: Vec<Call> = numbers.clone().map(|number| read_file(&chunk_file(number))).collect();
    let own = reads.len();
    let mut texts = match texts(view, &reads) {
        Some(texts) => texts,
        None => return turn(format!("Reading chunks {}-{}.", numbers.start(), numbers.end()), reads),
    };
    if texts.last().is_some_and(|text| ends_in_mid_sentence(text)) {
        reads.push(read_lines(&chunk_file(numbers.end() + 1), 1, LINES_BEHIND));
        texts = match self::texts(view, &reads) {
            Some(texts) => texts,
            None => return turn("The last chunk ends in mid-sentence; reading on.", reads),
        };
    }
    let passages: Vec<Numbered> = texts.into_iter().map(Numbered::read).collect();
    let findings = findings(&passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>(), own);
    let tries = tries(view);
    let (mut open, mut recorded, mut dropped) = (Vec::new(), String::new(), 0);
    for finding in &findings {
        let pointer = || pointer(finding, *numbers.start(), &passages);
        match progress(finding, pointer, &tries) {
            Progress::Open(call) => open.push(call),
            Progress::Recorded(result) => recorded.push_str(&candidates::line(finding, result)),
            Progress::Dropped => dropped += 1,
        }
    }
    let close = |reason| view.bound("close_passages").then(|| close_passages(numbers.clone(), reason));
    let first_close = close(NOTHING_LEFT).filter(|close| view.result_of(close).is_none());
    if !open.is_empty() || first_close.is_some() {
        let said = format!("{} of {} normative sentences are to be recorded.", open.len(), findings.len());
        let calls = open.into_iter().chain(first_close).collect();
        return turn(said, calls);
    }
    let notes = format!("{} requirements recorded, {dropped} refused", findings.len() - dropped);
    let write = (!recorded.is_empty()).then(|| append(&candidates::path(part), &recorded));
    // What was refused is left open, for the result to name.
    let close = close(LOOKED_AGAIN).filter(|_| dropped == 0);
    turn(notes.clone(), write.into_iter().chain(close).chain([todo_complete(&notes)]).collect())
}

/// What the reads gave, or `None` while one of them is still to be made. A chunk that could not be read is empty.
fn texts<'a>(view: &RequestView<'a>, reads: &[Call]) -> Option<Vec<&'a str>> {
    let text = |done: &Done<'a>| if done.failed() { "" } else { body(done.result).0 };
    reads.iter().map(|call| view.result_of(call).map(text)).collect()
}

fn tries<'a>(view: &'a RequestView<'a>) -> Tries<'a> {
    let mut tries = Tries::new();
    for done in view.history.iter().filter(|done| done.name == "add_requirement") {
        tries.entry(done.arg("text")).or_default().push(done);
    }
    tries
}

/// The passage and the sentences in which a finding stands, of passages from number `first` on; none where it goes on in
/// the next one, or where they are shown without numbers.
fn pointer(finding: &Finding, first: u32, passages: &[Numbered]) -> Option<Pointer> {
    let sentences = passages.get(finding.chunk)?.sentences(&finding.quote)?;
    Some(Pointer { passage: first + u32::try_from(finding.chunk).ok()?, sentences })
}

/// Two tries at the most: by the numbers of its sentences or as it stands, then without page and with the passage that
/// the refusal offered.
fn progress<'a>(finding: &Finding, pointer: impl Fn() -> Option<Pointer>, tries: &Tries<'a>) -> Progress<'a> {
    match tries.get(finding.text.as_str()).map(Vec::as_slice) {
        None | Some([]) => Progress::Open(requirement::add(finding, pointer())),
        // A cleared result cannot be told from a recorded one; the engine refused few, so it counts as recorded.
        Some([.., last]) if !last.failed() => Progress::Recorded(last.result),
        Some([only]) => {
            let again = requirement::add_again(finding, only.result);
            if only.is(&again) { Progress::Dropped } else { Progress::Open(again) }
        }
        Some(_) => Progress::Dropped,
    }
}
