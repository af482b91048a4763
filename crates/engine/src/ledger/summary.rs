//! Text about the ledger, for openings, refusals and the coverage tool.

use super::{Ledger, Passage, PassageState};
use crate::beginning;
use std::{collections::BTreeSet, fmt::Write};

/// Passages listed individually; the others are counted.
pub(crate) const MAX_NAMED: usize = 20;

/// Which text the scan has no rules for, and what to do about it.
const NOT_JUDGED: &str = "text in another language, verbatim or not decoded; record what obliges somebody there, then close the \
                          passage with close_passages and say what it is";

/// The selection of passages.
pub(crate) enum Scope<'a> {
    /// All passages of the job.
    Job,
    /// The passages of a document.
    Document(&'a str),
}

/// One line per document: its passages by state.
pub(crate) fn document_lines(ledger: &Ledger) -> Vec<String> {
    let documents: BTreeSet<&str> = ledger.all().map(|passage| passage.document.as_str()).collect();
    documents.into_iter().map(|document| document_line(ledger, document)).collect()
}

fn document_line(ledger: &Ledger, document: &str) -> String {
    let of = || ledger.all().filter(|passage| passage.document == document);
    let in_state = |state| of().filter(|passage| passage.state == state).count();
    let candidates = of().map(|passage| passage.candidates.len()).sum::<usize>();
    let open = of().flat_map(Passage::open_candidates).count();
    let left = if ledger.records() { "open" } else { "not cited" };
    let first = of().map(|passage| passage.number).min().unwrap_or_default();
    let last = of().map(|passage| passage.number).max().unwrap_or_default();
    let mut line = format!(
        "- {document}: {} passages ({first}-{last}): {} unread, {} read, {} answered; {candidates} candidate sentences, {open} of \
         them {left}",
        of().count(),
        in_state(PassageState::Unread),
        in_state(PassageState::Read),
        in_state(PassageState::Answered),
    );
    let not_judged: Vec<String> =
        of().filter(|passage| !passage.judged).take(MAX_NAMED).map(|passage| passage.number.to_string()).collect();
    if !not_judged.is_empty() {
        let _ = write!(line, "; no candidates are looked for in all of {}: {NOT_JUDGED}", not_judged.join(", "));
    }
    let anew = of().filter(|passage| passage.state != PassageState::Answered && passage.carried_from.is_some()).count();
    if anew > 0 {
        let _ = write!(
            line,
            "; {anew} are worked anew, for older rules answered them, which counted quotes and not requirements"
        );
    }
    let without: Vec<&Passage> = of().filter(|passage| !passage.has_text()).collect();
    if let Some(passage) = without.first() {
        let whose = if without.len() == of().count() { "its text" } else { "some of its text" };
        let _ = write!(line, "; {whose} cannot be had: {}", passage.reason.as_deref().unwrap_or("no reason is known"));
    }
    line
}

/// Why passages have no text, each reason once; if there are many, the first ones.
pub(crate) fn reasons_of(ledger: &Ledger) -> String {
    const MOST: usize = 3;
    let mut reasons: Vec<String> = Vec::new();
    for passage in ledger.all().filter(|passage| !passage.has_text()) {
        let reason = passage.reason.as_deref().unwrap_or("no reason is known");
        let is_named = reason.contains(&passage.document);
        let named = if is_named { reason.to_owned() } else { format!("{}: {reason}", passage.document) };
        if !reasons.contains(&named) {
            reasons.push(named);
        }
    }
    let more = reasons.len().saturating_sub(MOST);
    reasons.truncate(MOST);
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    reasons.join("; ")
}

/// The passages that are not answered, worst first: unread ones, then those with the most open candidates.
pub(crate) fn worst(ledger: &Ledger, scope: &Scope<'_>) -> String {
    let in_scope = |passage: &&Passage| match scope {
        Scope::Job => true,
        Scope::Document(document) => passage.document == *document,
    };
    worst_of(ledger.all().filter(in_scope).filter(|passage| passage.state != PassageState::Answered).collect())
}

/// These passages, worst first.
pub(crate) fn worst_of(mut open: Vec<&Passage>) -> String {
    open.sort_by_key(|passage| (passage.state, std::cmp::Reverse(passage.open_candidates().count()), passage.number));
    first_lines(open.into_iter().map(line), MAX_NAMED, "")
}

/// The first lines of a list, and one that counts the others.
pub(crate) fn first_lines(lines: impl ExactSizeIterator<Item = String>, most: usize, others: &str) -> String {
    let more = lines.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("- … and {more} more{others}"));
    lines.take(most).chain(more).collect::<Vec<_>>().join("\n")
}

fn line(passage: &Passage) -> String {
    let pages = match passage.pages {
        Some((first, last)) if first == last => format!(", page {first}"),
        Some((first, last)) => format!(", pages {first}-{last}"),
        None => String::new(),
    };
    let path = passage.chunk_path.as_deref().unwrap_or("no text");
    let open = passage.open_candidates().count();
    match passage.state {
        PassageState::Unread => {
            format!("- passage {} ({path}{pages}): unread, {open} candidate sentences", passage.number)
        }
        PassageState::Read | PassageState::Answered => {
            let sentences: Vec<String> = passage.open_candidates().take(3).map(quoted).collect();
            let more = open.saturating_sub(sentences.len());
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let judged =
                if passage.judged { "" } else { "; close it with a reason that says what it is, for it is not judged" };
            let open = match sentences.is_empty() {
                true if passage.candidates.is_empty() => "no candidate sentences".to_owned(),
                true => "nothing of it is open; close the todo that names it, or the passage".to_owned(),
                false => format!("open: {}", sentences.join("; ")),
            };
            format!("- passage {} ({path}{pages}): read, {open}{more}{judged}", passage.number)
        }
    }
}

/// A candidate by its number and first words.
pub(super) fn quoted(candidate: &super::Candidate) -> String {
    const SHOWN: usize = 90;
    format!("[{}] \"{}\"", candidate.sentence, beginning(&candidate.text, SHOWN))
}
