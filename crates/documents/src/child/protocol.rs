//! The protocol between the parser child and its parent: a request as the child's argument, and JSON lines on its stdout,
//! one page per line and then one final message. A long page, or the whole text of a document without pages, comes in
//! pieces: several lines with one number.
//!
//! Without the final message the child did not finish, whatever its output.

use crate::error::UNNAMED;
use crate::{DocumentError, Kind, Page};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The result of a parser: pages in order, and properties of the whole document.
pub(crate) type Parsed = Result<(Vec<Page>, Trailer), Failure>;

/// Longer pages are sent in pieces of at most this size, so that a long document is never in memory as a whole.
const PIECE_BYTES: usize = 64 << 10;

/// What the parent asks for, as JSON in the child's argument.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    /// The pages to read; none: all.
    pub(crate) pages: Option<RangeInclusive<u32>>,
    /// Only open the document, and count its pages.
    pub(crate) probe: bool,
    /// Only the main article of a web page.
    pub(crate) article: bool,
    /// The lines of a PDF as printed.
    pub(crate) lines: bool,
    /// The limits that the child sets on itself.
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_secs: u64,
    pub(crate) output_bytes: u64,
}

/// One line from the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// The next page.
    Page(Page),
    /// Everything was sent.
    End(Trailer),
    /// The document cannot be read; nothing follows.
    Error(Failure),
}

/// Properties of the whole document.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trailer {
    /// The title the format states.
    pub(crate) title: Option<String>,
    /// Total number of pages, independent of the request; absent if the document has no pages.
    pub(crate) pages: Option<u32>,
    /// The pages with visible content that is mostly missing from their text.
    #[serde(default)]
    pub(crate) unread: Vec<u32>,
    /// One sentence each.
    pub(crate) warnings: Vec<String>,
}

/// The part of [`DocumentError`] that a child can find out.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Failure {
    /// A password is needed.
    Encrypted,
    /// The parser gave up.
    Damaged {
        /// Why, without a full stop.
        reason: String,
    },
    /// No requested page has any words.
    NoText {
        /// How many pages that are.
        pages: u32,
        /// The first of them.
        first: u32,
        /// Those of them with visible content.
        #[serde(default)]
        unread: Vec<u32>,
        /// Further findings, one sentence each.
        #[serde(default)]
        why: Vec<String>,
    },
    /// Requested pages do not exist.
    NoSuchPage {
        /// The first requested page.
        asked: u32,
        /// How many pages there are.
        count: u32,
    },
    /// More text than the requested maximum.
    TooLong {
        /// How much there is, in bytes.
        bytes: u64,
        /// How much it may be.
        most: u64,
    },
}

/// A page's text in pieces, one for an empty page: each piece except the last ends at a paragraph, else at a line, else
/// anywhere.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        if text.len() <= PIECE_BYTES {
            return rest.take();
        }
        let window = &text[..text.floor_char_boundary(PIECE_BYTES)];
        let end = window.rfind("\n\n").map(|at| at + 2).or_else(|| window.rfind('\n').map(|at| at + 1));
        let (piece, after) = text.split_at(end.unwrap_or(window.len()));
        rest = Some(after);
        Some(piece)
    })
}

impl Failure {
    /// A document without pages that has no words.
    pub(crate) fn no_text(why: Vec<String>) -> Self {
        Self::NoText { pages: 0, first: 1, unread: Vec::new(), why }
    }

    /// A parser's error as the reason of [`Failure::Damaged`]: one line, no full stop, of bounded length.
    pub(crate) fn damaged(error: impl std::fmt::Display) -> Self {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default().trim().trim_end_matches('.');
        Self::Damaged { reason: line.chars().take(300).collect() }
    }
}

impl From<Failure> for DocumentError {
    fn from(failure: Failure) -> Self {
        let name = UNNAMED.to_owned();
        match failure {
            Failure::Encrypted => Self::Encrypted { name },
            Failure::Damaged { reason } => Self::Damaged { name, reason },
            Failure::NoText { pages, first, unread, why } => Self::NoText { name, pages, first, unread, why },
            Failure::NoSuchPage { asked, count } => Self::NoSuchPage { name, asked, count },
            Failure::TooLong { bytes, most } => Self::TooLong { name, bytes, most },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_page_comes_in_pieces_that_are_the_page_again() {
        let paragraphs = "A line of some words.\nAnother line.\n\n".repeat(5_000);
        let lines = "A line of some words.\n".repeat(9_000);
        for (text, end) in [(paragraphs.as_str(), "\n\n"), (lines.as_str(), "\n"), ("ä".repeat(100_000).as_str(), "ä")]
        {
            let parts: Vec<&str> = pieces(text).collect();
            assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= PIECE_BYTES && part.ends_with(end)));
            assert_eq!(parts.concat(), text);
        }
        assert_eq!(pieces("").collect::<Vec<_>>(), [""]);
    }
}
