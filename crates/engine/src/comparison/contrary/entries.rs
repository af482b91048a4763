//! An entry that the text leaves out of an enumeration of its quotes: *the report and the plan* for *the report, the log and
//! the plan*. A text that has one entry alone is one of several requirements of the sentence.

use super::super::modals::COMMA;
use super::actor::MODALS;
use super::{MOST_SHOWN, Pair, beginning, content};

/// At least so many entries have an enumeration, and so many of them are in a text that states it.
const LEAST: usize = 3;
const LEAST_KEPT: usize = 2;
/// Longer parts between commas are no entries.
const MOST_WORDS: usize = 5;
const JOINING: [&str; 4] = ["and", "or", "und", "oder"];
/// Words with which something begins that is no entry: a clause, a condition, a place.
const OF_CLAUSES: [&str; 65] = [
    "which",
    "who",
    "that",
    "if",
    "when",
    "where",
    "unless",
    "except",
    "but",
    "as",
    "in",
    "by",
    "at",
    "on",
    "for",
    "including",
    "such",
    "e",
    "i",
    "not",
    "after",
    "before",
    "with",
    "without",
    "under",
    "to",
    "etc",
    "it",
    "is",
    "are",
    "either",
    "both",
    "because",
    "since",
    "although",
    "though",
    "however",
    "therefore",
    "example",
    "normally",
    "too",
    "just",
    "consisting",
    "into",
    "wenn",
    "falls",
    "sofern",
    "soweit",
    "außer",
    "aber",
    "wie",
    "bei",
    "im",
    "vor",
    "nach",
    "mit",
    "ohne",
    "unter",
    "insbesondere",
    "dass",
    "es",
    "sowohl",
    "jedoch",
    "weil",
    "da",
];

/// The entry that is left out.
pub(super) fn left_out(pair: &Pair) -> Option<String> {
    if !pair.is_of_one_sentence() {
        return None;
    }
    let entries = enumeration(&pair.quoted)?;
    let said = content(&pair.said);
    let found = |entry: &[String]| {
        let own = content(entry);
        (own.content().filter(|word| said.has(word)).count(), own.content().count())
    };
    let is_kept = |entry: &&&[String]| matches!(found(entry), (found, of) if of > 0 && found == of);
    let is_left_out = |entry: &&&[String]| matches!(found(entry), (0, of) if of > 0);
    let is_listed = enumeration(&pair.said).is_some_and(|own| own.len() >= entries.len());
    let is_stated = entries.iter().filter(is_kept).count() >= LEAST_KEPT && !is_listed;
    let entry = entries.iter().find(is_left_out).filter(|_| is_stated)?;
    Some(format!("its quotes list `{}`, and it does not", beginning(&entry.join(" "), MOST_SHOWN)))
}

/// The entries of the first enumeration: parts between commas up to the one behind *and* or *or*.
fn enumeration(tokens: &[String]) -> Option<Vec<&[String]>> {
    let parts: Vec<&[String]> = tokens.split(|word| word == COMMA).collect();
    (1..parts.len()).find_map(|last| ending(&parts[..last], parts[last]))
}

/// The entries of the enumeration that ends in this part, with the parts before it.
fn ending<'t>(parts: &[&'t [String]], last: &'t [String]) -> Option<Vec<&'t [String]>> {
    let joint = last.iter().position(|word| JOINING.contains(&word.as_str()))?;
    let (before, behind) = (&last[..joint], run(&last[joint + 1..], false));
    if !(before.is_empty() || is_entry(before)) {
        return None;
    }
    let whole = parts.iter().rev().take_while(|part| is_entry(part)).count();
    let mut entries = parts[parts.len() - whole..].to_vec();
    // The first one is the end of the part before: *must keep the report*.
    if let Some(first) = parts.len().checked_sub(whole + 1).map(|at| parts[at])
        && first.first().is_some_and(|word| !OF_CLAUSES.contains(&word.as_str()))
        && !run(first, true).is_empty()
    {
        entries.insert(0, run(first, true));
    }
    entries.extend([before, behind].into_iter().filter(|entry| !entry.is_empty()));
    let is_aside = entries.iter().any(|entry| OF_CLAUSES.contains(&entry[0].as_str()));
    (!is_aside && entries.len() >= LEAST).then_some(entries)
}

/// Whether a part between commas is an entry, and no clause.
fn is_entry(part: &[String]) -> bool {
    let Some(first) = part.first() else { return false };
    let is_clause = ["der", "die", "das"].contains(&first.as_str()) && part.len() > 2;
    part.len() <= MOST_WORDS
        && !is_clause
        && !part.iter().any(|word| MODALS.contains(&word.as_str()))
        && !OF_CLAUSES.contains(&first.as_str())
}

/// The content words beside each other at the end or at the beginning of a part.
fn run(part: &[String], is_at_end: bool) -> &[String] {
    let is_content = |word: &String| content(std::slice::from_ref(word)).content().next().is_some();
    if is_at_end {
        let begin = part.iter().rposition(|word| !is_content(word)).map_or(0, |at| at + 1);
        return &part[begin..];
    }
    let begin = part.iter().position(is_content).unwrap_or(part.len());
    let end = part[begin..].iter().position(|word| !is_content(word)).map_or(part.len(), |at| begin + at);
    &part[begin..end]
}
