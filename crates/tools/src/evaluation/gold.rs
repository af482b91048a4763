//! The gold list: known content of documents, one JSON object per line.

use super::Quote;
use serde::Deserialize;

/// An entry of the gold list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Gold {
    /// Its line in the file, from 1.
    #[serde(skip)]
    pub line: usize,
    /// The document.
    pub document: String,
    /// The page that contains it.
    pub page: Option<u32>,
    /// The passage that contains it.
    pub passage: Option<u32>,
    /// The text, verbatim.
    pub text: String,
    /// An optional name by the list's author.
    pub id: Option<String>,
}

/// Why a list cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no line of a gold list ({reason}); write {{\"document\": …, \"page\": …, \"text\": …}}")]
pub struct GoldError {
    line: usize,
    reason: String,
}

impl Gold {
    /// Parses a list; blank lines are skipped.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(list: &str) -> Result<Vec<Self>, GoldError> {
        let lines = list.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| Self::read_line(at + 1, line)).collect()
    }

    fn read_line(line: usize, text: &str) -> Result<Self, GoldError> {
        let wrong = |reason: String| GoldError { line, reason };
        let gold: Self = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match gold.text.trim().is_empty() {
            true => Err(wrong("its `text` is empty".to_owned())),
            false => Ok(Self { line, ..gold }),
        }
    }

    /// Whether a source is the line's document, whose path may be given with or without the folder `input/`.
    pub(super) fn is_of(&self, source: &str) -> bool {
        let plain = |path: &'_ str| path.trim_start_matches("./").trim_start_matches("input/").to_owned();
        plain(&self.document) == plain(source)
    }

    /// Whether a quote is on the line's page, or, if the line has no page, in its passage.
    pub(super) fn is_at(&self, quote: &Quote) -> bool {
        match (self.page, self.passage) {
            (None, None) => false,
            (Some(_), _) if self.page == quote.page => true,
            (_, Some(_)) => self.passage == quote.passage,
            _ => false,
        }
    }
}
