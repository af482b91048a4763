//! Which lists are numbered: the text only names a style, and the style defines the marker of each level.

use crate::child::protocol::Failure;
use crate::formats::xml;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Deeper entries are shown at this depth: OpenDocument itself has ten levels, and indents of a hostile file would grow
/// without bound.
const MAX_DEPTH: usize = 9;

/// The numbered levels of all list styles.
#[derive(Debug, Default)]
pub(crate) struct Styles(HashSet<(String, usize)>);

impl Styles {
    /// Reads the list styles of one part of the document.
    pub(crate) fn learn(&mut self, part: &str) -> Result<(), Failure> {
        let mut style = String::new();
        xml::each_start("styles.xml", part, |start| {
            match start.name().as_ref() {
                "text:list-style" => style = xml::attribute(start, "name").unwrap_or_default(),
                "text:list-level-style-number" => {
                    let numbered = xml::attribute(start, "num-format").is_some_and(|format| !format.is_empty());
                    let level = xml::attribute(start, "level").and_then(|level| level.parse().ok());
                    self.0.extend(level.filter(|_| numbered).map(|level| (style.clone(), level)));
                }
                // The styles come before the text.
                "office:body" => return ControlFlow::Break(()),
                _ => {}
            }
            ControlFlow::Continue(())
        })
    }

    fn numbered(&self, style: &str, level: usize) -> bool {
        self.0.contains(&(style.to_owned(), level))
    }
}

/// A list that is being read.
struct Open {
    style: String,
    /// Number of the present entry, from 1.
    number: u32,
    /// Whether the present entry still waits for its first paragraph.
    fresh: bool,
}

/// The lists around the current position, outermost first.
#[derive(Default)]
pub(crate) struct Lists(Vec<Open>);

impl Lists {
    /// Begins a list; without a style it inherits that of the enclosing list.
    pub(crate) fn begin(&mut self, style: Option<String>) {
        let style = style.or_else(|| self.0.last().map(|outer| outer.style.clone())).unwrap_or_default();
        self.0.push(Open { style, number: 0, fresh: false });
    }

    /// A list ends.
    pub(crate) fn end(&mut self) {
        self.0.pop();
    }

    /// Begins an entry, with an explicit number if there is one.
    pub(crate) fn entry(&mut self, number: Option<u32>) {
        if let Some(list) = self.0.last_mut() {
            list.number = number.unwrap_or_else(|| list.number.saturating_add(1));
            list.fresh = true;
        }
    }

    /// Depth and marker for the first paragraph of an entry; none for others.
    pub(crate) fn take_marker(&mut self, styles: &Styles) -> Option<(usize, String)> {
        let depth = self.0.len().checked_sub(1)?;
        let list = self.0.last_mut().filter(|list| list.fresh)?;
        list.fresh = false;
        let marker = match styles.numbered(&list.style, depth + 1) {
            true => format!("{}.", list.number),
            false => "-".to_owned(),
        };
        Some((depth.min(MAX_DEPTH), marker))
    }
}
