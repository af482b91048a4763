//! Lines that are entries although no mark of a list or a table says so.
//!
//! - rows of a table without a frame: `7;The clerk must sign.;open`, or cells below each other, with spaces between them
//! - entries with labels: `REQ-001 The clerk must sign`, `[R2] The guard must wait`
//! - entries with signs that are no bullets, or have no space behind them: `=> The clerk must sign`, `•The guard must wait`
//!
//! Such a line is no part of the sentence on the next one. Running text has semicolons, spaces and numbers too, so only
//! several lines that are alike are entries.

use super::Line;
use plumbline_bounds::pattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Fewer lines may be alike by chance.
const LEAST: usize = 3;
/// Fewer separators in a line may be those of a sentence.
const LEAST_SEPARATORS: usize = 2;
const SEPARATORS: [char; 3] = [';', '|', '\t'];
/// Spaces between two cells; fewer are between words.
const GAP: &str = "   ";
/// Lines of an entry behind that with its label.
const MOST_BEHIND: usize = 4;

/// A label with a number (`REQ-001`, `[R2]`, `#3`, `Step 4:`, `2026-01-05`), or a sign.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(
        r#"^(?:(?P<name>(?:[A-Z][a-z]{1,11} )?[\[(<#]?(?:[A-Z][A-Za-z]{0,7}[-_.]?){0,3})(?P<number>\d{1,4}(?:[.-]\d{1,3}){0,4})[\])>]?[:.)]?[ \t]+|(?P<sign>[^\p{L}\p{N}\s|"'“„(>][^\p{L}\p{N}\s|"'“„(]{0,2}[ \t]*|o[ \t]+))["“„'(]?\p{Lu}"#,
    )
});

/// Where the lines begin that are rows, each a whole entry.
pub(super) fn rows(marked: &str) -> BTreeSet<usize> {
    let lines: Vec<Line<'_>> = super::placed_lines(marked).collect();
    let mut rows = BTreeSet::new();
    for separator in SEPARATORS {
        let alike = |one: &Line<'_>, next: &Line<'_>| count(one.1, separator) == count(next.1, separator);
        let runs = lines.chunk_by(alike).filter(|run| run.len() >= LEAST);
        let of_rows =
            runs.filter(|run| run.first().is_some_and(|(_, line)| count(line, separator) >= LEAST_SEPARATORS));
        rows.extend(of_rows.flatten().map(|(at, _)| *at));
    }
    let below = |one: &Line<'_>, next: &Line<'_>| cell(one.1).is_some_and(|column| cell(next.1) == Some(column));
    rows.extend(lines.chunk_by(below).filter(|run| run.len() >= LEAST).flatten().map(|(at, _)| *at));
    rows
}

/// Where the lines begin that have a label of a series, each the first line of an entry.
pub(super) fn labelled(marked: &str) -> BTreeSet<usize> {
    let lines = super::placed_lines(marked).enumerate();
    let labels = lines.filter_map(|(place, (at, line))| label(place, at, line.trim_start()));
    let labels: Vec<Label<'_>> = labels.collect();
    labels.chunk_by(Label::precedes).filter(|series| series.len() >= LEAST).flatten().map(|label| label.at).collect()
}

struct Label<'a> {
    /// The number of its line, and where it begins.
    place: usize,
    at: usize,
    /// What is before the number, or the sign.
    name: &'a str,
    /// The parts of the number; none of a sign.
    number: Vec<u32>,
}

impl Label<'_> {
    /// Whether another one is the next of its series.
    fn precedes(&self, next: &Self) -> bool {
        let is_next = self.number.is_empty() || self.number < next.number;
        next.place - self.place <= MOST_BEHIND + 1 && self.name == next.name && is_next
    }
}

fn label(place: usize, at: usize, line: &str) -> Option<Label<'_>> {
    let found = LABEL.captures(line)?;
    let number = found.name("number").map_or("", |number| number.as_str());
    let number = number.split(['.', '-']).filter_map(|part| part.parse().ok()).collect();
    let name = found.name("name").or_else(|| found.name("sign"))?.as_str();
    Some(Label { place, at, name, number })
}

/// How many separators a line has behind its indent; none if it is a row of a framed table.
fn count(line: &str, separator: char) -> usize {
    let text = line.trim_start();
    if text.starts_with('|') { 0 } else { text.matches(separator).count() }
}

/// The column, in characters, of a line's last cell.
fn cell(line: &str) -> Option<usize> {
    let (_, cell) = line.trim_start().rsplit_once(GAP)?;
    Some(line.chars().count() - cell.chars().count())
}
