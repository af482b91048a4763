//! How lists and headings are numbered: the text only names a style, and the style defines the label of each level.
//!
//! The rules are those of OpenDocument 1.3, part 3, 16.30 to 16.34.

use crate::child::protocol::Failure;
use crate::formats::numerals::{letters, repeated_letters, roman};
use crate::formats::xml;
use quick_xml::events::BytesStart;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A list has ten levels.
pub(super) const LEVELS: usize = 10;
/// How many styles are followed from a style to those it is based on.
const MOST_BASES: usize = 16;

/// The last number of each level; none before the first one and after a restart.
pub(super) type Counts = [Option<u32>; LEVELS];

/// A numbered level.
#[derive(Debug)]
struct Level {
    /// The format of its numbers, by its first number: `1`, `a`, `A`, `i`, `I`; empty for none.
    format: String,
    prefix: String,
    suffix: String,
    start: u32,
    /// How many levels its label shows, itself included.
    shown: usize,
    /// Whether `bb` comes after `aa`, not `ab`.
    repeats: bool,
    /// The label with `%1%` to `%10%` for the numbers of the levels, in place of prefix, suffix and shown levels.
    pattern: Option<String>,
}

/// A style of paragraphs.
#[derive(Debug, Default)]
struct Paragraph {
    base: Option<String>,
    /// The style of its lists; empty for none.
    list: Option<String>,
}

/// The numbered levels of all list styles, that of the headings, and the lists of paragraphs' styles.
#[derive(Debug, Default)]
pub(super) struct Styles {
    levels: HashMap<String, HashMap<usize, Level>>,
    outline: String,
    paragraphs: HashMap<String, Paragraph>,
}

impl Styles {
    /// Reads the styles of one part of the document.
    pub(super) fn learn(&mut self, part: &str) -> Result<(), Failure> {
        let mut style = String::new();
        xml::each_start("styles.xml", part, |start| {
            let name = || xml::attribute(start, "name").unwrap_or_default();
            match start.name().as_ref() {
                "text:list-style" => style = name(),
                "text:outline-style" => {
                    // OpenDocument 1.1 gives it no name; that of all writers is this one.
                    style = xml::attribute(start, "name").unwrap_or_else(|| "Outline".to_owned());
                    self.outline.clone_from(&style);
                }
                "text:list-level-style-number" | "text:outline-level-style" => {
                    let levels = self.levels.entry(style.clone()).or_default();
                    levels.extend(level_of(start, "level").map(|level| (level, Level::of(start))));
                }
                "style:style" => {
                    let base = xml::attribute(start, "parent-style-name");
                    self.paragraphs.insert(name(), Paragraph { base, list: xml::attribute(start, "list-style-name") });
                }
                // The styles come before the text.
                "office:body" => return ControlFlow::Break(()),
                _ => {}
            }
            ControlFlow::Continue(())
        })
    }

    /// The style of the headings' numbers.
    pub(super) fn outline(&self) -> &str {
        &self.outline
    }

    /// The list style of a paragraph's style, or of a style that it is based on; empty if that takes it out of lists.
    pub(super) fn list_of(&self, paragraph: &str) -> Option<&str> {
        let first = self.paragraphs.get(paragraph);
        let base = |style: &&Paragraph| self.paragraphs.get(style.base.as_ref()?);
        std::iter::successors(first, base).take(MOST_BASES).find_map(|style| style.list.as_deref())
    }

    /// Whether a level has numbers, and no bullets.
    pub(super) fn is_numbered(&self, style: &str, at: usize) -> bool {
        self.level(style, at).is_some()
    }

    /// The first number of a level.
    pub(super) fn start(&self, style: &str, at: usize) -> u32 {
        self.level(style, at).map_or(1, |level| level.start)
    }

    /// The label of a paragraph at a level; empty if it shows none.
    pub(super) fn label(&self, style: &str, at: usize, counts: &Counts) -> String {
        let Some(level) = self.level(style, at) else { return String::new() };
        let number = |at: usize| {
            let count = counts.get(at).copied().flatten();
            self.level(style, at).zip(count).map(|(level, count)| level.number(count)).unwrap_or_default()
        };
        let label = match &level.pattern {
            Some(pattern) => filled(pattern, number),
            None => {
                let first = if level.format.is_empty() { at + 1 } else { (at + 1).saturating_sub(level.shown) };
                let numbers: Vec<_> = (first..=at).map(number).filter(|number| !number.is_empty()).collect();
                format!("{}{}{}", level.prefix, numbers.join("."), level.suffix)
            }
        };
        label.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn level(&self, style: &str, at: usize) -> Option<&Level> {
        self.levels.get(style)?.get(&at)
    }
}

impl Level {
    fn of(start: &BytesStart<'_>) -> Self {
        let of = |name: &str| xml::attribute(start, name);
        let number = |name: &str| of(name).and_then(|value| value.parse::<u32>().ok());
        Self {
            format: of("num-format").unwrap_or_default(),
            prefix: of("num-prefix").unwrap_or_default(),
            suffix: of("num-suffix").unwrap_or_default(),
            start: number("start-value").unwrap_or(1),
            shown: number("display-levels").map_or(1, |shown| shown as usize),
            repeats: of("num-letter-sync").is_some_and(|sync| sync == "true"),
            pattern: of("num-list-format").filter(|pattern| !pattern.is_empty()),
        }
    }

    fn number(&self, count: u32) -> String {
        let letters = if self.repeats { repeated_letters } else { letters };
        match self.format.as_str() {
            "" => String::new(),
            "a" => letters(count),
            "A" => letters(count).to_uppercase(),
            "i" => roman(count),
            "I" => roman(count).to_uppercase(),
            _ => count.to_string(),
        }
    }
}

/// A level from 0, of an attribute that counts from 1.
pub(super) fn level_of(start: &BytesStart<'_>, name: &str) -> Option<usize> {
    let level = xml::attribute(start, name)?.parse::<usize>().ok()?.checked_sub(1)?;
    (level < LEVELS).then_some(level)
}

/// A pattern with the numbers of its levels; anything else between percent signs stays.
fn filled(pattern: &str, number: impl Fn(usize) -> String) -> String {
    let (mut out, mut rest) = (String::new(), pattern);
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let level = after.split_once('%').and_then(|(level, after)| {
            Some((level.parse::<usize>().ok()?.checked_sub(1).filter(|level| *level < LEVELS)?, after))
        });
        let Some((level, after)) = level else {
            out.push('%');
            rest = after;
            continue;
        };
        out.push_str(&number(level));
        rest = after;
    }
    out + rest
}
