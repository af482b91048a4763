//! A text as blocks: paragraphs, items of lists, rows of tables, headings.
//!
//! Both what the document parser writes and plain text with lines of one width are read. A paragraph or an item that a page
//! ends in the middle of goes on after the page mark.

use super::wording::is_capitals;
use crate::page_mark;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The title of what follows.
    Heading,
    /// Running text, a footnote too.
    Paragraph,
    /// An entry of a list.
    Item {
        /// Columns before its mark.
        indent: usize,
        /// How lists of this kind are marked, the same for all entries of one.
        mark: Mark,
    },
    /// A row of a table.
    Row {
        /// Whether it names the columns.
        header: bool,
    },
    /// Fenced text that is no prose.
    Verbatim,
}

/// The mark of a list's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A dash or dot.
    Bullet,
    /// `1.` or `(1)`.
    Number,
    /// `4.2.1`.
    Section,
    /// `a)`, `(a)`, `iv.`
    Letter,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// What they are.
    pub(super) kind: Kind,
    /// Its lines, without indents, marks and line ends, and the page of each.
    pub(super) parts: Vec<(Range<usize>, Option<u32>)>,
    /// Whether it is the first one of its page.
    pub(super) opens_page: bool,
}

/// The mark of an entry. Three digits are a number of an entry, four a year.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?P<bullet>[-*+•●○◦▪■□►▶✓·‣–—])|(?P<section>\d{1,3}(?:\.\d{1,3})+\.?|§ ?\d+[a-z]?)|(?P<number>\(?\d{1,3}[.)]|\(\d{1,3}[a-z]?\))|(?P<letter>\(?(?:[a-zA-Z]{1,2}|[ivxIVX]{1,5})\)|[a-z]\.))[ \t]+",
    )
    .expect("it is a pattern")
});

fn mark(line: &str) -> Option<(Mark, usize)> {
    let found = MARK.captures(line)?;
    let kinds =
        [("bullet", Mark::Bullet), ("section", Mark::Section), ("number", Mark::Number), ("letter", Mark::Letter)];
    let kind = kinds.into_iter().find(|(name, _)| found.name(name).is_some())?.1;
    Some((kind, found[0].len()))
}

/// A sentence without the mark of the list that it was taken from.
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
        fence: None,
    };
    let mut at = 0;
    for line in marked.split_inclusive('\n') {
        reader.line(at, line);
        at += line.len();
    }
    reader.end();
    reader.blocks
}

struct Reader<'a> {
    marked: &'a str,
    blocks: Vec<Block>,
    /// The block that the next line may belong to.
    open: Option<Block>,
    /// Whether a blank line, or a page's end, lies between it and the next line.
    gap: bool,
    page_ended: bool,
    page: Option<u32>,
    /// Whether the next line is the first one of its page.
    opens_page: bool,
    /// What closes the fenced text that the next line is a part of.
    fence: Option<&'static str>,
}

impl Reader<'_> {
    fn line(&mut self, at: usize, line: &str) {
        if let Some(page) = page_mark(line) {
            (self.page, self.gap, self.page_ended, self.opens_page) = (Some(page), true, true, true);
            return;
        }
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        let whole = at + indent..at + indent + text.len();
        let behind = |rest: &str| whole.end - rest.len();
        if self.fences(text) {
        } else if text.is_empty() {
            self.gap = true;
        } else if self.fence.is_some() {
            self.add(Kind::Verbatim, whole, |open| open.kind == Kind::Verbatim);
        } else if !text.contains(char::is_alphanumeric) {
            self.rule(text);
        } else if let Some(row) = text.strip_prefix('|') {
            let start = behind(row.trim_start());
            let cells = row.trim().trim_end_matches('|').trim_end();
            self.add(Kind::Row { header: false }, start..start + cells.len(), |_| false);
        } else if let Some(title) = heading(text) {
            let start = behind(title);
            self.add(Kind::Heading, start..start + title.trim_end_matches('#').trim_end().len(), |_| false);
        } else if let Some((mark, length)) = mark(text).filter(|(mark, _)| self.may_begin(*mark)) {
            self.add(Kind::Item { indent, mark }, whole.start + length..whole.end, |_| false);
        } else {
            self.text(whole);
        }
    }

    /// Whether a line opens or closes fenced text.
    fn fences(&mut self, text: &str) -> bool {
        // Right below a line, a row of tildes underlines a title.
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

    /// A line of signs alone underlines a heading, or says that the row above names the columns.
    fn rule(&mut self, text: &str) {
        match self.open.as_mut() {
            Some(Block { kind: kind @ Kind::Row { .. }, .. }) if text.starts_with('|') => {
                *kind = Kind::Row { header: true };
            }
            Some(Block { kind: kind @ Kind::Paragraph, parts, .. }) if parts.len() == 1 && !self.gap => {
                *kind = Kind::Heading;
                self.end();
            }
            _ => self.gap = true,
        }
    }

    fn text(&mut self, range: Range<usize>) {
        let (marked, gap, page_ended) = (self.marked, self.gap, self.page_ended);
        let text = &marked[range.clone()];
        self.add(Kind::Paragraph, range, |open| match open.kind {
            Kind::Paragraph | Kind::Item { .. } if gap => page_ended && goes_on(marked, open, text),
            // A title in capitals stands on lines of its own.
            Kind::Paragraph => is_title(marked, open) == is_capitals(text),
            Kind::Item { .. } => true,
            _ => false,
        });
    }

    /// Whether an entry of a list may begin here: a number at the beginning of a line may also be one of the sentence.
    fn may_begin(&self, mark: Mark) -> bool {
        match &self.open {
            Some(open) if !self.gap && mark != Mark::Bullet => {
                let in_prose = open.kind == Kind::Paragraph && !is_title(self.marked, open);
                !in_prose || last_line(self.marked, open).ends_with(['.', ':', ';', ',', '!', '?'])
            }
            _ => true,
        }
    }

    /// Adds a line to the open block if it belongs there, or else begins a block with it.
    fn add(&mut self, kind: Kind, range: Range<usize>, belongs: impl Fn(&Block) -> bool) {
        if !self.open.as_ref().is_some_and(belongs) {
            self.end();
            self.open = Some(Block { kind, parts: Vec::new(), opens_page: self.opens_page });
        }
        if let Some(open) = &mut self.open {
            open.parts.push((range, self.page));
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

/// The title of a line that begins with up to six `#`.
fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    ((1..=6).contains(&(text.len() - rest.len())) && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

fn last_line<'a>(marked: &'a str, block: &Block) -> &'a str {
    block.parts.last().map_or("", |(range, _)| &marked[range.clone()])
}

fn words(marked: &str, block: &Block) -> usize {
    block.parts.iter().map(|(range, _)| marked[range.clone()].split_whitespace().count()).sum()
}

/// Whether a paragraph, so far, is a title in capitals.
fn is_title(marked: &str, block: &Block) -> bool {
    block.kind == Kind::Paragraph
        && block.parts.iter().all(|(range, _)| is_capitals(&marked[range.clone()]))
        && !last_line(marked, block).ends_with(['.', ';', '!'])
}

/// More words are no title.
const MOST_TITLE_WORDS: usize = 10;

/// Whether what begins with the number of a section is its title.
fn is_numbered_title(marked: &str, block: &Block) -> bool {
    matches!(block.kind, Kind::Item { mark: Mark::Section, .. })
        && words(marked, block) <= MOST_TITLE_WORDS
        && last_line(marked, block).ends_with(|last: char| last.is_alphanumeric() || last == ')')
}

/// Fewer words before a page's end are hardly the beginning of a sentence.
const LEAST_WORDS: usize = 3;

/// Whether a block that a page ended goes on with this line. The entries of many lists have no full stop.
fn goes_on(marked: &str, open: &Block, next: &str) -> bool {
    let last = last_line(marked, open).trim_end_matches(['"', '”', '“', ')', '»', '’']);
    let lower = next.starts_with(|first: char| first.is_lowercase());
    let unlike_titles = !is_capitals(last) && !is_capitals(next);
    !last.ends_with(['.', '!', '?', ':', ';'])
        && (lower || (open.kind == Kind::Paragraph && words(marked, open) >= LEAST_WORDS && unlike_titles))
}
