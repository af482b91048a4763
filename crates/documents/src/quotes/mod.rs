//! Quotes: whether a passage occurs in a source, and on which page.
//!
//! A citation depends on its quote, so neither false positives nor false negatives are acceptable. Effects of
//! typesetting are ignored: white space, words split at a line end, ligatures, typographic quotation marks and dashes,
//! soft hyphens, page marks within a sentence. Changes by an author or a model are not: every word, every capital
//! letter and every full stop counts, and a quote begins and ends at word boundaries.
//!
//! Source and quote are converted into the same [`normalize`] form, the source once; the lookup is then a byte search.

mod nearest;
mod normalize;

use crate::composed;
use memchr::memmem;
use normalize::Normal;
pub(crate) use normalize::joined;
use std::ops::Range;

/// Bytes before and after a quote that are searched for the surrounding sentences.
const AROUND: usize = 400;

/// Maximum number of examined places where a quote occurs with different hyphens.
const MOST_PLACES: usize = 20;

/// Minimum length of a quote in characters.
pub const SHORTEST: usize = 8;

/// A document's text, prepared for quote lookups.
#[derive(Debug)]
pub struct SourceText {
    normal: Normal,
    /// The original text, in composed form.
    text: String,
}

/// A place where a quote occurs except for hyphens inside words that only one of the two has.
#[derive(Clone, Debug, PartialEq)]
pub struct HyphenMatch {
    /// [`Match::Found`] or [`Match::OnOtherPage`], if the hyphens are ignored.
    pub answer: Match,
    /// Its pages, if the source has pages.
    pub pages: Option<(u32, u32)>,
    /// The two halves of each word in question.
    pub words: Vec<(String, String)>,
}

/// The result of a lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// It occurs.
    Found(Found),
    /// It occurs, but not on the named page.
    OnOtherPage(Found),
    /// It does not occur.
    NotFound {
        /// The most similar passage, if there is one.
        nearest: Option<Passage>,
    },
    /// It has fewer than [`SHORTEST`] characters.
    TooShort,
}

/// A text in the form used for search: on one line, with plain characters, without hyphens inside words.
pub fn comparable(text: &str) -> String {
    Normal::of(&composed(text)).text
}

/// An occurrence of a quote in its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The page on which it begins, if the source has pages.
    pub page: Option<u32>,
    /// The page it ends on.
    pub page_to: Option<u32>,
    /// Its characters in the source, on one line; a word split at a line end is joined.
    pub text: String,
    /// The text before it, from the beginning of a sentence if one is near, on one line.
    pub before: String,
    /// The text after it, to the end of a sentence if one is near.
    pub after: String,
}

/// A passage of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The page on which it begins, if the source has pages.
    pub page: Option<u32>,
    /// Its words on one line; quoting them exactly gives a quote that is found.
    pub text: String,
    /// Similarity from 0 to 1: the share of common words, weighted by length.
    pub similarity: f64,
}

impl SourceText {
    /// Prepares a text; `[page N]` lines mark the beginning of pages (see [`crate::to_text_file`]).
    pub fn new(marked: &str) -> Self {
        let text = composed(marked).into_owned();
        Self { normal: Normal::of(&text), text }
    }

    /// Whether a quote occurs, on any page, without searching for similar passages otherwise.
    pub fn contains(&self, quote: &str) -> bool {
        let quote = Normal::of(&composed(quote));
        let mut places = memmem::find_iter(self.normal.text.as_bytes(), quote.text.as_bytes());
        !quote.text.is_empty() && places.any(|start| self.normal.holds(start, &quote))
    }

    /// Looks up a quote, on a page if one is named. A quote that crosses the end of a page is on both pages and
    /// reported on the first. In a source without pages the named page is ignored.
    pub fn find(&self, quote: &str, page: Option<u32>) -> Match {
        let quote = Normal::of(&composed(quote));
        if quote.text.chars().count() < SHORTEST {
            return Match::TooShort;
        }
        let mut elsewhere = None;
        for start in memmem::find_iter(self.normal.text.as_bytes(), quote.text.as_bytes()) {
            if !self.normal.holds(start, &quote) {
                continue;
            }
            let stretch = start..start + quote.text.len();
            match (page, self.normal.page_at(start), self.normal.page_at(stretch.end - 1)) {
                (Some(asked), Some(first), Some(last)) if !(first..=last).contains(&asked) => {
                    elsewhere.get_or_insert(stretch);
                }
                _ => return Match::Found(self.found(stretch)),
            }
        }
        match elsewhere {
            Some(stretch) => Match::OnOtherPage(self.found(stretch)),
            None => Match::NotFound { nearest: nearest::nearest(&self.normal, &quote) },
        }
    }

    /// The byte range of a quote in the original text: the first occurrence on the named page, or in the whole text if
    /// no page is named or it has no pages.
    pub fn place(&self, quote: &str, page: Option<u32>) -> Option<Range<usize>> {
        let quote = Normal::of(&composed(quote));
        let within = match page {
            Some(page) => self.normal.of_page(page)?,
            None => 0..self.normal.text.len(),
        };
        if quote.text.is_empty() {
            return None;
        }
        // It begins on the page and may end on another.
        let end = self.normal.text.len().min(within.end + quote.text.len());
        let searched = &self.normal.text.as_bytes()[within.start..end];
        let starts = memmem::find_iter(searched, quote.text.as_bytes()).map(|at| within.start + at);
        let mut starts = starts.take_while(|start| *start < within.end);
        let start = starts.find(|start| self.normal.holds(*start, &quote))?;
        Some(self.normal.original(&self.text, start..start + quote.text.len()))
    }

    /// The places where a quote occurs except for hyphens inside words. Whether those words were split at a line end in
    /// the original document is no longer known here.
    pub fn find_but_for_hyphens(&self, quote: &str, page: Option<u32>) -> Vec<HyphenMatch> {
        let quote = Normal::of(&composed(quote));
        if quote.text.chars().count() < SHORTEST {
            return Vec::new();
        }
        let starts = memmem::find_iter(self.normal.text.as_bytes(), quote.text.as_bytes());
        let places = starts.filter_map(|start| self.normal.differing(start, &quote).map(|offsets| (start, offsets)));
        let place = |(start, offsets): (usize, Vec<usize>)| {
            let found = self.found(start..start + quote.text.len());
            let pages = found.page.zip(found.page_to);
            let elsewhere = page.zip(pages).is_some_and(|(page, (first, last))| !(first..=last).contains(&page));
            let halves = offsets.into_iter().map(|offset| self.normal.halves(offset));
            let words = halves.map(|(left, right)| (left.to_owned(), right.to_owned())).collect();
            HyphenMatch {
                answer: if elsewhere { Match::OnOtherPage(found) } else { Match::Found(found) },
                pages,
                words,
            }
        };
        let mut places: Vec<HyphenMatch> = places.take(MOST_PLACES).map(place).collect();
        places.sort_by_key(|place| matches!(place.answer, Match::OnOtherPage(_)));
        places
    }

    /// Whether a word is split at a line end in this text, and where.
    pub fn parts(&self, (left, right): &(String, String)) -> bool {
        self.normal.parted().any(|halves| halves == (left.as_str(), right.as_str()))
    }

    /// Whether the hyphen of a word split at a line end is part of the word: the text has the word with it elsewhere,
    /// and not without.
    fn keeps_hyphen(&self, left: &str, right: &str) -> bool {
        let occurs = |word: String| memmem::find(self.text.as_bytes(), word.as_bytes()).is_some();
        occurs(format!("{left}-{right}")) && !occurs(format!("{left}{right}"))
    }

    /// A range of the normal form in the source's characters, with its surroundings.
    fn found(&self, stretch: Range<usize>) -> Found {
        let (page, page_to) = (self.normal.page_at(stretch.start), self.normal.page_at(stretch.end - 1));
        let original = self.normal.original(&self.text, stretch);
        let (before, after) = (&self.text[..original.start], &self.text[original.end..]);
        let from = before.len().saturating_sub(AROUND);
        let before = self.on_one_line(&before[before.ceil_char_boundary(from)..]);
        let after = self.on_one_line(&after[..after.floor_char_boundary(AROUND)]);
        Found {
            page,
            page_to,
            text: self.on_one_line(&self.text[original]),
            before: last_sentence(&before).to_owned(),
            after: first_sentence(&after).to_owned(),
        }
    }

    /// Without page marks and line ends; the halves of a word split at a line end are joined.
    fn on_one_line(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.lines().filter(|line| crate::page_mark(line).is_none()) {
            for (at, word) in line.split_whitespace().enumerate() {
                let parted = at == 0 && ends_in_a_hyphen(&out);
                if parted && word.starts_with(char::is_lowercase) {
                    let hyphen = out.pop();
                    let left = &out[out.trim_end_matches(char::is_alphanumeric).len()..];
                    let right = &word[..word.len() - word.trim_start_matches(char::is_alphanumeric).len()];
                    if hyphen != Some('\u{ad}') && self.keeps_hyphen(left, right) {
                        out.push('-');
                    }
                } else if !parted && !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(word);
            }
        }
        out
    }
}

/// Whether a search for these words, which are in a text, would return them as they are on one line: no line ends in a
/// word, and the words begin and end with characters that searches see.
pub(crate) fn is_plain(words: &str) -> bool {
    let is_seen = |sign: char| sign.is_alphanumeric() || sign.is_ascii_punctuation();
    let words = words.trim();
    words.starts_with(is_seen)
        && words.ends_with(is_seen)
        && !words.lines().any(|line| ends_in_a_hyphen(line.trim_end()))
}

fn ends_in_a_hyphen(text: &str) -> bool {
    let mut last = text.chars().rev();
    matches!(last.next(), Some('-' | '\u{ad}' | '\u{2010}')) && last.next().is_some_and(char::is_alphanumeric)
}

/// The last whole sentence before a position, and the beginning of the current one.
fn last_sentence(text: &str) -> &str {
    let body = text.trim_end_matches(['.', '!', '?', ' ']);
    let mut ends = body.match_indices(['.', '!', '?']).map(|(at, _)| at).filter(|at| ends_a_sentence(body, *at));
    ends.next_back().map_or(text, |at| text[at + 1..].trim_start())
}

/// The rest of a sentence and the next one.
fn first_sentence(text: &str) -> &str {
    let begins = text.trim_start_matches(['.', '!', '?', ' ']);
    let skipped = text.len() - begins.len();
    let end = begins.match_indices(['.', '!', '?']).map(|(at, _)| at).find(|at| ends_a_sentence(begins, *at));
    end.map_or(text, |at| &text[..skipped + at + 1])
}

fn ends_a_sentence(text: &str, at: usize) -> bool {
    text[at + 1..].chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests;
