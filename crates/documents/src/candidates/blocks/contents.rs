//! Entries of a table of contents: a title, a leader, and the number of a page.
//!
//! `The operator must sign ........ 4` is the name of a section, which the text below it says once more. A line with a
//! leader may also be one of a form, `The fee must be ........ 500`, so only several entries with ascending pages are a
//! table of contents.

use crate::page_mark;
use plumbline_bounds::pattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Fewer entries may be lines of a form.
const LEAST_ENTRIES: usize = 3;
/// Lines between two entries: one without a leader, the beginning of a long title.
const MOST_BETWEEN: usize = 3;

/// A leader and a page at the end of a line or of a row: `.... 4`, `. . . . A-3`, `… xii`, `____ 7`, `.... | 4`.
static PAGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(
        r"[^\s\d.…_·][\d.]{0,3}[ \t]*(?:\.{4,}|\.(?: \.){3,}|…+|_{4,}|·{4,})[ \t.|]*(?P<part>(?:[A-Z]{1,3}[-.])?)(?P<page>\d{1,4}|[ivxl]{1,7})$",
    )
});

/// An entry: the place of its line among those with text, and in the text, and its page.
struct Entry<'a> {
    line: usize,
    at: usize,
    page: (&'a str, u32),
}

impl Entry<'_> {
    /// Whether another one may come behind it in a table of contents. The parts of a document count their own pages.
    fn precedes(&self, next: &Self) -> bool {
        let ((part, page), (other, behind)) = (self.page, next.page);
        next.line - self.line <= MOST_BETWEEN + 1 && (part != other || page <= behind)
    }
}

/// Where the lines begin that are entries of a table of contents.
pub(super) fn lines(marked: &str) -> BTreeSet<usize> {
    let texts = super::placed_lines(marked).filter(|(_, line)| !line.is_empty() && page_mark(line).is_none());
    let entries: Vec<Entry<'_>> =
        texts.enumerate().filter_map(|(line, (at, text))| Some(Entry { line, at, page: page(text)? })).collect();
    let runs = entries.chunk_by(Entry::precedes).filter(|run| run.len() >= LEAST_ENTRIES);
    runs.flatten().map(|entry| entry.at).collect()
}

/// The part of the document and the number of an entry's page, 0 for a Roman one.
fn page(line: &str) -> Option<(&str, u32)> {
    let line = line.trim_end_matches(['|', ' ']);
    let may_be = line.ends_with(|last: char| last.is_ascii_alphanumeric()) && line.contains(['.', '…', '_', '·']);
    let found = may_be.then(|| PAGE.captures(line)).flatten()?;
    let page = found.name("page")?.as_str();
    Some((found.name("part")?.as_str(), page.parse().unwrap_or_default()))
}
