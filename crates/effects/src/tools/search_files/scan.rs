//! Going through text line by line.

use crate::tools::error::ToolError;
use regex::{Regex, RegexBuilder};

/// Most lines shown.
const MAX_SHOWN: usize = 100;
/// Most lines shown of one file.
const MAX_SHOWN_OF_FILE: usize = 20;
/// Longest piece of a line that is shown, in characters.
const MAX_LINE_CHARS: usize = 300;
/// Characters shown before the place found in a longer line.
const LEAD_CHARS: usize = 80;
/// Bounds the compiled size of an expression, in bytes; matching is linear in any case.
const MAX_REGEX_BYTES: usize = 2 * 1024 * 1024;

/// What is looked for: every one of these in the same line.
pub(super) struct Finder(Vec<Regex>);

impl Finder {
    /// The phrase as it stands, whatever its case and white space.
    pub(super) fn phrase(query: &str) -> Result<Self, ToolError> {
        let words: Vec<String> = query.split_whitespace().map(regex::escape).collect();
        if words.is_empty() {
            return Err(ToolError::refused("`query` is blank; give the words to look for"));
        }
        Ok(Self(vec![build(&words.join(r"\s+"), true)?]))
    }

    /// All words of the query in any order; none when it is a single word.
    pub(super) fn all_words(query: &str) -> Result<Option<Self>, ToolError> {
        let words: Vec<&str> = query.split_whitespace().collect();
        if words.len() < 2 {
            return Ok(None);
        }
        words.into_iter().map(|word| build(&regex::escape(word), true)).collect::<Result<_, _>>().map(Self).map(Some)
    }

    /// A regular expression.
    pub(super) fn regex(query: &str) -> Result<Self, ToolError> {
        Ok(Self(vec![build(query, false)?]))
    }

    /// Where in the line the first of them is, if all are.
    fn find(&self, line: &str) -> Option<usize> {
        let first = self.0.first()?.find(line)?.start();
        self.0[1..].iter().all(|other| other.is_match(line)).then_some(first)
    }
}

fn build(pattern: &str, any_case: bool) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern).case_insensitive(any_case).size_limit(MAX_REGEX_BYTES).build().map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or("it does not parse").trim_start_matches("error: ");
        ToolError::refused(format!(
            "the regular expression is not usable: {reason}; mode `text` takes the query as it stands"
        ))
    })
}

/// Lines found so far.
#[derive(Default)]
pub(super) struct Hits {
    /// The lines to show, as `path:line: text`.
    pub(super) lines: Vec<String>,
    /// All lines found.
    pub(super) total: usize,
}

impl Hits {
    /// Goes through one file. Content that is no text has no lines.
    pub(super) fn scan(&mut self, path: &str, content: &[u8], finder: &Finder) {
        let Ok(text) = std::str::from_utf8(content) else {
            return;
        };
        let mut of_file = 0;
        for (number, line) in (1..).zip(text.lines()) {
            let Some(at) = finder.find(line) else {
                continue;
            };
            self.total += 1;
            of_file += 1;
            if of_file <= MAX_SHOWN_OF_FILE && self.lines.len() < MAX_SHOWN {
                self.lines.push(format!("{path}:{number}: {}", excerpt(line, at)));
            }
        }
    }
}

/// The line, or the part of it around the place found.
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
