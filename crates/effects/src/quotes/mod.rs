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

/// Shorter quotes, in characters, prove nothing.
pub const SHORTEST: usize = 8;

/// A document's text, prepared for being asked about quotes.
#[derive(Debug)]
pub struct SourceText {
    normal: Normal,
}

/// The answer to a quote.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// It occurs.
    Found {
        /// The page it begins on, where the source has pages.
        page: Option<u32>,
    },
    /// It occurs, but not on the page named.
    OnOtherPage {
        /// The first page it begins on.
        page: u32,
    },
    /// It does not occur.
    NotFound {
        /// The passage most like it, if any is at all like it.
        nearest: Option<Passage>,
    },
    /// It has fewer than [`SHORTEST`] characters.
    TooShort,
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
        Self { normal: Normal::of(marked) }
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
            let begins = self.normal.page_at(start);
            let ends = self.normal.page_at(start + quote.text.len() - 1);
            match (page, begins, ends) {
                (Some(asked), Some(first), Some(last)) if !(first..=last).contains(&asked) => {
                    elsewhere.get_or_insert(first);
                }
                _ => return Match::Found { page: begins },
            }
        }
        match elsewhere {
            Some(page) => Match::OnOtherPage { page },
            None => Match::NotFound { nearest: nearest::nearest(&self.normal, &quote) },
        }
    }
}

#[cfg(test)]
mod tests;
