//! A text as blocks: paragraphs, items of lists, rows of tables, headings.
//!
//! Reads the output of the document parser and plain text with fixed line width. A paragraph or an item that is
//! interrupted by the end of a page continues after the page mark.

mod contents;
pub(super) mod inline;
mod lines;
mod marks;
mod rows;
mod titles;

pub(super) use marks::{Mark, Reading};

use super::wording::is_capitals;
use crate::page_mark;
use lines::{is_division, is_entry, is_unwrapped, is_value, opens_scalar, unquoted};
use marks::mark;
use std::collections::BTreeSet;
use std::ops::Range;
use titles::{heading, heading_goes_on, is_numbered_title, is_title, words};

/// The kind of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A title, or a sentence with the layout of one.
    Heading,
    /// Running text, including footnotes.
    Paragraph,
    /// An entry of a list.
    Item {
        /// The indent of its mark in columns.
        indent: usize,
        /// Its mark.
        mark: Mark,
    },
    /// A row of a table.
    Row {
        /// Whether the format marks it as the row of column names.
        header: bool,
        /// Whether it is the first one of its table.
        first: bool,
    },
    /// Fenced text that is not prose.
    Verbatim,
    /// An entry of a table of contents.
    Contents,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What they are.
    pub(super) kind: Kind,
    /// Its lines without indents, marks and line ends, each with its page.
    pub(super) parts: Vec<(Range<usize>, Option<u32>)>,
    /// Whether it is the first one of its page.
    pub(super) opens_page: bool,
    /// The indent of its first line in columns.
    pub(super) indent: usize,
    /// Whether it continues after a list within a sentence: none of its sentences is the first of its block.
    pub(super) goes_on: bool,
}

/// A sentence taken from a list, without its mark.
pub(super) fn without_marker(sentence: &str) -> &str {
    let text = sentence.trim().trim_start_matches('#').trim_start();
    mark(text).map_or(text, |(_, length)| &text[length..])
}

/// The blocks of a page-marked text.
pub(super) fn of(marked: &str) -> Vec<Block> {
    let mut reader = Reader {
        marked,
        blocks: Vec::new(),
        open: None,
        gap: false,
        page_ended: false,
        page: None,
        opens_page: false,
        indent: 0,
        fence: None,
        scalar: None,
        is_unwrapped: is_unwrapped(marked),
        contents: contents::lines(marked),
        rows: rows::rows(marked),
        labelled: rows::labelled(marked),
    };
    let mut at = 0;
    for line in marked.split_inclusive('\n') {
        reader.line(at, line);
        at += line.len();
    }
    reader.end();
    reader.blocks.into_iter().flat_map(|block| inline::parted(marked, block)).collect()
}

/// A line: where it begins, and its text without the line end.
type Line<'a> = (usize, &'a str);

fn placed_lines(marked: &str) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    marked.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line.trim_end())
    })
}

struct Reader<'a> {
    marked: &'a str,
    blocks: Vec<Block>,
    /// The block that the next line may belong to.
    open: Option<Block>,
    /// Whether a blank line or the end of a page separates it from the next line.
    gap: bool,
    page_ended: bool,
    page: Option<u32>,
    /// Whether the next line is the first one of its page.
    opens_page: bool,
    /// The indent of the current line.
    indent: usize,
    /// The closing fence of the fenced text that contains the next line.
    fence: Option<&'static str>,
    /// The indent of the YAML key whose text, on lines of its own, contains the next line.
    scalar: Option<usize>,
    /// Whether its paragraphs are lines of any length, without blank lines between them.
    is_unwrapped: bool,
    /// Where the lines begin that are entries of a table of contents.
    contents: BTreeSet<usize>,
    /// Where the lines begin that are rows of a table without a frame.
    rows: BTreeSet<usize>,
    /// Where the lines begin that have a label of a series.
    labelled: BTreeSet<usize>,
}

impl Reader<'_> {
    fn line(&mut self, at: usize, line: &str) {
        if let Some(page) = page_mark(line) {
            (self.page, self.gap, self.page_ended, self.opens_page) = (Some(page), true, true, true);
            return;
        }
        let text = unquoted(line.trim_start()).trim();
        let indent = line.trim_end().len() - text.len();
        self.indent = indent;
        let entry = text.trim_start_matches("- ");
        let opens_scalar = opens_scalar(entry);
        if opens_scalar || !text.is_empty() && self.scalar.is_some_and(|key| indent <= key) {
            self.end();
            self.scalar = None;
        }
        let whole = at + indent..at + indent + text.len();
        let behind = |rest: &str| whole.end - rest.len();
        if self.fences(text) {
        } else if text.is_empty() || self.fence.is_none() && is_division(text) {
            self.gap = true;
        } else if self.fence.is_some() {
            self.add(Kind::Verbatim, whole, |open| open.kind == Kind::Verbatim);
        } else if !text.contains(char::is_alphanumeric) {
            self.rule(text);
        } else if self.contents.contains(&at) {
            self.contents(whole);
        } else if let Some(row) = text.strip_prefix('|') {
            let start = behind(row.trim_start());
            let cells = row.trim().trim_end_matches('|').trim_end();
            let goes_on = matches!(&self.open, Some(open) if matches!(open.kind, Kind::Row { .. }));
            let first = !goes_on || (self.gap && !self.page_ended);
            self.add(Kind::Row { header: false, first }, start..start + cells.len(), |_| false);
        } else if let Some(title) = heading(text) {
            let (start, marked) = (behind(title), self.marked);
            let range = start..start + title.trim_end_matches('#').trim_end().len();
            self.add(Kind::Heading, range, |open| heading_goes_on(marked, open, title));
        } else if let Some((mark, length)) =
            mark(text).filter(|(mark, _)| self.may_begin(*mark) && self.may_define(text))
        {
            self.add(Kind::Item { indent, mark }, whole.start + length..whole.end, |_| false);
        } else if self.rows.contains(&at) {
            self.add(Kind::Paragraph, whole, |_| false);
            self.end();
        } else if self.labelled.contains(&at) {
            self.add(Kind::Paragraph, whole, |_| false);
        } else {
            self.text(whole);
        }
        if opens_scalar {
            self.end();
            self.scalar = Some(indent + text.len() - entry.len());
        }
    }

    /// Whether a line opens or closes fenced text.
    fn fences(&mut self, text: &str) -> bool {
        // Directly below a line, a row of tildes underlines a title.
        let underlines = self.open.is_some() && !self.gap && self.fence.is_none();
        let marks = ["```", "~~~"].into_iter().filter(|mark| !underlines || *mark == "```");
        let mark = marks.into_iter().find(|mark| text.starts_with(mark));
        let is_fence = mark.is_some_and(|mark| self.fence.is_none_or(|open| open == mark));
        if is_fence {
            self.end();
            self.fence = if self.fence.is_some() { None } else { mark };
        }
        is_fence
    }

    /// A line that consists only of signs underlines a heading, or marks the row above as column names.
    fn rule(&mut self, text: &str) {
        match self.open.as_mut() {
            Some(Block { kind: Kind::Row { header, .. }, .. }) if text.starts_with('|') => *header = true,
            Some(Block { kind: kind @ Kind::Paragraph, parts, .. }) if parts.len() == 1 && !self.gap => {
                *kind = Kind::Heading;
                self.end();
            }
            _ => self.gap = true,
        }
    }

    /// An entry of a table of contents, whose title may have begun on the line above.
    fn contents(&mut self, range: Range<usize>) {
        let text = self.marked[range.clone()].trim_end_matches(['|', ' ']);
        let words = text.trim_start_matches(['|', ' ']);
        let (begin, end) = (range.start + text.len() - words.len(), range.start + text.len());
        let above = self.blocks.last().is_some_and(|block| block.kind == Kind::Contents);
        if let Some(open) = self.open.as_mut().filter(|_| above && mark(words).is_none() && !self.gap) {
            open.kind = Kind::Contents;
        }
        self.add(Kind::Contents, begin..end, |open| open.kind == Kind::Contents);
        self.end();
    }

    fn text(&mut self, range: Range<usize>) {
        let (marked, gap, page_ended, is_unwrapped) = (self.marked, self.gap, self.page_ended, self.is_unwrapped);
        let (text, indent) = (&marked[range.clone()], self.indent);
        self.add(Kind::Paragraph, range, |open| match open.kind {
            Kind::Paragraph | Kind::Item { .. } if gap => page_ended && goes_on(marked, open, text),
            Kind::Paragraph | Kind::Item { .. } if is_unwrapped && is_whole(last_line(marked, open)) => false,
            // Data with one key and value per line.
            Kind::Paragraph | Kind::Item { .. } if is_entry(text) && ends_an_entry(marked, open) => false,
            // A title in capitals is on separate lines.
            Kind::Paragraph => is_title(marked, open) == is_capitals(text),
            Kind::Item { .. } => true,
            Kind::Heading => heading_goes_on(marked, open, text),
            // A line of a verse, `| The vendor must`, goes on in the next line, indented.
            Kind::Row { .. } => !gap && indent > open.indent && is_line_of_a_verse(marked, open),
            _ => false,
        });
    }

    /// Whether an entry of a list may begin here: a number at the beginning of a line may also be one of the sentence.
    fn may_begin(&self, mark: Mark) -> bool {
        match &self.open {
            Some(open) if !self.gap && !mark.is_bullet() => {
                let in_prose = open.kind == Kind::Paragraph && !is_title(self.marked, open);
                let last = last_line(self.marked, open);
                !in_prose || last.ends_with(['.', ':', ';', ',', '!', '?', '—', '–']) || is_left_open(last)
            }
            _ => true,
        }
    }

    /// Whether a line with a colon before it may be the definition of the term on the line above: `: A log is a file.`
    fn may_define(&self, text: &str) -> bool {
        let is_term = |open: &Block| open.kind != Kind::Paragraph || open.parts.len() == 1;
        !text.starts_with(':') || self.gap || self.open.as_ref().is_none_or(is_term)
    }

    /// Adds a line to the open block if it belongs there, or else begins a block with it.
    fn add(&mut self, kind: Kind, range: Range<usize>, belongs: impl Fn(&Block) -> bool) {
        if !self.open.as_ref().is_some_and(belongs) {
            self.end();
            let (opens_page, indent) = (self.opens_page, self.indent);
            self.open = Some(Block { kind, parts: Vec::new(), opens_page, indent, goes_on: false });
        }
        if let Some(open) = &mut self.open {
            open.parts.push((range, self.page));
            // If the next line continues it, it is a sentence with the layout of a title.
            if open.kind == Kind::Heading && open.parts.len() > 1 {
                open.kind = Kind::Paragraph;
            }
        }
        (self.gap, self.page_ended, self.opens_page) = (false, false, false);
    }

    fn end(&mut self) {
        let Some(mut block) = self.open.take() else { return };
        if is_title(self.marked, &block) || is_numbered_title(self.marked, &block) {
            block.kind = Kind::Heading;
        }
        self.blocks.push(block);
    }
}

/// Whether a row is one line of text behind a `|`, without a second one.
fn is_line_of_a_verse(marked: &str, row: &Block) -> bool {
    let behind = row.parts.last().map_or("", |(range, _)| &marked[range.end..]);
    let has_end = behind.trim_start_matches(' ').starts_with('|');
    !has_end && row.parts.iter().all(|(range, _)| !marked[range.clone()].contains(" | "))
}

fn last_line<'a>(marked: &'a str, block: &Block) -> &'a str {
    block.parts.last().map_or("", |(range, _)| &marked[range.clone()])
}

/// Whether the last line of a block is a whole entry of data; attributes of a tag are none.
fn ends_an_entry(marked: &str, block: &Block) -> bool {
    let is_tag = || block.parts.first().is_some_and(|(range, _)| marked[range.clone()].starts_with('<'));
    is_value(last_line(marked, block)) && !is_tag()
}

/// Whether a line of such a text ends a sentence, or is a label, so that the next line is another paragraph.
fn is_whole(line: &str) -> bool {
    line.ends_with(['.', '!', '?', ':', ';']) || line.split_whitespace().count() <= LEAST_WORDS
}

/// Words that entries complete: `The operator shall`.
const LEFT_OPEN: [&str; 14] = [
    "shall", "must", "should", "may", "will", "hat", "haben", "muss", "müssen", "soll", "sollen", "darf", "dürfen",
    "ist",
];

/// Whether the end of a line announces a list.
pub(super) fn is_left_open(line: &str) -> bool {
    let last = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    LEFT_OPEN.contains(&last.to_lowercase().as_str())
}

/// Fewer words before the end of a page are unlikely to begin a sentence.
const LEAST_WORDS: usize = 3;

/// Whether a block interrupted by the end of a page continues with this line. The entries of many lists have no full
/// stop.
fn goes_on(marked: &str, open: &Block, next: &str) -> bool {
    let last = last_line(marked, open).trim_end_matches(['"', '”', '“', ')', '»', '’']);
    let lower = next.starts_with(|first: char| first.is_lowercase());
    let unlike_titles = !is_capitals(last) && !is_capitals(next);
    !last.ends_with(['.', '!', '?', ':', ';'])
        && (lower || (open.kind == Kind::Paragraph && words(marked, open) >= LEAST_WORDS && unlike_titles))
}
