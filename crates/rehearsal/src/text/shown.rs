//! A passage as a tool shows it: numbered sentences with their kinds.
//!
//! ```text
//! ## [3] Duties
//!
//! [4] The operator shall:
//!
//! - [5] keep a log
//! ```

use super::sentences::{collapse, split};
use plumbline_bounds::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// The kind of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading.
    Heading,
    /// The beginning of a list's entry.
    Entry,
    /// A row of a table.
    Row,
    /// The beginning of a paragraph.
    Paragraph,
    /// A sentence after another one in the same paragraph or entry.
    Further,
}

/// A sentence of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Its shown number; none in a text without numbers.
    pub(crate) number: Option<u32>,
    /// Its words, white space collapsed.
    pub(crate) text: String,
    /// What it is.
    pub(crate) kind: Kind,
}

/// A passage, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The document named in the file's first line.
    pub(crate) source: String,
    /// Its sentences, in their order.
    pub(crate) sentences: Vec<Sentence>,
}

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"\[\d{1,6}\] "));
static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^\[page \d+\]$"));
static SOURCE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^<!-- source: (.+?)(?: \| .*)? -->$"));
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(r"^(?:[-*+•‣◦▪·–—]|\(?(?:[a-zA-Z]|[ivxl]{1,5}|\d{1,3})[.)]|\(?[a-z]{2}\)|\d+(?:\.\d+)+\.?)(?:\s|$)")
});

impl Shown {
    /// Whether its first sentence is an entry of a list that began earlier.
    pub(crate) fn begins_with_an_entry(&self) -> bool {
        self.sentences.first().is_some_and(|first| first.kind == Kind::Entry)
    }

    /// Parses a tool's view of a chunk file. Sentence numbers count from one without gaps, so that a document's own
    /// brackets are ignored.
    pub(crate) fn read(shown: &str) -> Self {
        let source = shown.lines().find_map(|line| SOURCE.captures(line.trim()));
        let source = source.map(|found| found[1].to_owned()).unwrap_or_default();
        let mut begins: Vec<(usize, usize)> = Vec::new();
        for found in NUMBER.find_iter(shown) {
            if found.as_str() == format!("[{}] ", begins.len() + 1) {
                begins.push((found.start(), found.end()));
            }
        }
        let sentences = if begins.is_empty() { unnumbered(shown) } else { numbered(shown, &begins) };
        Self { source, sentences }
    }
}

/// The sentences of a text with numbers, each of which begins and ends at these bytes.
fn numbered(shown: &str, begins: &[(usize, usize)]) -> Vec<Sentence> {
    let ends = begins.iter().skip(1).map(|(start, _)| *start).chain([shown.len()]);
    let mut fenced = false;
    let mut all = Vec::new();
    for (number, ((start, from), end)) in (1..).zip(begins.iter().zip(ends)) {
        let line = &shown[shown[..*start].rfind('\n').map_or(0, |at| at + 1)..*start];
        // The mark before the next number belongs to that sentence.
        let own = &shown[*from..end];
        let own = own.rfind('\n').filter(|at| is_mark(&own[at + 1..])).map_or(own, |at| &own[..at]);
        let text = words(own);
        let kind = kind(line, &text);
        if !fenced {
            all.push(Sentence { number: Some(number), text, kind });
        }
        fenced ^= own.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    }
    all
}

fn is_mark(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '|', '>']) || MARK.is_match(line)
}

/// By the text before the number on its line, and by the beginning of the sentence.
fn kind(line: &str, text: &str) -> Kind {
    let line = line.trim();
    match line.chars().next() {
        Some('#') => Kind::Heading,
        Some('|') => Kind::Row,
        Some(_) if MARK.is_match(&format!("{line} ")) && !line.contains(' ') => Kind::Entry,
        None if MARK.is_match(text) => Kind::Entry,
        None => Kind::Paragraph,
        Some(_) => Kind::Further,
    }
}

fn words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !PAGE.is_match(line.trim())).collect();
    collapse(&lines.join("\n"))
}

/// The sentences of a text without numbers: paragraphs and entries, split.
fn unnumbered(shown: &str) -> Vec<Sentence> {
    let (mut blocks, mut open): (Vec<(Kind, String)>, bool) = (Vec::new(), false);
    for line in shown.lines().map(str::trim).filter(|line| !line.starts_with("<!--") && !PAGE.is_match(line)) {
        let kind = if line.starts_with('#') { Kind::Heading } else { kind("", line) };
        match blocks.last_mut() {
            _ if line.is_empty() => open = false,
            Some((_, block)) if open && kind == Kind::Paragraph => block.push_str(&format!("\n{line}")),
            _ => {
                blocks.push((kind, line.to_owned()));
                open = kind != Kind::Heading;
            }
        }
    }
    let cut = |(kind, block): &(Kind, String)| -> Vec<Sentence> {
        let kinds = std::iter::once(*kind).chain(std::iter::repeat(Kind::Further));
        let sentence = |(kind, range)| Sentence { number: None, text: collapse(&block[range]), kind };
        kinds.zip(split(block)).map(sentence).collect()
    };
    blocks.iter().flat_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Shown};

    fn read(shown: &str) -> Vec<(Option<u32>, String, Kind)> {
        let read = Shown::read(shown);
        read.sentences.into_iter().map(|sentence| (sentence.number, sentence.text, sentence.kind)).collect()
    }

    #[test]
    fn sentences_are_recognized_by_the_text_before_their_numbers() {
        let shown = "<!-- source: input/p.pdf | pages: 2 -->\n\n[page 2]\n\n## [1] Duties\n\n[2] The operator\nshall: \n\n\
                     - [3] keep a log; [4] It stays.\n- [5] sign it\n\n(a) [6] Every\n\n[page 3]\n\nday.\n\n| [7] Role | Duty |\n";
        let expected = [
            (1, "Duties", Kind::Heading),
            (2, "The operator shall:", Kind::Paragraph),
            (3, "keep a log;", Kind::Entry),
            (4, "It stays.", Kind::Further),
            (5, "sign it", Kind::Entry),
            (6, "Every day.", Kind::Entry),
            (7, "Role | Duty |", Kind::Row),
        ];
        let expected = expected.map(|(number, text, kind)| (Some(number), text.to_owned(), kind));
        assert_eq!(read(shown), expected);
        assert_eq!(Shown::read(shown).source, "input/p.pdf");
    }

    #[test]
    fn what_a_document_has_in_brackets_stays() {
        let shown = "[1] See [4] and\n[7] here. [2] Then go. [1] is no number now.";
        let expected =
            [(1, "See [4] and [7] here.", Kind::Paragraph), (2, "Then go. [1] is no number now.", Kind::Further)];
        assert_eq!(read(shown), expected.map(|(number, text, kind)| (Some(number), text.to_owned(), kind)));
    }

    #[test]
    fn a_text_without_numbers_is_cut_into_sentences() {
        let shown = "<!-- source: input/a.md -->\n# Rules\nBoxes must be\nshut. Keys stay.\n\n- a log\n- a key\n";
        let expected = [
            ("# Rules", Kind::Heading),
            ("Boxes must be shut.", Kind::Paragraph),
            ("Keys stay.", Kind::Further),
            ("- a log", Kind::Entry),
            ("- a key", Kind::Entry),
        ];
        assert_eq!(read(shown), expected.map(|(text, kind)| (None, text.to_owned(), kind)));
    }
}
