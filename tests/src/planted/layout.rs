//! From paragraphs to pages: lines are broken, pages are filled from the top, footnotes from the bottom.

use super::pdf::{self, HEIGHT, Line, Page, Rule, WIDTH};

const LEFT: u32 = 72;
const TOP: u32 = HEIGHT - 90;
const BOTTOM: u32 = 90;
/// Font sizes and line spacing, in points.
const TEXT: u32 = 10;
const NOTE: u32 = 8;
const LEADING: u32 = 14;
const NOTE_LEADING: u32 = 10;
/// Space between blocks.
const GAP: u32 = 10;
/// Letters per line: the text is about 450 points wide, a letter about five.
const LETTERS: usize = 84;
const NOTE_LETTERS: usize = 104;
const CELL_LETTERS: usize = 66;

/// A document under construction.
pub(super) struct Layout {
    pages: Vec<Page>,
    /// The next line's position, and where the footnotes begin.
    y: u32,
    bottom: u32,
    has_note: bool,
}

impl Layout {
    pub(super) fn new() -> Self {
        let mut layout = Self { pages: Vec::new(), y: TOP, bottom: BOTTOM, has_note: false };
        layout.next_page();
        layout
    }

    /// The current page, from 1.
    pub(super) fn page(&self) -> u32 {
        self.pages.len() as u32
    }

    fn next_page(&mut self) {
        self.pages.push(Page::default());
        (self.y, self.bottom, self.has_note) = (TOP, BOTTOM, false);
        let number = self.page().to_string();
        self.put(LEFT, HEIGHT - 50, NOTE, false, "Annals of the Lower River");
        self.put(WIDTH / 2, 45, NOTE, false, &number);
    }

    fn put(&mut self, x: u32, y: u32, size: u32, bold: bool, text: &str) {
        let line = Line { x, y, size, bold, text: text.to_owned() };
        self.pages.last_mut().expect("there is a page from the beginning on").lines.push(line);
    }

    /// Whether the page has its footnote.
    pub(super) fn has_note(&self) -> bool {
        self.has_note
    }

    /// Lines that still fit on the page.
    fn room(&self) -> u32 {
        (self.y.saturating_sub(self.bottom)) / LEADING
    }

    /// Starts a new page if this many lines do not fit.
    fn need(&mut self, lines: u32) {
        if self.room() < lines {
            self.next_page();
        }
    }

    fn line(&mut self, x: u32, size: u32, bold: bool, text: &str) {
        self.need(1);
        self.put(x, self.y, size, bold, text);
        self.y -= LEADING;
    }

    fn gap(&mut self) {
        self.y = self.y.saturating_sub(GAP).max(self.bottom.saturating_sub(LEADING));
    }

    /// A title in capitals.
    pub(super) fn title(&mut self, text: &str) {
        self.need(6);
        self.gap();
        self.line(LEFT, 13, true, text);
        self.gap();
    }

    /// The heading of a section.
    pub(super) fn heading(&mut self, text: &str) {
        self.need(5);
        self.gap();
        self.line(LEFT, 11, true, text);
        self.gap();
    }

    /// A paragraph that may break across pages.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.paragraph_around("", text, "");
    }

    /// A paragraph with a sentence that lies on one page; returns the page.
    pub(super) fn paragraph_around(&mut self, before: &str, sentence: &str, after: &str) -> u32 {
        let text = [before, sentence, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let lines = broken(&text, LETTERS);
        self.need(lines.len() as u32);
        lines.iter().for_each(|line| self.line(LEFT, TEXT, false, line));
        let page = self.page();
        self.gap();
        page
    }

    /// A paragraph whose first sentence begins in the last line of a page and ends on the next page.
    pub(super) fn over_the_page(&mut self, sentence: &str, after: &str) -> u32 {
        self.need(2);
        // Like a caption below a picture.
        self.y = self.bottom + LEADING;
        let page = self.page();
        broken(&format!("{sentence} {after}"), LETTERS).iter().for_each(|line| self.line(LEFT, TEXT, false, line));
        self.gap();
        page
    }

    /// A list of things.
    pub(super) fn list(&mut self, lead: &str, items: &[String]) {
        self.need(items.len() as u32 + 2);
        self.line(LEFT, TEXT, false, lead);
        for item in items {
            self.line(LEFT + 14, TEXT, false, &format!("- {item}"));
        }
        self.gap();
    }

    /// A list of entries at several levels, over as many pages as needed; returns the page on which each begins.
    pub(super) fn long_list<'a>(&mut self, lead: &str, entries: impl Iterator<Item = (usize, &'a str)>) -> Vec<u32> {
        self.need(4);
        self.line(LEFT, TEXT, false, lead);
        let pages = entries.map(|(level, text)| {
            self.need(1);
            self.line(LEFT + 14 * (level as u32 + 1), TEXT, false, text);
            self.page()
        });
        let pages = pages.collect();
        self.gap();
        pages
    }

    /// A list of two entries, this one first; returns the page.
    pub(super) fn list_with(&mut self, lead: &str, first: &str, second: &str) -> u32 {
        self.list(lead, &[first.to_owned(), second.to_owned()]);
        self.page()
    }

    /// A table of two columns with this sentence in its middle row; returns the page.
    pub(super) fn table(&mut self, columns: &[String; 2], sentence: &str, above: &str, below: &str) -> u32 {
        let rows = [above, sentence, below].map(|cell| broken(cell, CELL_LETTERS));
        self.need(rows.iter().map(|lines| lines.len() as u32 + 1).sum::<u32>() + 3);
        let (right, between) = (WIDTH - LEFT, LEFT + 60);
        let top = self.y + LEADING;
        let mut borders = vec![top];
        for (at, lines) in std::iter::once(&vec![columns[1].clone()]).chain(&rows).enumerate() {
            let number = if at == 0 { columns[0].clone() } else { at.to_string() };
            self.put(LEFT + 5, self.y, TEXT, at == 0, &number);
            lines.iter().for_each(|line| self.line(between + 5, TEXT, at == 0, line));
            borders.push(self.y + LEADING - 4);
            self.y -= 4;
        }
        let last = borders[borders.len() - 1];
        let across = borders.iter().map(|y| Rule { from: (LEFT, *y), to: (right, *y) });
        let down = [LEFT, between, right].map(|x| Rule { from: (x, top), to: (x, last) });
        let rules: Vec<Rule> = across.chain(down).collect();
        self.pages.last_mut().expect("there is a page from the beginning on").rules.extend(rules);
        self.gap();
        self.gap();
        self.page()
    }

    /// A paragraph with a footnote on the same page, the page's only one; returns the page.
    pub(super) fn footnote(&mut self, text: &str, note: &str) -> u32 {
        let lines = broken(text, LETTERS);
        let number = 1;
        let notes = broken(&format!("{number} {note}"), NOTE_LETTERS);
        let height = notes.len() as u32 * NOTE_LEADING + GAP;
        let needed = lines.len() as u32 + height.div_ceil(LEADING) + 1;
        if self.room() < needed {
            self.next_page();
            return self.footnote(text, note);
        }
        for (at, line) in lines.iter().enumerate() {
            let mark = if at + 1 == lines.len() { format!(" [{number}]") } else { String::new() };
            self.line(LEFT, TEXT, false, &format!("{line}{mark}"));
        }
        self.has_note = true;
        self.bottom = BOTTOM + height;
        let top = BOTTOM + height - GAP;
        let page = self.pages.last_mut().expect("there is a page from the beginning on");
        page.rules.push(Rule { from: (LEFT, top), to: (LEFT + 120, top) });
        for (at, line) in notes.iter().enumerate() {
            self.put(LEFT, top - (at as u32 + 1) * NOTE_LEADING, NOTE, false, line);
        }
        self.gap();
        self.page()
    }

    pub(super) fn into_pdf(self) -> Vec<u8> {
        pdf::write(&self.pages)
    }
}

/// A text wrapped at this number of letters.
fn broken(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("it has one from the beginning on");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= letters {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
