//! The printed lines of a page, and the paragraph boundaries that they imply.
//!
//! The parser joins too many lines into paragraphs: text after a list becomes part of its last entry, footnotes part of
//! the text. The lines show the boundaries: a wider gap, another type size, a sentence that ends well before the
//! margin, a clause number. So each paragraph is traced back to its lines and split at these; a paragraph that cannot
//! be traced, such as a table that the parser has rearranged, is not changed.

use super::clauses::{begins_clause, is_labelled, is_numbered};
use super::sections::NEXT_LINE;
use super::tall_cells;
use unpdf::parser::TextLine;

/// Position and typography of a line; in points from the lower left corner of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Baseline.
    pub(crate) y: f32,
    /// Size of most of its type.
    pub(crate) size: f32,
    /// Whether all of it is bold.
    pub(crate) bold: bool,
    left: f32,
    right: f32,
}

impl Line {
    /// A line of text outside the page's content, with its horizontal extent.
    pub(crate) fn placed(y: f32, size: f32, (left, right): (f32, f32)) -> Self {
        Self { y, size, bold: false, left, right }
    }

    /// The horizontal distance of two lines; none if both may be in one column.
    pub(crate) fn distance(&self, other: &Self) -> f32 {
        (self.left - other.right).max(other.left - self.right).max(0.0)
    }

    /// Whether this line is above another in the same column.
    pub(crate) fn is_above(&self, other: &Self) -> bool {
        self.y > other.y && self.shares_column(other)
    }

    /// Whether both are in one type.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        (self.size - other.size).abs() < 0.5 && self.bold == other.bold
    }

    /// Whether both may be in one column.
    pub(crate) fn shares_column(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right
    }
}

/// The lines of a page that no paragraph has been traced to yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<(Line, String)>,
    used: Vec<bool>,
    /// The page's lines in printed order.
    as_set: String,
    /// The usual distance between lines, and how often it occurs.
    leading: (f32, usize),
    /// The heights of the lines drawn between the rows of tables, from the top.
    pub(crate) drawn: Vec<f32>,
}

/// A paragraph as its lines show it.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its text, with the page's line ends if known.
    pub(crate) text: String,
    /// Its first line, if it was traced.
    pub(crate) first: Option<Line>,
    /// How many lines it has, if it was traced.
    pub(crate) lines: usize,
    /// Whether all of it is bold.
    bold: bool,
}

/// A gap this many times the usual one separates paragraphs.
const WIDE_GAP: f32 = 1.2;
/// Type sizes that differ by this factor belong to different paragraphs.
const OTHER_SIZE: f32 = 1.12;
/// A paragraph's last line counts as short if it ends at least this share of the width before the margin.
const SHORT_BY: f32 = 0.12;
/// A distance that occurs less often on a page may be that between paragraphs.
const OFTEN: usize = 6;
/// Usual maximum distance between lines, in type sizes.
const USUAL_LEADING: f32 = 1.45;
/// Pieces of a line this far apart, in type sizes, are unrelated.
const TABULATOR: f32 = 2.5;
/// The width of a character, in type sizes.
const CHARACTER: f32 = 0.6;
/// A line with more words is no heading above smaller text.
const MOST_OF_A_TITLE: usize = 6;
/// Words that do not end a heading.
const JOINING: [&str; 12] = ["and", "or", "of", "the", "to", "for", "in", "und", "oder", "der", "die", "von"];
/// Longest marker of a list entry, in characters: `(viii)`.
const LONGEST_MARKER: usize = 6;

#[cfg(test)]
impl Line {
    /// A line at a height, in a size of type.
    pub(crate) fn at(y: f32, size: f32) -> Self {
        Self { y, size, bold: true, left: 50.0, right: 100.0 }
    }
}

impl Lines {
    /// The lines of a page.
    pub(crate) fn of<'a>(lines: impl Iterator<Item = &'a TextLine>) -> Self {
        let texts: Vec<(Line, String)> = lines.map(|line| (measure(line), line.text())).collect();
        let squeezed = texts.iter().map(|(line, text)| (*line, squeezed(text)));
        let mut own = Self::new(squeezed.filter(|line| !line.1.is_empty()).collect());
        own.as_set = as_set(&texts);
        own
    }

    /// The page's text with its printed line ends.
    pub(crate) fn as_set(&self) -> &str {
        &self.as_set
    }

    fn new(lines: Vec<(Line, String)>) -> Self {
        let used = vec![false; lines.len()];
        let leading = usual_gap(&lines);
        Self { lines, used, leading, ..Self::default() }
    }

    /// Traces a paragraph to its lines and splits it if they show several paragraphs.
    pub(crate) fn take(&mut self, text: &str) -> Vec<Part> {
        let Some(found) = self.trace(text) else {
            return vec![Part { text: text.to_owned(), first: None, lines: 0, bold: false }];
        };
        let margins = self.margins(&found);
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = text;
        for (position, &(index, letters)) in found.iter().enumerate() {
            let (line_text, after) = split_after(rest, letters);
            rest = after;
            let starts = position == 0 || self.breaks_between(found[position - 1].0, index, line_text, &parts, margins);
            self.used[index] = true;
            let line = self.lines[index].0;
            match parts.last_mut() {
                Some(part) if !starts => {
                    part.text.push('\n');
                    part.text.push_str(line_text);
                    (part.lines, part.bold) = (part.lines + 1, part.bold && line.bold);
                }
                _ => {
                    let text = line_text.to_owned();
                    parts.push(Part { text, first: Some(line), lines: 1, bold: line.bold });
                }
            }
        }
        parts
    }

    /// Traces a table to the lines of its rows, and returns the first of them whose text occurs once on the page: the
    /// next table may have the same head. Drawn lines tell which of the rows are one.
    pub(crate) fn take_table(&mut self, rows: &mut Vec<Vec<String>>) -> Option<Line> {
        let (mut first, mut first_unique) = (None, None);
        let mut heights = vec![None; rows.len()];
        for (row, height) in rows.iter().zip(&mut heights) {
            let cells: Vec<String> = row.iter().map(|cell| squeezed(cell)).filter(|cell| !cell.is_empty()).collect();
            let Some(beginning) = cells.first() else { continue };
            let whole = cells.concat();
            let free = |index: &usize| !self.used[*index];
            // A cell of several lines is on each of them in part.
            let is_row = |index: &usize| whole.starts_with(&self.lines[*index].1);
            let begins_row = |index: &usize| self.lines[*index].1.starts_with(beginning);
            let all = 0..self.lines.len();
            let found = all.clone().filter(free).find(is_row).or_else(|| all.filter(free).find(begins_row));
            if let Some(index) = found {
                self.used[index] = true;
                let (line, text) = &self.lines[index];
                *height = Some(line.y);
                let is_unique = self.lines.iter().filter(|(_, other)| other == text).count() == 1;
                first = first.or(Some(*line));
                first_unique = first_unique.or(is_unique.then_some(*line));
            }
        }
        tall_cells::join(rows, &heights, &self.drawn);
        first_unique.or(first)
    }

    /// The unused lines whose texts make up `text`, in order, each with the number of letters it covers.
    fn trace(&self, text: &str) -> Option<Vec<(usize, usize)>> {
        let wanted = squeezed(text);
        let mut rest = wanted.as_str();
        let mut found: Vec<(usize, usize)> = Vec::new();
        while !rest.is_empty() {
            // The lines of a paragraph mostly follow each other: look there first.
            let next = found.last().map_or(0, |(index, _)| index + 1);
            let order = (next..self.lines.len()).chain(0..next);
            let free = order.filter(|index| !self.used[*index] && found.iter().all(|(taken, _)| taken != index));
            let (index, line) = free
                .map(|index| (index, self.line_text(index, rest, found.is_empty())))
                .find(|(_, line)| line.is_some())?;
            let line = line?;
            rest = &rest[line.len()..];
            found.push((index, line.chars().count()));
        }
        Some(found)
    }

    /// The line's text if `rest` begins with it; of a first line without the marker of a list entry.
    fn line_text(&self, index: usize, rest: &str, first: bool) -> Option<&str> {
        let line = self.lines[index].1.as_str();
        if rest.starts_with(line) {
            return Some(line);
        }
        let markers = line.char_indices().skip(1).take(if first { LONGEST_MARKER } else { 0 });
        markers.map(|(at, _)| &line[at..]).find(|bare| rest.starts_with(bare) && bare.len() > 1)
    }

    /// Left and right margin of the column that lines stand in.
    fn margins(&self, found: &[(usize, usize)]) -> (f32, f32) {
        let lines = || found.iter().map(|(index, _)| self.lines[*index].0);
        (
            lines().map(|line| line.left).fold(f32::MAX, f32::min),
            lines().map(|line| line.right).fold(f32::MIN, f32::max),
        )
    }

    fn breaks_between(&self, above: usize, below: usize, text: &str, parts: &[Part], margins: (f32, f32)) -> bool {
        let (above, below) = (self.lines[above].0, self.lines[below].0);
        let gap = above.y - below.y;
        let (small, large) = (above.size.min(below.size), above.size.max(below.size));
        if gap.abs() < 1.0 {
            return below.left - above.right > above.size * TABULATOR;
        }
        // A line above its predecessor begins another column, in which a sentence may continue.
        if gap < 0.0 {
            return false;
        }
        let leading = match self.leading {
            (leading, count) if count >= OFTEN => leading,
            (leading, _) => leading.min(above.size * USUAL_LEADING),
        };
        let so_far = parts.last().map_or("", |part| part.text.trim_end());
        let ends = so_far.ends_with(['.', '!', '?', ':']);
        let short = above.right < margins.1 - SHORT_BY * (margins.1 - margins.0);
        let begins = text.trim_start().starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        // If the paragraph continued, the next word would fit on this line.
        let word = text.split_whitespace().next().map_or(0, |word| word.chars().count() + 1);
        let fits = short && margins.1 - above.right > word as f32 * below.size * CHARACTER;
        // "1. DEFINITIONS" above "1.1 In this agreement", or a bold line above other text; a term belongs to its
        // indented definition.
        let indented = below.left > above.left + above.size;
        let heading = parts.last().filter(|_| so_far.chars().any(char::is_alphabetic)).is_some_and(|part| {
            let numbered = part.lines == 1 && is_numbered(so_far);
            let capitals = part.lines <= 2 && so_far == so_far.to_uppercase();
            (part.bold && !below.bold && (numbered || (fits && !indented))) || (fits && (numbered || capitals))
        });
        // A full line whose sentence continues: small capitals, notes and formulas change the size and the distance.
        let goes_on = !ends
            && !so_far.ends_with(';')
            && so_far.split_whitespace().count() > MOST_OF_A_TITLE
            && above.right >= below.right
            && !short
            && gap <= large * NEXT_LINE
            && text.trim_start().starts_with(char::is_lowercase);
        let apart = gap > leading * WIDE_GAP * (below.size / above.size).max(1.0) || large > small * OTHER_SIZE;
        (apart && !goes_on)
            || (ends && short && begins)
            || (fits && (so_far.ends_with(';') || is_labelled(text)))
            || (heading && begins && !ends_midway(so_far))
            || begins_clause(so_far, text)
    }
}

/// Whether a text is incomplete: a heading continues in the next line.
fn ends_midway(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or(text);
    text.ends_with([',', '-', '\u{2010}', '\u{2013}', '&']) || JOINING.contains(&last.to_lowercase().as_str())
}

/// The lines of a page in order, with blank lines for larger gaps.
fn as_set(lines: &[(Line, String)]) -> String {
    let mut out = String::new();
    let mut above: Option<Line> = None;
    for (line, text) in lines.iter().filter(|(_, text)| !text.trim().is_empty()) {
        let wide = above.is_some_and(|above| {
            let gap = above.y - line.y;
            gap < 0.0 || gap > above.size.max(line.size) * USUAL_LEADING
        });
        out.push_str(if wide {
            "\n\n"
        } else if above.is_some() {
            "\n"
        } else {
            ""
        });
        out.push_str(text.trim());
        above = Some(*line);
    }
    out
}

fn measure(line: &TextLine) -> Line {
    let right = line.spans.iter().map(|span| span.x + span.ink_width.unwrap_or(span.width)).fold(line.x, f32::max);
    Line { y: line.y, size: line.font_size.abs(), bold: line.is_all_bold(), left: line.x, right }
}

/// The most frequent distance between lines that follow each other, in half points.
fn usual_gap(lines: &[(Line, String)]) -> (f32, usize) {
    let mut counts = std::collections::BTreeMap::<u32, usize>::new();
    for pair in lines.windows(2) {
        let (gap, size) = (pair[0].0.y - pair[1].0.y, pair[0].0.size);
        if gap > size * 0.8 && gap < size * 2.0 {
            *counts.entry((gap * 2.0).round() as u32).or_default() += 1;
        }
    }
    // Of two equally frequent distances the smaller: the larger one is between paragraphs.
    let usual = counts.iter().max_by_key(|(gap, count)| (**count, std::cmp::Reverse(**gap)));
    usual.map_or((f32::MAX, 0), |(gap, count)| (*gap as f32 / 2.0, *count))
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Splits a text after this many characters other than white space.
fn split_after(text: &str, letters: usize) -> (&str, &str) {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen == letters {
            return (text[..at].trim(), &text[at..]);
        }
        seen += usize::from(!character.is_whitespace());
    }
    (text.trim(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[(f32, f32, f32, &str)]) -> Lines {
        let line = |(y, size, right, text): &(f32, f32, f32, &str)| {
            (Line { y: *y, size: *size, bold: false, left: 50.0, right: *right }, squeezed(text))
        };
        Lines::new(rows.iter().map(line).collect())
    }

    fn texts(parts: Vec<Part>) -> Vec<String> {
        parts.into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn gaps_sizes_and_short_lines_end_a_paragraph() {
        let mut page = lines(&[
            (700.0, 10.0, 500.0, "The first paragraph is two"),
            (688.0, 10.0, 200.0, "lines long."),
            (676.0, 10.0, 500.0, "A second without a gap,"),
            (664.0, 10.0, 300.0, "ended by one"),
            (640.0, 10.0, 500.0, "After a gap, and then"),
            (628.0, 7.0, 500.0, "1 a footnote."),
        ]);
        let joined = "The first paragraph is two lines long. A second without a gap, ended by one After a gap, and then 1 a footnote.";
        let expected = [
            "The first paragraph is two\nlines long.",
            "A second without a gap,\nended by one",
            "After a gap, and then",
            "1 a footnote.",
        ];
        assert_eq!(texts(page.take(joined)), expected);
    }

    #[test]
    fn numbered_clauses_begin_paragraphs_and_headings_are_separate() {
        let full = 500.0;
        let mut page = lines(&[
            (700.0, 10.0, 150.0, "1. DEFINITIONS"),
            (688.0, 10.0, full, "1.1 In this agreement the terms of clause"),
            (676.0, 10.0, full, "4.2 and of the year 2019 apply as follows:"),
            (664.0, 10.0, full, "(a) the Supplier is whoever supplies; and"),
            (652.0, 10.0, full, "(b) the Customer is whoever pays the fee."),
            (640.0, 10.0, full, "1.2 Each term means what its definition of"),
            (628.0, 10.0, 200.0, "3.5 million words says."),
            (616.0, 10.0, 200.0, "TERM AND"),
            (604.0, 10.0, 200.0, "TERMINATION"),
            (592.0, 10.0, full, "This agreement ends when it is over."),
        ]);
        let joined = "1. DEFINITIONS 1.1 In this agreement the terms of clause 4.2 and of the year 2019 apply as follows: (a) \
                      the Supplier is whoever supplies; and (b) the Customer is whoever pays the fee. 1.2 Each term means \
                      what its definition of 3.5 million words says. TERM AND TERMINATION This agreement ends when it is over.";
        let expected = [
            "1. DEFINITIONS",
            "1.1 In this agreement the terms of clause\n4.2 and of the year 2019 apply as follows:",
            "(a) the Supplier is whoever supplies; and",
            "(b) the Customer is whoever pays the fee.",
            "1.2 Each term means what its definition of\n3.5 million words says.",
            "TERM AND\nTERMINATION",
            "This agreement ends when it is over.",
        ];
        assert_eq!(texts(page.take(joined)), expected);
    }

    #[test]
    fn entries_begin_behind_lines_that_end_early() {
        let mut page = lines(&[
            (700.0, 10.0, 140.0, "1. General matters"),
            (688.0, 10.0, 500.0, "a. The clerk shall keep the ledger of the"),
            (676.0, 10.0, 120.0, "plant;"),
            (664.0, 10.0, 480.0, "send a copy to the archive of the plant"),
        ]);
        let joined = "1. General matters a. The clerk shall keep the ledger of the plant; send a copy to the archive of the plant";
        let expected = [
            "1. General matters",
            "a. The clerk shall keep the ledger of the\nplant;",
            "send a copy to the archive of the plant",
        ];
        assert_eq!(texts(page.take(joined)), expected);
    }

    #[test]
    fn a_full_line_continues_in_another_size_and_behind_a_formula() {
        let rows =
            [(700.0, 10.0, 500.0, "The clerk shall file the ledger before the"), (684.0, 8.0, 200.0, "end of it.")];
        assert_eq!(texts(lines(&rows).take("The clerk shall file the ledger before the end of it.")).len(), 1);
        let rows = [(700.0, 10.0, 500.0, "4.1 Schema functions"), (684.0, 8.0, 200.0, "end of it.")];
        assert_eq!(texts(lines(&rows).take("4.1 Schema functions end of it.")).len(), 2);
    }

    #[test]
    fn lines_can_be_had_as_they_are_set() {
        let line = |y, text: &str| (Line { y, size: 10.0, bold: false, left: 50.0, right: 300.0 }, text.to_owned());
        let page =
            [line(700.0, "a non-"), line(688.0, " exclusive right"), line(650.0, "A next one"), line(700.0, "and")];
        assert_eq!(as_set(&page), "a non-\nexclusive right\n\nA next one\n\nand");
    }

    #[test]
    fn a_list_marker_is_no_part_of_the_entry() {
        let mut page = lines(&[(700.0, 10.0, 500.0, "\u{2022} an entry that goes"), (688.0, 10.0, 100.0, "on")]);
        assert_eq!(texts(page.take("an entry that goes on")), ["an entry that goes\non"]);
    }

    #[test]
    fn a_table_whose_head_occurs_twice_is_where_its_own_rows_are() {
        let head = "No Duty";
        let mut page = lines(&[
            (700.0, 10.0, 500.0, head),
            (688.0, 10.0, 500.0, "1 Keep records"),
            (600.0, 10.0, 500.0, head),
            (588.0, 10.0, 500.0, "2 Test backups"),
            (500.0, 10.0, 500.0, head),
        ]);
        // The parser takes the last for a paragraph, which is traced to the first line of this text.
        assert_eq!(texts(page.take(head)), [head]);
        let table = |row: [&str; 2]| vec![["No", "Duty"].map(str::to_owned).to_vec(), row.map(str::to_owned).to_vec()];
        assert_eq!(page.take_table(&mut table(["1", "Keep records"])).map(|line| line.y), Some(688.0));
        assert_eq!(page.take_table(&mut table(["2", "Test backups"])).map(|line| line.y), Some(588.0));
    }

    #[test]
    fn what_cannot_be_traced_stays_as_it_is() {
        let mut page = lines(&[(700.0, 10.0, 500.0, "Some text")]);
        assert_eq!(texts(page.take("Other text")), ["Other text"]);
        assert_eq!(texts(page.take("Some text")), ["Some text"]);
    }
}
