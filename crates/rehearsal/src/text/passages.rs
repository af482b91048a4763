//! Puts the lines of chunk files back together into passages: paragraphs, list items and table cells, each with its
//! section and with the pages its parts stand on.
//!
//! A blank line ends a passage, except where a page or chunk ended in mid-sentence: then the text behind the mark
//! continues it. Headings name the section of what follows. Tables of contents, code blocks and page numbers are no
//! text.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use super::modal;

/// A numbered item longer than this is no heading.
const SUBSECTION_BYTES: usize = 60;

/// What a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph.
    Prose,
    /// A list item; it need not end with a full stop.
    Item,
    /// A table cell; it need not be a sentence.
    Cell,
}

/// Text that belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// Its lines.
    pub(super) text: String,
    /// What it is.
    pub(super) kind: Kind,
    /// The document.
    pub(super) source: String,
    /// The heading it stands under.
    pub(super) section: Option<String>,
    /// The number or letter of the paragraph, where the document gives one: `2` of "(2) …", `a` of "a) …".
    pub(super) paragraph: Option<String>,
    /// Which of the chunks it begins in, from 0.
    pub(super) chunk: usize,
    /// From which byte on it stands on which page.
    pages: Vec<(usize, Option<u32>)>,
}

impl Passage {
    /// The page of the byte at `offset`.
    pub(super) fn page_at(&self, offset: usize) -> Option<u32> {
        self.pages.iter().rev().find(|(from, _)| *from <= offset).and_then(|(_, page)| *page)
    }
}

/// What a line is, by itself.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Blank,
    Comment(&'a str),
    Page(u32),
    Fence,
    Noise,
    Heading(&'a str),
    Underline,
    Row(&'a str),
    Item(&'a str),
    Text(&'a str),
}

fn pattern(text: &str) -> Regex {
    pattern::own(text)
}

static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[page (\d+)\]$"));
static NOISE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\.\s?){4,}\s*\d*$|…\s*\d+$|^(?i:page|seite)?\s*\d+(?:\s*(?:of|von|/)\s*\d+)?$"));
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#{1,6}\s+(.*?)[\s#]*$"));
static UNDERLINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,}|_{3,})$"));
static ITEM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*+•‣◦▪·–]|\(?(?:[a-zA-Z]|[ivx]{1,4}|\d{1,3})[.)]|\d+(?:\.\d+)+\.?)\s+(\S.*)$"));
static MARK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\(?([a-zA-Z]|[ivx]{1,4}|\d{1,3})[.)]\s|^(\d+(?:\.\d+)+)\.?\s"));
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\d+(?:\.\d+)*\.?|§+\s*\d+\w?|(?i:section|article|artikel|abschnitt|chapter|kapitel|appendix|anhang)\s+\w+)\b",
    )
});
static SUBSECTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+(?:\.\d+)+\.?\s"));
static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^<!-- source: (.+?)(?: \| pages?: (\d+)(?:-\d+)?)?(?: \| section: (.+?))? -->$"));

fn classify(line: &str) -> Line<'_> {
    let line = line.trim();
    if line.is_empty() {
        return Line::Blank;
    }
    if line.starts_with("<!--") {
        return Line::Comment(line);
    }
    if let Some(page) = PAGE.captures(line).and_then(|found| found[1].parse().ok()) {
        return Line::Page(page);
    }
    if line.starts_with("```") || line.starts_with("~~~") {
        return Line::Fence;
    }
    if UNDERLINE.is_match(line) {
        return Line::Underline;
    }
    if NOISE.is_match(line) {
        return Line::Noise;
    }
    if let Some(text) = HEADING.captures(line).and_then(|found| found.get(1)) {
        return Line::Heading(text.as_str());
    }
    if line.starts_with('|') {
        return Line::Row(line);
    }
    if ITEM.is_match(line) { Line::Item(line) } else { Line::Text(line) }
}

/// The passages of consecutive chunk files.
pub(super) fn passages(chunks: &[&str]) -> Vec<Passage> {
    let mut reader = Reader::default();
    for (index, chunk) in chunks.iter().enumerate() {
        reader.chunk = index;
        reader.fenced = false;
        reader.blank = true;
        reader.broken = true;
        for line in chunk.lines() {
            reader.line(line);
        }
    }
    reader.close();
    reader.passages
}

/// Where the reading stands.
#[derive(Default)]
struct Reader {
    passages: Vec<Passage>,
    open: Option<Passage>,
    source: String,
    section: Option<String>,
    page: Option<u32>,
    chunk: usize,
    /// The first line of the open passage, with the number that an item has.
    first_line: String,
    /// Within a code block.
    fenced: bool,
    /// A blank line came since the last text.
    blank: bool,
    /// A page or a chunk began since the last text.
    broken: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let class = classify(line);
        if self.fenced && !matches!(class, Line::Fence | Line::Page(_)) {
            return;
        }
        match class {
            Line::Blank => self.blank = true,
            Line::Noise => {}
            Line::Comment(text) => self.comment(text),
            Line::Page(page) => {
                self.page = Some(page);
                self.broken = true;
            }
            Line::Fence => {
                self.close();
                self.fenced = !self.fenced;
            }
            Line::Heading(text) => {
                self.close();
                self.section = Some(text.replace("**", ""));
            }
            Line::Underline => self.underline(),
            Line::Row(row) => self.row(row),
            Line::Item(text) if self.starts_item(text) => {
                self.close();
                self.start(Kind::Item, text);
            }
            Line::Item(text) | Line::Text(text) => self.text(text),
        }
    }

    /// The first line of a chunk file says where its text comes from.
    fn comment(&mut self, text: &str) {
        let Some(found) = COMMENT.captures(text) else { return };
        if found[1] != self.source {
            self.close();
            found[1].clone_into(&mut self.source);
            self.section = None;
        }
        self.page = found.get(2).and_then(|page| page.as_str().parse().ok());
        if let Some(section) = found.get(3) {
            self.section = Some(section.as_str().to_owned());
        }
    }

    /// A line of dashes makes the one line above it a heading; elsewhere it is a rule.
    fn underline(&mut self) {
        match self.open.take() {
            Some(open) if !self.blank && !open.text.contains('\n') => self.section = Some(open.text),
            open => {
                self.open = open;
                self.close();
            }
        }
    }

    fn row(&mut self, row: &str) {
        self.close();
        for cell in row.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty()) {
            self.start(Kind::Cell, cell);
            self.close();
        }
    }

    /// A line that looks like an item within running prose is a wrapped line that happens to begin with a number.
    fn starts_item(&self, line: &str) -> bool {
        let number = line.starts_with(|c: char| c.is_ascii_digit());
        let Some(open) = self.open.as_ref().filter(|_| !self.blank) else { return true };
        open.kind == Kind::Item || !number || finished(&open.text)
    }

    fn text(&mut self, text: &str) {
        let continues = match &self.open {
            None => false,
            Some(_) if !self.blank && !self.broken => true,
            Some(open) => self.broken && goes_on(&open.text, text),
        };
        if !continues {
            self.close();
            return self.start(Kind::Prose, text);
        }
        let page = self.page;
        if let Some(open) = &mut self.open {
            open.text.push('\n');
            if open.pages.last().is_some_and(|(_, last)| *last != page) {
                open.pages.push((open.text.len(), page));
            }
            open.text.push_str(text);
        }
        (self.blank, self.broken) = (false, false);
    }

    fn start(&mut self, kind: Kind, text: &str) {
        text.clone_into(&mut self.first_line);
        let paragraph = match kind {
            Kind::Item => {
                MARK.captures(text).and_then(|found| found.get(1).or(found.get(2))).map(|mark| mark.as_str().to_owned())
            }
            Kind::Prose | Kind::Cell => None,
        };
        let text = match kind {
            Kind::Item => ITEM.captures(text).and_then(|found| found.get(1)).map_or(text, |body| body.as_str()),
            Kind::Prose | Kind::Cell => text,
        };
        self.open = Some(Passage {
            text: text.to_owned(),
            kind,
            source: self.source.clone(),
            section: self.section.clone(),
            paragraph,
            chunk: self.chunk,
            pages: vec![(0, self.page)],
        });
        (self.blank, self.broken) = (false, false);
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let numbered = match open.kind {
            Kind::Prose => NUMBERED.is_match(&self.first_line),
            // "1. Boxes" may well be an item; "3.1 Boxes" is not.
            Kind::Item => SUBSECTION.is_match(&self.first_line) && self.first_line.len() <= SUBSECTION_BYTES,
            Kind::Cell => false,
        };
        if numbered && is_heading(&open.text) {
            self.section = Some(self.first_line.clone());
        } else {
            self.passages.push(open);
        }
    }
}

/// Whether text ends where a sentence may end.
pub(super) fn finished(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '*']).ends_with(['.', '!', '?', ':', ';'])
}

/// Whether `next`, behind a page or chunk mark, continues `text`. A capital may do so as well, since German nouns have
/// one, but only behind a line too long for a heading.
fn goes_on(text: &str, next: &str) -> bool {
    let long = text.len() > 60 && !NUMBERED.is_match(next);
    !finished(text) && (next.starts_with(char::is_lowercase) || long)
}

/// A short line without a full stop and without a normative word; if it is numbered as well it is a heading, though
/// nothing marks it as one.
fn is_heading(text: &str) -> bool {
    text.len() <= 100 && !text.contains('\n') && !finished(text) && modal(text).is_none()
}
