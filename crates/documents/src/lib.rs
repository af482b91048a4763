//! Documents: from the bytes a user supplies to page-marked text, and everything derived from that text.
//!
//! ```text
//! bytes ──Parser──▶ child process ──pages──▶ page-marked text ─┬─▶ chunks      along headings, within a token limit
//!                    (formats)                                 ├─▶ candidates  sentences that may state an obligation
//!                                                              └─▶ quotes      where a quote occurs, or nearly
//! ```
//!
//! No parser of these formats survives every hostile file: a stack overflow or a failed huge allocation ends the
//! process and cannot be caught in it. So a document is never parsed in the worker. The binary runs itself as a child
//! ([`Parser`] starts it, [`run_child`] is its body), with limits on memory, CPU time and output, an empty environment,
//! the document on stdin and JSON lines on stdout; a child that dies is an ordinary [`DocumentError`].
//!
//! The output is Markdown-like: headings, lists and tables as far as the format defines them, dehyphenated, without
//! running headers and footers. A paged document keeps its page numbers: [`to_text_file`] writes them as `[page N]`
//! lines, which chunks and citations use.
//!
//! | question | module |
//! |---|---|
//! | how is a document parsed without harm to the process | `child` |
//! | how does one format become text | `formats` |
//! | how is a text cut | [`chunking`] |
//! | which sentences may state an obligation | [`candidates`] |
//! | does a quote occur in a text, and where | [`quotes`] |
//! | what does the coverage ledger know of a chunk | [`passages`] |
//! | what has changed between two versions | [`versions`] |
//! | how is a quote shown on its page | [`marked`] |

pub mod candidates;
mod child;
mod chunk_file;
pub mod chunking;
pub mod entries;
mod error;
mod formats;
mod ligatures;
pub mod marked;
mod page_marks;
pub mod passages;
pub mod quotes;
pub mod surroundings;
pub mod versions;

/// The version of the extraction: how documents become text, passages and numbered sentences. It is raised when the
/// same bytes give a different result, so that answers of an earlier job, which refer to its numbers, are not carried
/// over.
pub const READING: &str = "1";

pub use child::{Limits, Parser, ParserPermit, run_child};
pub use error::{DocumentError, Ending};
pub use formats::{Kind, has_pages, kind_of, table_rows};
pub use ligatures::letters_of;
pub use page_marks::{TextFile, from_text_file, page_mark, push_page, to_text_file};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A text in composed form (NFC), like all text of documents and every quote that is looked up: `u` and a combining
/// diaeresis become `ü`.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// One page of a document, or a whole document without pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The page's position in the document, from 1. A number printed on the page may differ.
    pub number: u32,
    /// Markdown-like text; empty when the page has no text layer.
    pub text: String,
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The kind of the document.
    pub kind: Kind,
    /// Its title, if the format states one.
    pub title: Option<String>,
    /// The requested pages, in order; exactly one for a document without pages.
    pub pages: Vec<Page>,
    /// Whether the page numbers are meaningful: see [`has_pages`].
    pub paged: bool,
    /// The pages with visible content that is mostly missing from their text.
    pub unread: Vec<u32>,
    /// Content missing from the text or removed from it, one sentence each.
    pub warnings: Vec<String>,
}

/// Properties of a document besides its pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its title, if the format states one.
    pub title: Option<String>,
    /// The pages with visible content that is mostly missing from their text.
    pub unread: Vec<u32>,
    /// Content missing from the text or removed from it, one sentence each.
    pub warnings: Vec<String>,
}

/// Properties of a document that are known without extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The kind of the document.
    pub kind: Kind,
    /// Number of pages of a paged document.
    pub pages: Option<u32>,
}
