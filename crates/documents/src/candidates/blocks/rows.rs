//! Rows of a table without a frame: lines whose cells are separated by semicolons, bars or tabs.
//!
//! `7;The clerk must sign.;open` is no part of the sentence on the next line. Running text has semicolons and bars too, so
//! only several lines with equally many of them, one after the other, are rows.

use std::collections::BTreeSet;

/// Fewer lines may be alike by chance.
const LEAST_ROWS: usize = 3;
/// Fewer separators in a line may be those of a sentence.
const LEAST_SEPARATORS: usize = 2;
const SEPARATORS: [char; 3] = [';', '|', '\t'];

/// Where the lines begin that are rows.
pub(super) fn lines(marked: &str) -> BTreeSet<usize> {
    let mut at = 0;
    let lines: Vec<(usize, &str)> = marked
        .split_inclusive('\n')
        .map(|line| {
            at += line.len();
            (at - line.len(), line.trim_end())
        })
        .collect();
    let mut rows = BTreeSet::new();
    for separator in SEPARATORS {
        let alike = |one: &(usize, &str), next: &(usize, &str)| count(one.1, separator) == count(next.1, separator);
        let runs = lines.chunk_by(alike).filter(|run| run.len() >= LEAST_ROWS);
        let of_rows =
            runs.filter(|run| run.first().is_some_and(|(_, line)| count(line, separator) >= LEAST_SEPARATORS));
        rows.extend(of_rows.flatten().map(|(at, _)| *at));
    }
    rows
}

/// How many separators a line has behind its indent; none if it is a row of a framed table.
fn count(line: &str, separator: char) -> usize {
    let text = line.trim_start();
    if text.starts_with('|') { 0 } else { text.matches(separator).count() }
}
