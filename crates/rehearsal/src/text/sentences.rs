//! Splits running text into sentences.
//!
//! A full stop ends a sentence only if the following text looks like a beginning and the preceding one is neither an
//! abbreviation, nor a German ordinal, nor the number of a list or section.

use std::ops::Range;

/// Abbreviations that are followed by a capital or a number without ending a sentence, in lower case without the stop.
const ABBREVIATIONS: &[&str] = &[
    "abb", "abs", "abschn", "approx", "art", "bspw", "bzw", "ca", "cf", "d.h", "dr", "e.g", "evtl", "fig", "gem",
    "ggf", "i.d.r", "i.e", "i.s.d", "i.v.m", "inkl", "lit", "max", "min", "mr", "mrs", "ms", "nr", "no", "p", "pp",
    "prof", "rn", "s", "sec", "sog", "st", "tab", "u.a", "u.u", "vgl", "viz", "vs", "z.b", "z.t", "ziff", "zzgl",
];

/// Month names that follow a German ordinal: `31. Dezember`.
const MONTHS: &[&str] = &[
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// The byte ranges of the sentences of `text`, without the white space around them.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')) {
        let after = at + mark.len_utf8();
        let closed = after + closing_marks(&text[after..]);
        let end = closed + footnote(&text[..at], &text[closed..]).unwrap_or(0);
        if at >= start && ends_here(&text[start..at], mark, &text[end..]) {
            push(&mut sentences, text, start..end);
            start = end;
        }
    }
    push(&mut sentences, text, start..text.len());
    sentences
}

fn push(sentences: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    if start < end {
        sentences.push(start..end);
    }
}

/// The length of the quotes and brackets that belong to the sentence before.
fn closing_marks(after: &str) -> usize {
    after.len() - after.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '*']).len()
}

/// The length of a footnote's number directly after the sentence: up to three digits after a word and its full stop.
fn footnote(before: &str, after: &str) -> Option<usize> {
    let word = before.chars().rev().take_while(|c| c.is_alphabetic()).count();
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let alone = after[digits..].chars().next().is_none_or(char::is_whitespace);
    (word >= 3 && (1..=3).contains(&digits) && alone).then_some(digits)
}

fn ends_here(before: &str, mark: char, after: &str) -> bool {
    let next = after.trim_start();
    if next.is_empty() {
        return true;
    }
    if next.len() == after.len() || !begins_a_sentence(next) {
        return false;
    }
    if mark != '.' {
        return true;
    }
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_first_word = word.len() == before.trim_start().len();
    let bare = word.trim_start_matches(['(', '[', '"', '„', '“', '§']);
    let number = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || c == '.');
    // "z. B." is an abbreviation, "Annex B." is an end.
    let behind_letter = before[..before.len() - word.len()].trim_end().ends_with('.') && !is_first_word;
    let single_letter = bare.chars().count() == 1
        && bare.chars().all(|c| c.is_lowercase() || (c.is_alphabetic() && (is_first_word || behind_letter)));
    let ordinal = number && MONTHS.iter().any(|month| next.starts_with(month));
    let known = ABBREVIATIONS.contains(&bare.to_lowercase().as_str());
    !(known || single_letter || ordinal || (number && is_first_word))
}

fn begins_a_sentence(next: &str) -> bool {
    next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "\"'“„‘«»([`*§".contains(c))
}

/// White space collapsed to single spaces; a line break after a hyphen within a word is dropped, the hyphen stays.
pub(crate) fn collapse(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        for word in line.split_whitespace() {
            joined.push_str(word);
            joined.push(' ');
        }
        if joined.strip_suffix("- ").is_some_and(|rest| rest.ends_with(char::is_alphabetic)) {
            joined.pop();
        }
    }
    joined.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{collapse, split};

    fn check(text: &str, expected: &[&str]) {
        let sentences: Vec<&str> = split(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(sentences, expected);
    }

    #[test]
    fn plain_sentences() {
        check("One must go. Two may stay! Three?", &["One must go.", "Two may stay!", "Three?"]);
        check(
            "He said \"stop.\" Then he went (far.) So be it.",
            &["He said \"stop.\"", "Then he went (far.)", "So be it."],
        );
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        check(
            "See e.g. Debian, i.e. Linux, cf. Fig. 3 and No. 4.",
            &["See e.g. Debian, i.e. Linux, cf. Fig. 3 and No. 4."],
        );
        check(
            "Gem. § 147 Abs. 3 AO und Art. 17 DSGVO. Belege, z.B. Rechnungen, bleiben.",
            &["Gem. § 147 Abs. 3 AO und Art. 17 DSGVO.", "Belege, z.B. Rechnungen, bleiben."],
        );
        check("Belege, z. B. Rechnungen, bleiben.", &["Belege, z. B. Rechnungen, bleiben."]);
    }

    #[test]
    fn numbers_do_not_end_a_sentence_unless_they_close_it() {
        check("1. The file must be kept. 2. It may go.", &["1. The file must be kept.", "2. It may go."]);
        check("Version 4.6.2 is out. Use it.", &["Version 4.6.2 is out.", "Use it."]);
        check("Bis zum 31. Dezember 2025. Danach nicht.", &["Bis zum 31. Dezember 2025.", "Danach nicht."]);
        check("It ends in 2025. The next one begins.", &["It ends in 2025.", "The next one begins."]);
    }

    #[test]
    fn a_letter_ends_a_sentence_where_it_is_a_name() {
        check("Keep it as in Annex A. The rest may go.", &["Keep it as in Annex A.", "The rest may go."]);
        check("A. The first. B. The second.", &["A. The first.", "B. The second."]);
    }

    #[test]
    fn the_number_of_a_footnote_belongs_to_the_sentence_before() {
        check("Use the packages.5 Then stop.12", &["Use the packages.5", "Then stop.12"]);
    }

    #[test]
    fn white_space_is_collapsed_and_hyphens_at_line_ends_kept() {
        assert_eq!(collapse("a  record-\n  keeping\nrule - yes"), "a record-keeping rule - yes");
    }
}
