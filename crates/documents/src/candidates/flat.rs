//! The lines of a block joined into one line, with a mapping back to their positions.

use super::blocks::Block;
use std::ops::Range;

/// A block's text on one line.
pub(super) struct Flat {
    /// The text.
    pub(super) text: String,
    /// For each line of the block: its start here and in the text, and its page.
    lines: Vec<(usize, usize, Option<u32>)>,
}

impl Flat {
    /// Joins the lines of a block; a word split at a line end becomes whole.
    pub(super) fn of(marked: &str, block: &Block) -> Self {
        let mut flat = Self { text: String::new(), lines: Vec::with_capacity(block.parts.len()) };
        for (range, page) in &block.parts {
            let line = &marked[range.clone()];
            if parts_a_word(&flat.text, line) {
                flat.text.pop();
            } else if !flat.text.is_empty() {
                flat.text.push(' ');
            }
            flat.lines.push((flat.text.len(), range.start, *page));
            flat.text.push_str(line);
        }
        flat
    }

    /// The lines of the block that a range of the joined line covers.
    pub(super) fn parts(&self, block: &Block, range: Range<usize>) -> Vec<(Range<usize>, Option<u32>)> {
        let ends = self.lines.iter().skip(1).map(|line| line.0).chain([self.text.len()]);
        let mut parts = Vec::new();
        for (((start, origin, page), end), (line, _)) in self.lines.iter().zip(ends).zip(&block.parts) {
            let from = origin + range.start.saturating_sub(*start);
            // The end of a line belongs to it, however it is joined to the next one.
            let to = if range.end >= end { line.end } else { origin + range.end.saturating_sub(*start) };
            if range.start < end && from < to.min(line.end) {
                parts.push((from..to.min(line.end), *page));
            }
        }
        parts
    }

    /// The position of a range of the line in the text, and the page on which it begins.
    pub(super) fn place(&self, range: Range<usize>) -> (Range<usize>, Option<u32>) {
        let (start, page) = self.origin(range.start);
        // By the last byte, since a line end may follow it.
        let (last, _) = self.origin(range.end.saturating_sub(1).max(range.start));
        (start..last + 1, page)
    }

    fn origin(&self, at: usize) -> (usize, Option<u32>) {
        let line = self.lines.partition_point(|(start, _, _)| *start <= at).saturating_sub(1);
        let (start, origin, page) = self.lines.get(line).copied().unwrap_or_default();
        (origin + at.saturating_sub(start), page)
    }
}

/// Words that can follow a suspended hyphen: `pre- and post-audit`.
const JOINERS: [&str; 5] = ["and", "or", "und", "oder", "bzw."];

fn parts_a_word(before: &str, line: &str) -> bool {
    let mut end = before.chars().rev();
    let hyphen = matches!(end.next(), Some('-' | '\u{ad}' | '\u{2010}')) && end.next().is_some_and(char::is_alphabetic);
    let first = line.split_whitespace().next().unwrap_or_default();
    hyphen && first.starts_with(char::is_lowercase) && !JOINERS.contains(&first)
}
