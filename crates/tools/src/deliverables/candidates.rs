//! The candidate sentences for people: number, place and text of each, and its outcome.

use super::Rows;
use plumbline_engine::{Account, Candidate, Passage, PassageState, one_line};

/// The list, by document and place; none if the documents have no candidates.
pub(super) fn list(rows: &Rows<'_>) -> Option<String> {
    let mut passages: Vec<&Passage> = rows.passages.iter().copied().filter(|it| !it.candidates.is_empty()).collect();
    passages.sort_by_key(|passage| (&passage.document, passage.ordinal));
    let all: usize = passages.iter().map(|passage| passage.candidates.len()).sum();
    let covered: usize = passages.iter().map(|passage| passage.n_covered()).sum();
    (all > 0).then(|| {
        let mut out = format!(
            "# Candidates\n\nThe sentences that are likely to oblige somebody: {all}, of which requirements cover {covered}. The \
             number is that of the passage, then that of the sentence in it.\n"
        );
        for of_document in passages.chunk_by(|one, next| one.document == next.document) {
            let document = of_document.first().map_or("", |first| &first.document);
            out.push_str(&format!("\n## {document}\n\n| number | place | words | record |\n|---|---|---|---|\n"));
            for passage in of_document {
                passage.candidates.iter().for_each(|candidate| out.push_str(&row(rows, passage, candidate)));
            }
        }
        out
    })
}

fn row(rows: &Rows<'_>, passage: &Passage, candidate: &Candidate) -> String {
    let Candidate { sentence, text, .. } = candidate;
    let cells = [place(passage), text.clone(), record(rows, passage, candidate)].map(|text| cell(&text));
    format!("| {}:{sentence} | {} |\n", passage.number, cells.join(" | "))
}

fn place(passage: &Passage) -> String {
    match passage.pages {
        Some((first, last)) if first == last => format!("page {first}"),
        Some((first, last)) => format!("pages {first} to {last}"),
        None => format!("passage {}", passage.ordinal),
    }
}

/// The requirements that cover it, or why there is none.
fn record(rows: &Rows<'_>, passage: &Passage, candidate: &Candidate) -> String {
    let numbers = rows.records.get(&(passage.number, candidate.sentence)).map_or(&[][..], Vec::as_slice);
    let decision = passage.decisions.iter().find(|decision| decision.s == candidate.sentence);
    match (candidate.cited_step, decision.map(|decision| &decision.account), &passage.reason) {
        // The lead of a list is covered by any of its entries.
        (Some(_), _, _) if numbers.is_empty() => "its entries".into(),
        (Some(_), _, _) => numbers.iter().map(|number| format!("r{number}")).collect::<Vec<_>>().join(", "),
        (None, Some(Account::Why(why)), _) => format!("none: {why}"),
        (None, _, Some(why)) if passage.state == PassageState::Answered => format!("none: {why}"),
        (None, _, _) if passage.state == PassageState::Answered => "none".into(),
        (None, _, _) => "open".into(),
    }
}

/// A text in a table cell.
fn cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}
