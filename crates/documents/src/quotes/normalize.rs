//! The normal form of a text: without effects of typesetting.
//!
//! White space becomes single spaces, typographic characters become plain ones. Hyphens inside words need more care. At
//! a line end it is ambiguous whether `re-` `sign` is "resign" or "re-sign", so hyphens inside words are removed from
//! the searched text and kept in a separate list; a match is then checked against both lists: a hyphen at a line end is
//! optional, any other must be in both.

use crate::letters_of;
use std::ops::Range;

/// Maximum distance in bytes between anchors within a line.
const LONG_LINE: usize = 1024;

/// A text in its normal form.
#[derive(Debug, Default)]
pub(super) struct Normal {
    /// The text without hyphens inside words.
    pub(super) text: String,
    /// The removed hyphens, by the offset of the text after them, ascending.
    hyphens: Vec<(usize, Hyphen)>,
    /// The offset at which each page begins, ascending.
    pages: Vec<(usize, u32)>,
    /// Anchors: beginnings of lines, and of some words in long lines, with the offset here and in the original,
    /// ascending. Positions are mapped back from the nearest anchor.
    lines: Vec<(usize, usize)>,
}

/// A hyphen between two halves of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hyphen {
    /// Only the hyphen between the halves: `well-known`.
    Inside,
    /// A line end between the halves: the hyphen is part of the word or of the typesetting.
    AtLineEnd,
    /// A space between the halves: `pre- and post-audit`.
    BeforeSpace,
}

/// White space not yet written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

struct Writer {
    normal: Normal,
    /// The offset of the current character in the original.
    at: usize,
    gap: Gap,
    /// A hyphen after a letter or digit, not yet written: the following text decides its kind.
    hyphen: Option<Seen>,
    page: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Plain,
    Soft,
}

impl Normal {
    /// Converts a text into normal form; `[page N]` lines are not part of the text.
    pub(super) fn of(text: &str) -> Self {
        let mut normal = Self::default();
        normal.text.reserve(text.len());
        let mut writer = Writer::new(normal);
        writer.read(text, |_| true);
        writer.finish()
    }

    /// The position of a range in the original.
    pub(super) fn original(&self, text: &str, stretch: Range<usize>) -> Range<usize> {
        let line = self.lines.partition_point(|(offset, _)| *offset <= stretch.start).saturating_sub(1);
        let (skipped, from) = self.lines.get(line).copied().unwrap_or_default();
        let (mut start, mut end) = (None, from);
        let mut writer = Writer::new(Self::default());
        writer.read(&text[from..], |writer| {
            // The end of the text written last, if any.
            let written = skipped + writer.normal.text.len();
            if written > stretch.start {
                start.get_or_insert(from + writer.at);
            }
            let goes_on = written < stretch.end;
            if written <= stretch.end && start.is_some() {
                let length = text[from + writer.at..].chars().next().map_or(0, char::len_utf8);
                end = end.max(from + writer.at + length);
            }
            goes_on
        });
        let start = start.unwrap_or(from);
        start..end.max(start)
    }

    /// The page of an offset; text before the first mark belongs to the first page.
    pub(super) fn page_at(&self, offset: usize) -> Option<u32> {
        let after = self.pages.partition_point(|(start, _)| *start <= offset);
        self.pages.get(after.saturating_sub(1)).map(|(_, page)| *page)
    }

    /// The offsets of a page; none if there is no such page, all if the text has no pages.
    pub(super) fn of_page(&self, page: u32) -> Option<Range<usize>> {
        if self.pages.is_empty() {
            return Some(0..self.text.len());
        }
        let at = self.pages.iter().position(|(_, number)| *number == page)?;
        // Text before the first mark belongs to the first page.
        let start = if at == 0 { 0 } else { self.pages[at].0 };
        let end = self.pages[at..].iter().find(|(_, number)| *number != page);
        Some(start..end.map_or(self.text.len(), |(offset, _)| *offset))
    }

    /// Whether `quote`, whose text matches at `start`, really occurs there: between whole words, with the same hyphens.
    pub(super) fn holds(&self, start: usize, quote: &Normal) -> bool {
        self.differing(start, quote).is_some_and(|differing| differing.is_empty())
    }

    /// The positions in words at which only one of the two has a hyphen, if `quote`, whose text matches at `start`,
    /// occurs there between whole words without any other difference.
    pub(super) fn differing(&self, start: usize, quote: &Normal) -> Option<Vec<usize>> {
        let end = start + quote.text.len();
        let word_starts = !joined(&self.text, start) || self.real_hyphen_at(start);
        let word_ends = !joined(&self.text, end) || self.real_hyphen_at(end);
        (word_starts && word_ends).then(|| differing(self.hyphens_between(start, end), start, &quote.hyphens))?
    }

    /// The letters before and after a position in a word, ignoring hyphens.
    pub(super) fn halves(&self, offset: usize) -> (&str, &str) {
        let (before, after) = self.text.split_at(offset);
        let left = before.trim_end_matches(char::is_alphanumeric).len();
        let right = after.trim_start_matches(char::is_alphanumeric).len();
        (&before[left..], &after[..after.len() - right])
    }

    /// The halves of words split at line ends.
    pub(super) fn parted(&self) -> impl Iterator<Item = (&str, &str)> {
        let parted = self.hyphens.iter().filter(|(_, hyphen)| *hyphen == Hyphen::AtLineEnd);
        parted.map(|(offset, _)| self.halves(*offset))
    }

    /// A range of the text with its hyphens.
    pub(super) fn readable(&self, start: usize, end: usize) -> String {
        let mut out = String::with_capacity(end - start + 8);
        let mut done = start;
        for (offset, hyphen) in self.hyphens_between(start, end) {
            out.push_str(&self.text[done..*offset]);
            out.push_str(match hyphen {
                Hyphen::Inside => "-",
                Hyphen::AtLineEnd => "",
                Hyphen::BeforeSpace => "- ",
            });
            done = *offset;
        }
        out.push_str(&self.text[done..end]);
        out
    }

    fn real_hyphen_at(&self, offset: usize) -> bool {
        let found = self.hyphens.binary_search_by_key(&offset, |(at, _)| *at);
        found.is_ok_and(|index| self.hyphens[index].1 != Hyphen::AtLineEnd)
    }

    /// The hyphens strictly inside a range.
    fn hyphens_between(&self, start: usize, end: usize) -> &[(usize, Hyphen)] {
        let from = self.hyphens.partition_point(|(offset, _)| *offset <= start);
        let to = self.hyphens.partition_point(|(offset, _)| *offset < end);
        &self.hyphens[from..to.max(from)]
    }
}

/// Whether the characters before and after an offset are of the same word.
pub(crate) fn joined(text: &str, offset: usize) -> bool {
    let before = text[..offset].chars().next_back().is_some_and(char::is_alphanumeric);
    before && text[offset..].chars().next().is_some_and(char::is_alphanumeric)
}

/// Compares the hyphens of a range of the source, which begins at `start`, with those of a quote: the positions inside
/// words with a hyphen in only one of the two, or none if there are other differences.
fn differing(source: &[(usize, Hyphen)], start: usize, quote: &[(usize, Hyphen)]) -> Option<Vec<usize>> {
    use Hyphen::{AtLineEnd, BeforeSpace, Inside};
    let (mut source, mut quote) = (source.iter().peekable(), quote.iter().peekable());
    let mut found = Vec::new();
    loop {
        let ours = source.peek().map(|(offset, _)| *offset);
        let theirs = quote.peek().map(|(offset, _)| *offset + start);
        let Some(first) = ours.into_iter().chain(theirs).min() else { return Some(found) };
        let ours = source.next_if(|(offset, _)| *offset == first).map(|(_, hyphen)| hyphen);
        let theirs = quote.next_if(|(offset, _)| *offset + start == first).map(|(_, hyphen)| hyphen);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => {}
            (Some(AtLineEnd), _) | (_, Some(AtLineEnd)) | (None, None) => {}
            (Some(Inside), None) | (None, Some(Inside)) => found.push(first),
            (Some(BeforeSpace | Inside), Some(_)) | (Some(BeforeSpace), None) | (None, Some(BeforeSpace)) => {
                return None;
            }
        }
    }
}

impl Writer {
    fn new(normal: Normal) -> Self {
        Self { normal, at: 0, gap: Gap::None, hyphen: None, page: None }
    }

    /// Reads a text while `goes_on`, called after each character, returns true.
    fn read(&mut self, text: &str, mut goes_on: impl FnMut(&Self) -> bool) {
        let mut begins = 0;
        for line in text.split_inclusive('\n') {
            match crate::page_mark(line) {
                Some(page) => (self.page, self.gap) = (Some(page), Gap::Line),
                None => {
                    for (at, character) in line.char_indices() {
                        self.at = begins + at;
                        self.take(character);
                        if !goes_on(self) {
                            return;
                        }
                    }
                }
            }
            begins += line.len();
        }
    }

    fn take(&mut self, character: char) {
        match character {
            '\n' | '\u{2028}' | '\u{2029}' => self.gap = Gap::Line,
            _ if character.is_whitespace() => self.gap = self.gap.max(Gap::Space),
            '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' => {}
            '\u{ad}' => {
                if self.hyphen.is_none() && self.gap == Gap::None && self.after_word() {
                    self.hyphen = Some(Seen::Soft);
                }
            }
            '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => self.dash(),
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2039}' | '\u{203a}' | '\u{2032}' => self.put("'"),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' => self.put("\""),
            _ => self.put(letters_of(character).unwrap_or(character.encode_utf8(&mut [0; 4]))),
        }
    }

    fn dash(&mut self) {
        if self.gap == Gap::None && self.hyphen != Some(Seen::Plain) && self.after_word() {
            self.hyphen = Some(Seen::Plain);
        } else {
            self.put("-");
        }
    }

    fn after_word(&self) -> bool {
        self.normal.text.ends_with(char::is_alphanumeric)
    }

    /// Writes the pending characters, then `text`.
    fn put(&mut self, text: &str) {
        let goes_on = text.starts_with(char::is_alphanumeric);
        match (self.hyphen.take(), self.gap) {
            (Some(Seen::Soft), Gap::None) | (None, Gap::None) => {}
            (Some(Seen::Plain), Gap::None) if goes_on => self.join(Hyphen::Inside),
            (Some(Seen::Plain), Gap::Space) if goes_on => self.join(Hyphen::BeforeSpace),
            (Some(_), Gap::Line) if goes_on => self.join(Hyphen::AtLineEnd),
            (hyphen, gap) => {
                if hyphen == Some(Seen::Plain) {
                    self.normal.text.push('-');
                }
                if gap != Gap::None && !self.normal.text.is_empty() {
                    self.normal.text.push(' ');
                }
            }
        }
        let last = self.normal.lines.last().map_or(0, |(offset, _)| *offset);
        let is_far = self.gap == Gap::Space && self.normal.text.len() - last > LONG_LINE;
        if self.gap == Gap::Line || self.normal.text.is_empty() || is_far {
            self.normal.lines.push((self.normal.text.len(), self.at));
        }
        self.gap = Gap::None;
        if let Some(page) = self.page.take() {
            self.normal.pages.push((self.normal.text.len(), page));
        }
        self.normal.text.push_str(text);
    }

    fn join(&mut self, hyphen: Hyphen) {
        self.normal.hyphens.push((self.normal.text.len(), hyphen));
    }

    fn finish(mut self) -> Normal {
        if self.hyphen == Some(Seen::Plain) {
            self.normal.text.push('-');
        }
        self.normal
    }
}
