//! A document's text, page by page, with marked ranges: the quotes in a report.
//!
//! Ranges may overlap and cross the end of a page, and HTML elements may not. So each page is split into pieces at the
//! beginning and end of each range, and each piece lists its ranges: those that begin with it, and those that continue.

use crate::quotes::SourceText;
use crate::{composed, page_mark};
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of the next part of a text that are searched for ranges that begin in this one; more than the length of a
/// quote.
pub const JOINT_BYTES: usize = 48 << 10;
/// Maximum number of continuing ranges in a piece: naming hundreds would not help.
const MOST_GOING_ON: usize = 8;

/// Words to be marked.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// As in the text, ignoring typesetting.
    pub text: &'a str,
    /// The page on which they begin, if known.
    pub page: Option<u32>,
}

/// A page of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedPage<'a> {
    /// Its number, if the text has pages.
    pub number: Option<u32>,
    /// Its text, in pieces.
    pub pieces: Vec<Piece<'a>>,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its text.
    pub text: &'a str,
    /// The keys of the ranges that begin with it, longest first.
    pub begin: Vec<usize>,
    /// Those that began before.
    pub go_on: Vec<usize>,
}

/// The byte range of words in a part of a text; none for words that do not begin in it. `next`: the following part,
/// into which a range may extend.
pub fn places(part: &str, next: &str, words: &[Words<'_>]) -> Vec<Option<Range<usize>>> {
    let next = &next[..next.floor_char_boundary(JOINT_BYTES)];
    let text = format!("{part}{next}");
    // Positions are unknown in a text that is not in composed form, which extraction never produces.
    if matches!(composed(&text), Cow::Owned(_)) {
        return vec![None; words.len()];
    }
    let text = SourceText::new(&text);
    let place = |words: &Words<'_>| text.place(words.text, words.page).filter(|place| place.start < part.len());
    words.iter().map(place).collect()
}

/// The pages of a part of a text, with these ranges marked, each with a key. A range from the previous part has a start
/// below zero; one that extends into the next part ends after this one.
pub fn pages<'a>(part: &'a str, stretches: &[(usize, Range<isize>)]) -> Vec<MarkedPage<'a>> {
    let mut sorted: Vec<&(usize, Range<isize>)> = stretches.iter().collect();
    sorted.sort_by_key(|(key, range)| (range.start, std::cmp::Reverse(range.end), *key));
    let marked =
        |(number, range): (Option<u32>, Range<usize>)| MarkedPage { number, pieces: pieces(part, range, &sorted) };
    page_ranges(part).into_iter().map(marked).collect()
}

/// The ranges of pages, without their marks and the empty lines around them. Text before the first mark belongs to the
/// first page.
fn page_ranges(text: &str) -> Vec<(Option<u32>, Range<usize>)> {
    let mut pages: Vec<(Option<u32>, Range<usize>)> = vec![(None, 0..0)];
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let end = offset + line.len();
        let at = pages.len() - 1;
        match page_mark(line) {
            Some(number) if pages[at].0.is_none() && text[pages[at].1.clone()].trim().is_empty() => {
                pages[at] = (Some(number), end..end);
            }
            Some(number) => {
                pages[at].0 = pages[at].0.or(Some(number));
                pages.push((Some(number), end..end));
            }
            None => pages[at].1.end = end,
        }
        offset = end;
    }
    pages.into_iter().map(|(number, range)| (number, trimmed(text, range))).collect()
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let page = &text[range.clone()];
    let start = range.start + page.len() - page.trim_start_matches(['\n', '\r']).len();
    let end = range.start + page.trim_end().len();
    start..end.max(start)
}

fn pieces<'a>(text: &'a str, page: Range<usize>, sorted: &[&(usize, Range<isize>)]) -> Vec<Piece<'a>> {
    let (first, last) = (page.start.cast_signed(), page.end.cast_signed());
    let on_page = sorted.iter().copied().filter(|(_, range)| range.start < last && range.end > first);
    let on_page: Vec<&(usize, Range<isize>)> = on_page.collect();
    let ends = on_page.iter().flat_map(|(_, range)| [range.start.max(first), range.end.min(last)]);
    let mut cuts: Vec<usize> = ends.chain([first, last]).map(isize::cast_unsigned).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces = Vec::with_capacity(cuts.len());
    for cut in cuts.windows(2) {
        let (start, end) = (cut[0].cast_signed(), cut[1].cast_signed());
        let of_piece = on_page.iter().copied().filter(|(_, range)| range.start < end && range.end > start);
        let (begin, go_on): (Vec<_>, Vec<_>) = of_piece.partition(|(_, range)| range.start >= start);
        pieces.push(Piece {
            text: &text[cut[0]..cut[1]],
            begin: begin.into_iter().map(|(key, _)| *key).collect(),
            go_on: go_on.into_iter().take(MOST_GOING_ON).map(|(key, _)| *key).collect(),
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "[page 3]\n\nOne two three.\n\n[page 4]\n\nfour five.\n";

    fn shown(part: &str, stretches: &[(usize, Range<isize>)]) -> String {
        let piece = |piece: &Piece<'_>| match (&piece.begin[..], &piece.go_on[..]) {
            ([], []) => piece.text.to_owned(),
            (begin, go_on) => format!("{{{begin:?}{go_on:?} {}}}", piece.text),
        };
        let page =
            |page: &MarkedPage<'_>| format!("{:?}: {}", page.number, page.pieces.iter().map(piece).collect::<String>());
        pages(part, stretches).iter().map(page).collect::<Vec<_>>().join(" | ")
    }

    /// As [`places`] has them, as stretches.
    fn found(part: &str, next: &str, quotes: &[&str]) -> Vec<(usize, Range<isize>)> {
        let words: Vec<Words<'_>> = quotes.iter().map(|text| Words { text, page: None }).collect();
        let placed = places(part, next, &words).into_iter().enumerate();
        let stretch = |(key, place): (usize, Option<Range<usize>>)| {
            place.map(|place| (key, place.start.cast_signed()..place.end.cast_signed()))
        };
        placed.filter_map(stretch).collect()
    }

    #[test]
    fn stretches_that_overlap_and_run_over_a_page_are_split() {
        let stretches = found(PART, "", &["two three. four", "One two", "five", "two"]);
        assert_eq!(
            shown(PART, &stretches),
            "Some(3): {[1][] One }{[0, 3][1] two}{[][0]  three.} | Some(4): {[][0] four} {[2][] five}."
        );
    }

    #[test]
    fn a_stretch_may_run_into_the_next_part() {
        let (part, next) = ("[page 1]\n\nIt begins\n", "[page 2]\n\nand ends.\n");
        let stretches = found(part, next, &["begins and ends", "and ends"]);
        assert_eq!(stretches.len(), 1, "what begins in the next part is that part's");
        assert_eq!(shown(part, &stretches), "Some(1): It {[0][] begins}");
        let length = part.len().cast_signed();
        let carried: Vec<_> =
            stretches.into_iter().map(|(key, range)| (key, range.start - length..range.end - length)).collect();
        assert_eq!(shown(next, &carried), "Some(2): {[][0] and ends}.");
    }

    #[test]
    fn a_text_without_pages_is_one() {
        assert_eq!(shown("Only this.\n", &found("Only this.\n", "", &["this."])), "None: Only {[0][] this.}");
        assert_eq!(shown("", &[]), "None: ");
        assert_eq!(shown("Before.\n[page 2]\nafter.\n", &[]), "Some(2): Before. | Some(2): after.");
    }

    #[test]
    fn no_more_than_some_are_named_as_going_on() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let stretches: Vec<_> =
            (0..20usize).map(|key| (key, 0..text.len().cast_signed() - key.cast_signed())).collect();
        let page = &pages(text, &stretches)[0];
        assert_eq!(page.pieces[0].begin.len(), 20);
        assert!(page.pieces[1..].iter().all(|piece| piece.go_on.len() <= MOST_GOING_ON));
    }
}
