//! Quotes: does this passage occur in that source, and on which page?
//!
//! A citation stands or falls with its quote, so the answer must be right in both directions. What typesetting does to
//! text is forgiven: white space, words broken at a line end, ligatures, typographic quotation marks and dashes, soft
//! hyphens, page marks between two halves of a sentence. What an author or a model does to it is not: every word, every
//! capital letter and every full stop counts, and a quote begins and ends where words do.
//!
//! Source and quote are brought into the same [`normal`] form, the source once; then finding is a search for bytes.

mod nearest;
mod normal;

use memchr::memmem;
use normal::Normal;
use std::ops::Range;

/// Bytes that are looked at before and behind a quote for the sentences around it.
const AROUND: usize = 400;

/// Shorter quotes, in characters, prove nothing.
pub const SHORTEST: usize = 8;

/// A document's text, prepared for being asked about quotes.
#[derive(Debug)]
pub struct SourceText {
    normal: Normal,
    /// As it was given.
    text: String,
}

/// The answer to a quote.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// It occurs.
    Found(Found),
    /// It occurs, but not on the page named.
    OnOtherPage(Found),
    /// It does not occur.
    NotFound {
        /// The passage most like it, if any is at all like it.
        nearest: Option<Passage>,
    },
    /// It has fewer than [`SHORTEST`] characters.
    TooShort,
}

/// A quote where it stands in its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The page it begins on, where the source has pages.
    pub page: Option<u32>,
    /// The page it ends on.
    pub page_to: Option<u32>,
    /// Its characters as the source has them, on one line; a word that a line end parts is whole.
    pub text: String,
    /// What stands before it, from the beginning of a sentence on where one is near, on one line.
    pub before: String,
    /// What follows it, to the end of a sentence where one is near.
    pub after: String,
}

/// A passage of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The page it begins on, where the source has pages.
    pub page: Option<u32>,
    /// Its words on one line; quoting them as they are here is a quote that is found.
    pub text: String,
    /// How alike, from 0 to 1: the share of words in common, long ones counting more.
    pub similarity: f64,
}

impl SourceText {
    /// Prepares a text; `[page N]` lines in it say where pages begin (see [`crate::documents::to_text_file`]).
    pub fn new(marked: &str) -> Self {
        Self { normal: Normal::of(marked), text: marked.to_owned() }
    }

    /// Bytes of the text.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Looks for a quote, on a page if one is named. A quote that runs over the end of a page is on both pages and
    /// found on the one it begins on. In a source without pages the page named means nothing.
    pub fn find(&self, quote: &str, page: Option<u32>) -> Match {
        let quote = Normal::of(quote);
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

    /// A stretch of the normal form as the source has it, with what stands around it.
    fn found(&self, stretch: Range<usize>) -> Found {
        let (page, page_to) = (self.normal.page_at(stretch.start), self.normal.page_at(stretch.end - 1));
        let original = self.normal.original(&self.text, stretch);
        let (before, after) = (&self.text[..original.start], &self.text[original.end..]);
        let from = before.len().saturating_sub(AROUND);
        let before = on_one_line(&before[before.ceil_char_boundary(from)..]);
        let after = on_one_line(&after[..after.floor_char_boundary(AROUND)]);
        Found {
            page,
            page_to,
            text: on_one_line(&self.text[original]),
            before: last_sentence(&before).to_owned(),
            after: first_sentence(&after).to_owned(),
        }
    }
}

/// Without page marks and line ends; the halves of a word that a line end parts are joined.
fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| crate::documents::page_mark(line).is_none()) {
        for (at, word) in line.split_whitespace().enumerate() {
            let parted = at == 0 && ends_in_a_hyphen(&out);
            if parted && word.starts_with(char::is_lowercase) {
                out.pop();
            } else if !parted && !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

fn ends_in_a_hyphen(text: &str) -> bool {
    let mut last = text.chars().rev();
    matches!(last.next(), Some('-' | '\u{ad}' | '\u{2010}')) && last.next().is_some_and(char::is_alphanumeric)
}

/// The last whole sentence before a place, and what has begun since.
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
