//! The sentences of a passage, each with its leads, including leads in the previous passage.

use crate::candidates::{Scan, Sentence, cut};
use crate::chunk_file::body;

/// A sentence of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// Its number, from 1.
    pub number: u32,
    /// The page on which it begins, if the text has page marks.
    pub page: Option<u32>,
    /// Its words on one line, without page marks and without the mark of its list.
    pub text: String,
    /// The leads of the lists that contain it as an entry, outermost first.
    pub leads: Vec<Lead>,
}

/// The sentence that introduces a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Its number in the passage; none if it is in the previous passage.
    pub number: Option<u32>,
    /// Its words.
    pub text: String,
}

/// The sentences of a chunk's file, numbered as they are shown. `before` is the file of the previous passage in the
/// same document: its last list may continue here.
pub fn entries(before: Option<&str>, file: &str, scan: &Scan) -> Vec<Numbered> {
    let own = body(file);
    let (found, skipped) = before
        .and_then(|before| behind(body(before), own, |text| scan.with_leads(text)))
        .unwrap_or_else(|| (scan.with_leads(own), 0));
    found[skipped..].iter().map(|sentence| numbered(sentence, &found, skipped)).collect()
}

/// The sentences of the previous passage and this one as `read` gives them, and how many belong to the previous one;
/// none if a sentence spans both.
pub(crate) fn behind(before: &str, own: &str, read: impl Fn(&str) -> Vec<Sentence>) -> Option<(Vec<Sentence>, usize)> {
    let joined = format!("{before}\n\n{own}");
    let (found, from) = (read(&joined), joined.len() - own.len());
    let skipped = found.iter().take_while(|sentence| sentence.range.start < from).count();
    agrees(&found, from, own).then_some((found, skipped))
}

/// Whether splitting two passages together gives the same sentences as splitting the second alone: a sentence may span
/// both.
fn agrees(found: &[Sentence], from: usize, own: &str) -> bool {
    let starts = found.iter().map(|sentence| sentence.range.start).filter(|start| *start >= from);
    starts.eq(cut(own).iter().map(|range| range.start + from))
}

fn numbered(sentence: &Sentence, all: &[Sentence], skipped: usize) -> Numbered {
    let at = |number: u32| usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let own = |number: u32| at(number)?.checked_sub(skipped).and_then(|own| u32::try_from(own + 1).ok());
    let lead = |number: &u32| {
        let text = all.get(at(*number)?)?.text.clone();
        Some(Lead { number: own(*number), text })
    };
    Numbered {
        number: own(sentence.number).unwrap_or_default(),
        page: sentence.page,
        text: sentence.text.clone(),
        leads: sentence.leads.iter().rev().filter_map(lead).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_leads(before: Option<&str>, file: &str) -> Vec<(u32, String)> {
        let found = entries(before, file, &Scan::default());
        let words = |one: Numbered| {
            let leads = one.leads.iter().map(|lead| format!("{:?} {} / ", lead.number, lead.text));
            (one.number, leads.chain([one.text.clone()]).collect())
        };
        found.into_iter().map(words).collect()
    }

    #[test]
    fn an_entry_has_its_leads_of_several_levels_the_outermost_first() {
        let file = "The operator shall:\n\n(a) keep a log of:\n\n(i) each access;\n\n(b) report each breach.\n";
        assert_eq!(
            with_leads(None, file),
            [
                (1, "The operator shall:".to_owned()),
                (2, "Some(1) The operator shall: / keep a log of:".to_owned()),
                (3, "Some(1) The operator shall: / Some(2) keep a log of: / each access;".to_owned()),
                (4, "Some(1) The operator shall: / report each breach.".to_owned()),
            ]
        );
    }

    #[test]
    fn numbers_that_begin_anew_below_an_entry_are_a_list_of_their_own_without_indents() {
        let file = "The process must be:\n\n1. documented;\n2. binding for:\n1. staff; and\n2. keys;\n3. reviewed; and\n4. approved.\n";
        let with = |text: &str| format!("Some(1) The process must be: / {text}");
        let below = |text: &str| with(&format!("Some(3) binding for: / {text}"));
        let expected = [
            "The process must be:".to_owned(),
            with("documented;"),
            with("binding for:"),
            below("staff; and"),
            below("keys;"),
            with("reviewed; and"),
            with("approved."),
        ];
        assert_eq!(with_leads(None, file).into_iter().map(|(_, words)| words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_list_continues_from_the_previous_passage() {
        let before = "<!-- source: input/a.md -->\n\nIt is so. The operator shall:\n\n(a) keep a log;\n";
        let file = "<!-- source: input/a.md -->\n\n(b) report each breach;\n\n(c) name an auditor.\n";
        assert_eq!(
            with_leads(Some(before), file),
            [
                (1, "None The operator shall: / report each breach;".to_owned()),
                (2, "None The operator shall: / name an auditor.".to_owned()),
            ]
        );
    }

    #[test]
    fn a_sentence_that_runs_over_both_passages_leaves_the_numbers_as_they_are_shown() {
        let file = "and is kept. It must be signed.\n";
        let numbers: Vec<u32> =
            entries(Some("The log is written\n"), file, &Scan::default()).iter().map(|one| one.number).collect();
        assert_eq!(numbers, [1, 2]);
    }
}
