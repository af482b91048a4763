//! Documents: from the bytes a user supplies to page-marked text, and what is made of that text.
//!
//! ```text
//! bytes ──Parser──▶ child process ──pages──▶ page-marked text ─┬─▶ chunks      along headings, within a token limit
//!                    (formats)                                 ├─▶ candidates  sentences that may state an obligation
//!                                                              └─▶ quotes      where a quote stands, or what comes nearest
//! ```
//!
//! No pure parser of these formats survives every hostile file: a stack overflow or a failed huge allocation ends the
//! process it happens in, and nothing in that process can catch it. So a document is never parsed in the worker. The
//! binary runs itself again as a child ([`Parser`] starts it, [`run_child`] is its body), with limits on memory, CPU
//! time and output, an empty environment, the document on stdin and JSON lines on stdout; a child that dies is an
//! ordinary [`DocumentError`].
//!
//! What comes back is Markdown-like: headings, lists and tables as far as the format tells them, words mended that a
//! line end had broken, running headers and footers left out. A paged document keeps its page numbers all the way:
//! [`to_text_file`] writes them as `[page N]` lines, from which chunks and citations take them.
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
pub mod chunking;
pub mod entries;
mod error;
mod formats;
pub mod marked;
mod page_marks;
pub mod passages;
pub mod quotes;
pub mod surroundings;
pub mod versions;

/// The version of the reading: how documents become text, passages and numbered sentences. It is raised when the same bytes come to
/// other ones, so that what an earlier job has answered by its numbers is not carried over to these.
pub const READING: &str = "1";

pub use child::{Limits, Parser, ParserPermit, run_child};
pub use error::{DocumentError, Ending};
pub use formats::{Kind, has_pages, kind_of};
pub use page_marks::{TextFile, from_text_file, page_mark, push_page, to_text_file};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A text in composed form (NFC), as all text of documents is and every quote that is looked for in it: `u` and a combining
/// diaeresis are `ü`.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// One page of a document, or the whole of one that has no pages.
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
    /// What the document was.
    pub kind: Kind,
    /// Its title, where the format states one.
    pub title: Option<String>,
    /// The pages asked for, in order; exactly one for a document that is not paged.
    pub pages: Vec<Page>,
    /// Whether the page numbers mean anything: see [`has_pages`].
    pub paged: bool,
    /// The pages that show something most of which is not in their text.
    pub unread: Vec<u32>,
    /// What is not in the text, or was left out of it, one sentence each.
    pub warnings: Vec<String>,
}

/// What is known of a document besides its pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its title, where the format states one.
    pub title: Option<String>,
    /// The pages that show something most of which is not in their text.
    pub unread: Vec<u32>,
    /// What is not in the text, or was left out of it, one sentence each.
    pub warnings: Vec<String>,
}

/// What a look at a document tells without extracting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What the document is.
    pub kind: Kind,
    /// Number of pages of a paged document.
    pub pages: Option<u32>,
}
