//! The lists around the current position, and the numbers of their paragraphs and of headings.
//!
//! An entry counts with its first paragraph: a deeper list that continues after other text is written within entries
//! without paragraphs.

use super::list_styles::{Counts, LEVELS, Styles, level_of};
use crate::formats::xml;
use quick_xml::events::BytesStart;
use std::collections::HashMap;

/// A list that is being read.
struct Open {
    style: String,
    id: Option<String>,
    /// From 0; deeper lists than OpenDocument has are at its deepest level.
    level: usize,
    /// The present entry, until its first paragraph.
    entry: Option<Entry>,
}

/// An entry of a list.
#[derive(Default)]
struct Entry {
    /// A number of its own.
    number: Option<u32>,
    /// A style of its own.
    style: Option<String>,
}

/// The label of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// The level of its list, from 0.
    pub(super) level: usize,
    /// None for a bullet; empty for a level that shows no number.
    pub(super) sign: Option<String>,
}

/// The lists around the current position, outermost first, and the numbers so far.
pub(super) struct Lists<'a> {
    styles: &'a Styles,
    open: Vec<Open>,
    /// The numbers of the outermost open list and those within it.
    counts: Counts,
    /// The numbers of the lists that have ended, by their ids.
    ended: HashMap<String, Counts>,
    /// Style and numbers of the last list that has ended.
    last: (String, Counts),
    headings: Counts,
}

impl<'a> Lists<'a> {
    pub(super) fn new(styles: &'a Styles) -> Self {
        let (counts, headings) = Default::default();
        Self { styles, open: Vec::new(), counts, ended: HashMap::new(), last: Default::default(), headings }
    }

    /// Begins a list; without a style it inherits that of the enclosing list.
    pub(super) fn begin(&mut self, start: &BytesStart<'_>) {
        let (own, id) = (xml::attribute(start, "style-name"), xml::attribute(start, "id"));
        let level = self.open.last().map_or(0, |outer| (outer.level + 1).min(LEVELS - 1));
        let style = own.or_else(|| self.open.last().map(|outer| outer.style.clone())).unwrap_or_default();
        match self.open.last() {
            None => self.counts = self.counts_of(&style, start),
            Some(outer) if outer.style != style => self.counts[level..].fill(None),
            Some(_) => {}
        }
        self.open.push(Open { style, id, level, entry: None });
    }

    /// The numbers with which an outermost list begins.
    fn counts_of(&self, style: &str, start: &BytesStart<'_>) -> Counts {
        let continued = xml::attribute(start, "continue-list").and_then(|id| self.ended.get(&id));
        let follows = || xml::attribute(start, "continue-numbering").is_some_and(|says| says == "true");
        match continued {
            Some(counts) => *counts,
            None if self.is_outline(style) => self.headings,
            None if self.last.0 == style && follows() => self.last.1,
            None => Counts::default(),
        }
    }

    /// Begins a paragraph that names its list and level itself.
    pub(super) fn begin_paragraph(&mut self, start: &BytesStart<'_>) {
        let (style, id) = (xml::attribute(start, "style-name").unwrap_or_default(), xml::attribute(start, "list-id"));
        if self.open.is_empty() {
            let known = id.as_ref().and_then(|id| self.ended.get(id).copied());
            self.counts = known.unwrap_or_else(|| self.counts_of(&style, start));
        }
        let level = level_of(start, "level").unwrap_or(0);
        self.open.push(Open { style, id, level, entry: Some(Entry::of(start)) });
    }

    /// A list, or a paragraph that names its list, ends.
    pub(super) fn end(&mut self) {
        let Some(list) = self.open.pop().filter(|_| self.open.is_empty()) else { return };
        if self.is_outline(&list.style) {
            self.headings = self.counts;
        }
        self.ended.extend(list.id.map(|id| (id, self.counts)));
        self.last = (list.style, self.counts);
    }

    /// Begins an entry.
    pub(super) fn entry(&mut self, start: &BytesStart<'_>) {
        if let Some(list) = self.open.last_mut() {
            list.entry = Some(Entry::of(start));
        }
    }

    /// Begins the heading of a list, which has no number.
    pub(super) fn header(&mut self) {
        if let Some(list) = self.open.last_mut() {
            list.entry = None;
        }
    }

    /// The label of a paragraph or heading that begins; none for further paragraphs of an entry, and outside lists.
    pub(super) fn label(&mut self, start: &BytesStart<'_>) -> Option<Label> {
        let style = xml::attribute(start, "style-name").unwrap_or_default();
        match self.open.last_mut() {
            Some(list) => {
                let (entry, level) = (list.entry.take()?, list.level);
                let of_list = entry.style.clone().unwrap_or_else(|| list.style.clone());
                let of_paragraph = || self.styles.list_of(&style).unwrap_or_default().to_owned();
                let style = if of_list.is_empty() { of_paragraph() } else { of_list };
                Some(next(self.styles, &style, level, &mut self.counts, entry.number))
            }
            None if start.name().as_ref() == "text:h" => self.heading(start, &style),
            None => None,
        }
    }

    fn heading(&mut self, start: &BytesStart<'_>, style: &str) -> Option<Label> {
        let says = |name: &str| xml::attribute(start, name).is_some_and(|value| value == "true");
        let is_out = self.styles.list_of(style).is_some_and(|list| !self.is_outline(list));
        if is_out || says("is-list-header") {
            return None;
        }
        let level = level_of(start, "outline-level").unwrap_or(0);
        let outline = self.styles.outline();
        let anew = || says("restart-numbering").then(|| self.styles.start(outline, level));
        let number = Entry::of(start).number.or_else(anew);
        Some(next(self.styles, outline, level, &mut self.headings, number)).filter(|label| label.sign.is_some())
    }

    fn is_outline(&self, style: &str) -> bool {
        !style.is_empty() && style == self.styles.outline()
    }
}

impl Entry {
    fn of(start: &BytesStart<'_>) -> Self {
        let number = xml::attribute(start, "start-value").and_then(|value| value.parse().ok());
        Self { number, style: xml::attribute(start, "style-override") }
    }
}

/// Counts a paragraph, and returns its label.
fn next(styles: &Styles, style: &str, level: usize, counts: &mut Counts, own: Option<u32>) -> Label {
    let following = counts[level].map(|last| last.saturating_add(1));
    counts[level] = own.or(following).or_else(|| Some(styles.start(style, level)));
    for (above, count) in counts.iter_mut().enumerate().take(level) {
        count.get_or_insert_with(|| styles.start(style, above));
    }
    counts[level + 1..].fill(None);
    Label { level, sign: styles.is_numbered(style, level).then(|| styles.label(style, level, counts)) }
}
