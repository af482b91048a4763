//! What the parser child says to its parent: JSON lines on stdout, a page a line and then one last word.
//!
//! Without a last word the child did not finish, however its output looks.

use super::error::UNNAMED;
use super::{DocumentError, Page};
use serde::{Deserialize, Serialize};

/// One line from the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The next page.
    Page(Page),
    /// Everything was sent.
    End(Trailer),
    /// The document cannot be had; nothing follows.
    Error(Failure),
}

/// What is known of the document as a whole.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trailer {
    /// The title the format states.
    pub(super) title: Option<String>,
    /// How many pages the document has, whichever were asked for; absent where there are none.
    pub(super) pages: Option<u32>,
    /// One sentence each.
    pub(super) warnings: Vec<String>,
}

/// The part of [`DocumentError`] that a child can find out.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Failure {
    /// A password is needed.
    Encrypted,
    /// The parser gave up.
    Damaged {
        /// Why, without a full stop.
        reason: String,
    },
    /// No page asked for has any words.
    NoText {
        /// How many pages that are.
        pages: u32,
        /// The first of them.
        first: u32,
    },
    /// Pages were asked for that there are not.
    NoSuchPage {
        /// The first page asked for.
        asked: u32,
        /// How many pages there are.
        count: u32,
    },
}

impl Failure {
    /// A parser's error as the reason of [`Failure::Damaged`]: one line, no full stop, of bounded length.
    pub(super) fn damaged(error: impl std::fmt::Display) -> Self {
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
            Failure::NoText { pages, first } => Self::NoText { name, pages, first },
            Failure::NoSuchPage { asked, count } => Self::NoSuchPage { name, asked, count },
        }
    }
}
