//! Scans text line by line.

use crate::error::ToolError;
use plumbline_bounds::Cancellation;
use plumbline_bounds::pattern;
use regex::Regex;
use std::time::Instant;

/// Maximum lines shown.
const MAX_SHOWN: usize = 100;
/// Maximum lines shown per file.
const MAX_SHOWN_OF_FILE: usize = 20;
/// Maximum characters shown of a line.
const MAX_LINE_CHARS: usize = 300;
/// Characters shown before the match in a longer line.
const LEAD_CHARS: usize = 80;
/// A longer line is matched against an expression piece by piece, in bytes: a search can be cancelled between pieces,
/// and the worst expression takes about a second for one.
const PIECE: usize = 8 * 1024;
/// The overlap of two pieces, in bytes, so that a match may cross their border.
const OVERLAP: usize = 1024;

/// The search terms: all of these in the same line.
#[derive(Clone)]
pub(crate) struct Finder {
    patterns: Vec<Regex>,
    /// Whether they are the model's own expressions, and may be costly.
    costly: bool,
}

impl Finder {
    /// The verbatim phrase, ignoring case and white space.
    pub(crate) fn phrase(query: &str) -> Result<Self, ToolError> {
        let words: Vec<String> = query.split_whitespace().map(regex::escape).collect();
        if words.is_empty() {
            return Err(ToolError::refused("`query` is blank; give the words to look for"));
        }
        Ok(Self { patterns: vec![build(&words.join(r"\s+"), true)?], costly: false })
    }

    /// All words of the query in any order; none if it is a single word.
    pub(crate) fn all_words(query: &str) -> Result<Option<Self>, ToolError> {
        let words: Vec<&str> = query.split_whitespace().collect();
        if words.len() < 2 {
            return Ok(None);
        }
        let patterns = words.into_iter().map(|word| build(&regex::escape(word), true)).collect::<Result<_, _>>()?;
        Ok(Some(Self { patterns, costly: false }))
    }

    /// A regular expression.
    pub(crate) fn regex(query: &str) -> Result<Self, ToolError> {
        Ok(Self { patterns: vec![build(query, false)?], costly: true })
    }

    /// Whether searching for it may take unbounded time.
    pub(crate) fn is_costly(&self) -> bool {
        self.costly
    }

    /// The position of the first term in the line, if all occur; an error if the search ends before that is known.
    fn find(&self, line: &str, search: &Search<'_>) -> Result<Option<usize>, Incomplete> {
        if !self.costly {
            search.goes_on()?;
            return Ok(self.find_whole(line));
        }
        let mut start = 0;
        loop {
            search.goes_on()?;
            let end = line.floor_char_boundary(start + PIECE);
            if let Some(at) = self.find_whole(&line[start..end]) {
                return Ok(Some(start + at));
            }
            if end == line.len() {
                return Ok(None);
            }
            start = line.floor_char_boundary(end - OVERLAP);
        }
    }

    fn find_whole(&self, text: &str) -> Option<usize> {
        let first = self.patterns.first()?.find(text)?.start();
        self.patterns[1..].iter().all(|other| other.is_match(text)).then_some(first)
    }
}

/// The limits of a search.
pub(crate) struct Search<'a> {
    /// When it times out.
    pub(crate) deadline: Instant,
    /// Whether the caller still waits.
    pub(crate) cancellation: &'a Cancellation,
}

impl Search<'_> {
    fn goes_on(&self) -> Result<(), Incomplete> {
        if self.cancellation.is_cancelled() || Instant::now() >= self.deadline { Err(Incomplete) } else { Ok(()) }
    }
}

/// The search ended before everything was scanned.
#[derive(Debug)]
pub(crate) struct Incomplete;

fn build(pattern: &str, any_case: bool) -> Result<Regex, ToolError> {
    pattern::of_search(pattern, any_case).map_err(|reason| {
        ToolError::refused(format!(
            "the regular expression is not usable: {reason}; mode `text` takes the query as it stands"
        ))
    })
}

/// Lines found so far.
#[derive(Default)]
pub(crate) struct Hits {
    /// The lines to show, as `path:line: text`.
    pub(crate) lines: Vec<String>,
    /// The number of all lines found.
    pub(crate) total: usize,
}

impl Hits {
    /// Scans one file. Content that is not text has no lines.
    ///
    /// # Errors
    /// [`Incomplete`] if the search has timed out or was cancelled.
    pub(crate) fn scan(
        &mut self,
        path: &str,
        content: &[u8],
        finder: &Finder,
        search: &Search<'_>,
    ) -> Result<(), Incomplete> {
        let Ok(text) = std::str::from_utf8(content) else {
            return Ok(());
        };
        let mut of_file = 0;
        for (number, line) in (1..).zip(text.lines()) {
            let Some(at) = finder.find(line, search)? else {
                continue;
            };
            self.total += 1;
            of_file += 1;
            if of_file <= MAX_SHOWN_OF_FILE && self.lines.len() < MAX_SHOWN {
                self.lines.push(format!("{path}:{number}: {}", excerpt(line, at)));
            }
        }
        Ok(())
    }
}

/// The line, or the part of it around the match.
fn excerpt(line: &str, at: usize) -> String {
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.trim().to_string();
    }
    let skip = line[..at].chars().count().saturating_sub(LEAD_CHARS);
    let piece: String = line.chars().skip(skip).take(MAX_LINE_CHARS).collect();
    let before = if skip > 0 { "…" } else { "" };
    let after = if skip + MAX_LINE_CHARS < line.chars().count() { "…" } else { "" };
    format!("{before}{}{after}", piece.trim())
}
