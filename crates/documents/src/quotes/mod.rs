//! Quotes: does this passage occur in that source, and on which page?
//!
//! A citation stands or falls with its quote, so the answer must be right in both directions. What typesetting does to
//! text is forgiven: white space, words broken at a line end, ligatures, typographic quotation marks and dashes, soft
//! hyphens, page marks between two halves of a sentence. What an author or a model does to it is not: every word, every
//! capital letter and every full stop counts, and a quote begins and ends where words do.
//!
//! Source and quote are brought into the same [`normalize`] form, the source once; then finding is a search for bytes.

mod nearest;
mod normalize;

use crate::composed;
use memchr::memmem;
use normalize::Normal;
use std::ops::Range;

/// Bytes that are looked at before and behind a quote for the sentences around it.
const AROUND: usize = 400;

/// Most places that are looked at where a quote stands but for its hyphens.
const MOST_PLACES: usize = 20;

/// Shorter quotes, in characters, prove nothing.
pub const SHORTEST: usize = 8;

/// A document's text, prepared for being asked about quotes.
#[derive(Debug)]
pub struct SourceText {
    normal: Normal,
    /// As it was given, in composed form.
    text: String,
}

/// A place where a quote stands but for hyphens inside words: in one of the two only.
#[derive(Clone, Debug, PartialEq)]
pub struct ButForHyphens {
    /// [`Match::Found`] or [`Match::OnOtherPage`], if the hyphens do not matter.
    pub answer: Match,
    /// The pages it is on, where the source has pages.
    pub pages: Option<(u32, u32)>,
    /// The two halves of each word in question.
    pub words: Vec<(String, String)>,
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

/// A text in the form in which quotes are searched: on one line, with plain signs, without the hyphens inside words.
pub fn comparable(text: &str) -> String {
    Normal::of(&composed(text)).text
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
    /// Prepares a text; `[page N]` lines in it say where pages begin (see [`crate::to_text_file`]).
    pub fn new(marked: &str) -> Self {
        let text = composed(marked).into_owned();
        Self { normal: Normal::of(&text), text }
    }

    /// Whether a quote occurs, on whatever page; one that does not costs no search for what is like it.
    pub fn contains(&self, quote: &str) -> bool {
        let quote = Normal::of(&composed(quote));
        let mut places = memmem::find_iter(self.normal.text.as_bytes(), quote.text.as_bytes());
        !quote.text.is_empty() && places.any(|start| self.normal.holds(start, &quote))
    }

    /// Looks for a quote, on a page if one is named. A quote that runs over the end of a page is on both pages and
    /// found on the one it begins on. In a source without pages the page named means nothing.
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

    /// The bytes of the text, as it was given, in which a quote stands: the first place on the page named, or in the whole
    /// text where none is named or it has no pages.
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

    /// The places where a quote stands but for hyphens inside words. Whether a line end parted those words in the document
    /// this text was made from cannot be seen here any more.
    pub fn find_but_for_hyphens(&self, quote: &str, page: Option<u32>) -> Vec<ButForHyphens> {
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
            ButForHyphens {
                answer: if elsewhere { Match::OnOtherPage(found) } else { Match::Found(found) },
                pages,
                words,
            }
        };
        let mut places: Vec<ButForHyphens> = places.take(MOST_PLACES).map(place).collect();
        places.sort_by_key(|place| matches!(place.answer, Match::OnOtherPage(_)));
        places
    }

    /// Whether a line end parts a word in this text, and where.
    pub fn parts(&self, (left, right): &(String, String)) -> bool {
        self.normal.parted().any(|halves| halves == (left.as_str(), right.as_str()))
    }

    /// Whether the hyphen of a word that a line end parts is its own: the text has the word so elsewhere, and not without.
    fn keeps_hyphen(&self, left: &str, right: &str) -> bool {
        let occurs = |word: String| memmem::find(self.text.as_bytes(), word.as_bytes()).is_some();
        occurs(format!("{left}-{right}")) && !occurs(format!("{left}{right}"))
    }

    /// A stretch of the normal form as the source has it, with what stands around it.
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

    /// Without page marks and line ends; the halves of a word that a line end parts are joined.
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
