//! The context of a sentence of a passage: leads, headings, neighbours, page.

use crate::candidates::{Scan, cut};
use crate::chunking::{Outline, Standing};
use crate::entries::{Numbered, entries};
use crate::passages::body;
use crate::quotes;
use memchr::memmem;
use plumbline_engine::Touched;
use std::{ops::Range, sync::OnceLock};

/// Maximum number of examined places of a passage's first line in a text.
const MOST_PLACES: usize = 20;

/// A passage, sentence by sentence.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Whether its document's text has its lines, once that was looked up.
    of_text: OnceLock<bool>,
    sentences: Vec<Laid>,
    /// Its text, and the place of each sentence in it.
    body: String,
    places: Vec<Range<usize>>,
    /// The last sentence of the previous passage, and the first of the next one.
    ends: [Option<String>; 2],
}

/// A sentence in its passage.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The sentence, its page and its leads.
    pub entry: Numbered,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
}

/// Sentences as one quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Their words.
    pub text: String,
    /// The page on which the first begins, in a document with pages.
    pub page: Option<u32>,
    /// The page on which the last ends.
    pub page_to: Option<u32>,
    /// Whether a search for the words would return the same words: no line ends within a word, and no character that
    /// searches ignore is at an end.
    pub is_plain: bool,
}

/// The context of some sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Leads of lists.
    pub leads: Vec<String>,
    /// Headings.
    pub headings: Vec<String>,
    /// The sentences before and after.
    pub near: Vec<String>,
}

impl Layout {
    /// Reads a passage from its chunk's file, with those of the previous and next passages of its document.
    pub fn of(before: Option<&str>, file: &str, behind: Option<&str>, scan: &Scan) -> Self {
        let own = body(file);
        let places = cut(own);
        let headings = headings(file, own, &places);
        let of_sentences = entries(before, file, scan).into_iter().zip(headings);
        let end = |text: &str, last: bool| {
            let places = cut(text);
            let place = if last { places.last() } else { places.first() };
            place.map(|place| one_line(&text[place.clone()]))
        };
        Self {
            sentences: of_sentences.map(|(entry, headings)| Laid { entry, headings }).collect(),
            ends: [before.and_then(|file| end(body(file), true)), behind.and_then(|file| end(body(file), false))],
            body: own.to_owned(),
            places,
            of_text: OnceLock::new(),
        }
    }

    /// The sentences from one number to another, as one quote; none if these numbers are out of range.
    pub fn quote(&self, (from, to): (u32, u32)) -> Option<Quote> {
        let place = |number: u32| self.places.get(usize::try_from(number).ok()?.checked_sub(1)?);
        let (first, last) = (place(from)?, place(to)?);
        let (start, end) = (first.start, last.end);
        let words = self.body.get(start..end)?;
        let page_at = |at: usize| self.body[..at].lines().rev().find_map(crate::page_mark);
        Some(Quote {
            text: crate::composed(&one_line(words)).into_owned(),
            page: page_at(start),
            page_to: page_at(end),
            is_plain: quotes::is_plain(words),
        })
    }

    /// Whether its document's text has its lines, one after the other; none if that was not looked up yet.
    pub fn is_of_text(&self) -> Option<bool> {
        self.of_text.get().copied()
    }

    /// Looks its lines up in a text of its document, in linear time.
    pub fn look_up(&self, text: &str) -> bool {
        *self.of_text.get_or_init(|| has_lines(text, &self.body))
    }

    /// How many sentences it has.
    pub fn count(&self) -> usize {
        self.sentences.len()
    }

    /// A sentence by its number.
    pub fn get(&self, number: i32) -> Option<&Laid> {
        self.sentences.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The context of a range of sentences.
    pub fn around(&self, touched: &Touched) -> Surroundings {
        let mut around = Surroundings::default();
        for sentence in (touched.from..=touched.to).filter_map(|number| self.get(number)) {
            add(&mut around.leads, sentence.entry.leads.iter().map(|lead| &lead.text));
            add(&mut around.headings, &sentence.headings);
        }
        let count = i32::try_from(self.sentences.len()).unwrap_or(i32::MAX);
        let [before, behind] = &self.ends;
        let neighbour = |number: i32, end: &Option<String>, is_out: bool| match is_out {
            true => end.clone(),
            false => self.get(number).map(|sentence| sentence.entry.text.clone()),
        };
        around.near.extend(neighbour(touched.from - 1, before, touched.from == 1));
        around.near.extend(neighbour(touched.to + 1, behind, touched.to == count));
        around
    }
}

fn add<'a>(known: &mut Vec<String>, more: impl IntoIterator<Item = &'a String>) {
    for one in more {
        if !known.contains(one) {
            known.push(one.clone());
        }
    }
}

/// Whether a text has these lines one after the other, with nothing but white space and page marks between them. The
/// first may begin within a line of the text, and the last may end within one, but none within a word.
fn has_lines(text: &str, lines: &str) -> bool {
    let mut lines = lines.lines().map(str::trim).filter(|line| !line.is_empty() && crate::page_mark(line).is_none());
    let Some(first) = lines.next() else { return false };
    let rest: Vec<&str> = lines.collect();
    memmem::find_iter(text.as_bytes(), first).take(MOST_PLACES).any(|start| {
        let mut behind = &text[start + first.len()..];
        let are_there = rest.iter().all(|line| {
            let found = past_marks(behind).strip_prefix(line);
            behind = found.unwrap_or_default();
            found.is_some()
        });
        are_there && !quotes::joined(text, start) && !quotes::joined(text, text.len() - behind.len())
    })
}

/// A text without the white space and the page marks at its beginning.
fn past_marks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let line = text.lines().next().unwrap_or_default();
        if crate::page_mark(line).is_none() {
            return text;
        }
        text = &text[line.len()..];
    }
}

/// The headings above each position: those of the text, below the section named in the first line of the file.
fn headings(file: &str, text: &str, places: &[Range<usize>]) -> Vec<Vec<String>> {
    let section = section_of(file);
    let outline = Outline::of(text, &Standing::default());
    let at = |place: &Range<usize>| {
        let mut path = outline.path_at(place.start, place.end);
        if let Some(section) = section.filter(|section| !path.iter().any(|known| known == section)) {
            path.insert(0, section.to_owned());
        }
        path
    };
    places.iter().map(at).collect()
}

/// The section that the first line of a chunk's file names.
fn section_of(file: &str) -> Option<&str> {
    let head = file.strip_prefix("<!-- source: ")?.lines().next()?.trim_end().strip_suffix("-->")?;
    head.split(" | ").find_map(|part| part.strip_prefix("section: ")).map(str::trim)
}

fn one_line(text: &str) -> String {
    text.lines()
        .filter(|line| crate::page_mark(line).is_none())
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "<!-- source: input/a.pdf | pages: 1 | section: 3 Duties -->\n\n[page 1]\n\n# 3 Duties\n\nThe fund must:\n\n(a) keep a log;\n\n(b) ensure that:\n\n(i) fees are shown;\n";
    const SECOND: &str = "<!-- source: input/a.pdf | pages: 1-2 | section: 3 Duties -->\n\n[page 1]\n\n(ii) costs are shown; and\n\n[page 2]\n\n(c) sign it.\n\n## 3.2 Notices\n\nA notice must be given.\n";

    fn touched(from: i32, to: i32) -> Touched {
        Touched { passage: 1, from, to }
    }

    #[test]
    fn sentences_by_their_numbers_are_a_quote() {
        let layout = Layout::of(None, SECOND, None, &Scan::default());
        let said = |text: &str, pages: (u32, u32)| {
            Some(Quote { text: text.into(), page: Some(pages.0), page_to: Some(pages.1), is_plain: true })
        };
        assert_eq!(layout.quote((2, 2)), said("sign it.", (2, 2)));
        assert_eq!(layout.quote((1, 2)), said("costs are shown; and (c) sign it.", (1, 2)));
        assert_eq!(layout.quote((4, 4)), said("A notice must be given.", (2, 2)));
        assert_eq!([(4, 5), (0, 1), (4, 1)].map(|numbers| layout.quote(numbers)), [None, None, None]);
    }

    #[test]
    fn a_text_has_a_passage_with_other_page_marks_and_no_other_words() {
        let layout = || Layout::of(None, SECOND, None, &Scan::default());
        let text = "[page 1]\n\n(i) fees; (ii) costs are shown; and\n\n[page 2]\n\n\n[page 3]\n(c) sign it.\n\n## 3.2 Notices\n\nA notice must be given. More.\n";
        assert!(layout().look_up(text));
        for (from, to) in [("sign it.", "sign them."), ("(c)", "and (c)"), ("\n\n## 3.2", "\n\nNew.\n\n## 3.2")] {
            assert!(!layout().look_up(&text.replace(from, to)), "{to}");
        }
        for (lines, is_there) in [("(ii) costs are shown; and\n", true), ("One log\n", false), ("log of\n", false)] {
            let layout = Layout::of(None, lines, None, &Scan::default());
            assert_eq!(layout.look_up("One logbook, (ii) costs are shown; and more; a catalog of keys"), is_there);
        }
        let again = format!("(ii) costs are shown; and\n\nother words\n\n{text}");
        assert!(layout().look_up(&again), "at its second place");
        assert_eq!(Layout::default().is_of_text(), None);
        assert!(!Layout::default().look_up(text), "no words");
    }

    #[test]
    fn headings_and_neighbours_are_those_of_the_place() {
        let layout = Layout::of(Some(FIRST), SECOND, None, &Scan::default());
        let around = layout.around(&touched(4, 4));
        assert_eq!(around.headings, ["3 Duties", "3.2 Notices"]);
        assert_eq!(around.near, ["3.2 Notices"]);
        let first = layout.around(&touched(1, 1));
        assert!(first.near[0].contains("fees are shown") && first.near[1].contains("sign it"), "{first:?}");
        let alone = Layout::of(None, FIRST, Some(SECOND), &Scan::default());
        assert!(alone.around(&touched(5, 5)).near[1].contains("costs are shown"));
    }
}
