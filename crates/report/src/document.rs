//! A document of the report, while it is written.

use super::passages::{Counts, PassageLine};
use plumbline_documents::Kind;
use serde::Serialize;
use std::{collections::BTreeSet, ops::Range, path::Path};

/// A document of the report.
#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) counts: Counts,
    /// Prefix of its pages' ids: empty for the first document with a text.
    pub(crate) prefix: String,
    /// Its quotes that are marked.
    pub(crate) quotes: usize,
    /// Whether it may be quoted.
    pub(crate) is_source: bool,
    pub(crate) has_text: bool,
    /// Content missing from its text.
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) passages: Vec<PassageLine>,
    /// Pages that are written.
    #[serde(skip)]
    pub(crate) known: BTreeSet<u32>,
    /// Ranges that extend into the next part.
    #[serde(skip)]
    pub(crate) carried: Vec<(usize, Range<isize>)>,
}

impl Document {
    /// Whether lines with `#` signs are headings in its text. In plain text and tables they are the author's lines.
    pub(crate) fn has_headings(&self) -> bool {
        let extension = Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        Kind::from_extension(extension).is_some_and(|kind| !matches!(kind, Kind::Text | Kind::Table))
    }
}
