//! Labels of numbered paragraphs as a word processor shows them: it computes them, and the text does not contain them.
//!
//! The rules are those of ECMA-376, part 1, 17.9.

use super::numbering::{Asked, LEVELS, Level, Numbering, Place};
use crate::formats::numerals::{ordinal, repeated_letters, roman};
use std::collections::{HashMap, HashSet};

/// The character around a label in the text of a paragraph.
const MARK: char = '\u{f8fe}';
/// Behind the level of a label that nothing separates from the text.
const GLUED: &str = "+";
/// The format of levels without numbers.
const BULLET: &str = "bullet";

/// Counts the numbered paragraphs of a part.
pub(super) struct Labels<'a> {
    numbering: &'a Numbering,
    /// The last number of each level of an abstract list; none before the first one and after a restart.
    counts: HashMap<&'a str, [Option<u32>; LEVELS]>,
    /// The lists that have begun a level with a number of their own.
    begun: HashSet<(String, usize)>,
}

/// A label with the level of its list, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) level: usize,
    /// Empty for a level that shows none.
    pub(super) sign: String,
    /// Whether nothing separates it from the text.
    pub(super) glued: bool,
}

impl<'a> Labels<'a> {
    pub(super) fn new(numbering: &'a Numbering) -> Self {
        Self { numbering, counts: HashMap::new(), begun: HashSet::new() }
    }

    /// The place of a paragraph in its list.
    pub(super) fn place(&self, asked: &Asked) -> Option<Place> {
        self.numbering.place(asked)
    }

    /// The outline level of a paragraph.
    pub(super) fn outline(&self, asked: &Asked) -> Option<u8> {
        self.numbering.outline(asked)
    }

    /// The label of the next paragraph at a place; none for bullets.
    pub(super) fn next(&mut self, place: &Place) -> Option<Label> {
        let level = self.numbering.level(&place.list, place.level)?;
        self.count(place)?;
        if level.format == BULLET {
            return None;
        }
        let sign = self.sign(place, level)?;
        let is_bullet = !sign.is_empty() && !sign.contains(char::is_alphanumeric);
        let glued = level.glued && !level.text.ends_with(char::is_whitespace);
        (!is_bullet).then_some(Label { level: place.level, sign, glued })
    }

    fn count(&mut self, place: &Place) -> Option<()> {
        let (numbering, at) = (self.numbering, place.level);
        let own = numbering.own_start(&place.list, at);
        let anew = own.filter(|_| self.begun.insert((place.list.clone(), at)));
        let counts = self.counts.entry(numbering.counters(&place.list)?).or_default();
        let next = counts[at].map(|last| last.saturating_add(1));
        counts[at] = anew.or(next).or_else(|| Some(start(numbering, place, at)));
        for (above, count) in counts.iter_mut().enumerate().take(at) {
            count.get_or_insert_with(|| start(numbering, place, above));
        }
        for (below, count) in counts.iter_mut().enumerate().skip(at + 1) {
            let restart = numbering.level(&place.list, below).and_then(|level| level.restart);
            if at < restart.unwrap_or(below) {
                *count = None;
            }
        }
        Some(())
    }

    fn sign(&self, place: &Place, level: &Level) -> Option<String> {
        let counts = self.counts.get(self.numbering.counters(&place.list)?)?;
        let (mut sign, mut rest) = (String::new(), level.text.chars().peekable());
        while let Some(character) = rest.next() {
            let of = rest.peek().and_then(|digit| digit.to_digit(10)).filter(|of| character == '%' && *of > 0);
            let Some(of) = of.map(|of| of as usize - 1) else {
                sign.push(character);
                continue;
            };
            rest.next();
            let format = self.numbering.level(&place.list, of).map_or("", |level| level.format.as_str());
            let format = if level.legal && format != "none" { "decimal" } else { format };
            sign.push_str(&counts.get(of).copied().flatten().map(|count| number(count, format)).unwrap_or_default());
        }
        Some(sign.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn start(numbering: &Numbering, place: &Place, level: usize) -> u32 {
    let defined = || numbering.level(&place.list, level).map(|level| level.start.unwrap_or(0));
    numbering.own_start(&place.list, level).or_else(defined).unwrap_or(1)
}

/// A number in a format; decimal in one that is not known.
fn number(count: u32, format: &str) -> String {
    match format {
        "none" | BULLET => String::new(),
        "decimalZero" => format!("{count:02}"),
        "lowerLetter" => repeated_letters(count),
        "upperLetter" => repeated_letters(count).to_uppercase(),
        "lowerRoman" => roman(count),
        "upperRoman" => roman(count).to_uppercase(),
        "ordinal" => ordinal(count),
        _ => count.to_string(),
    }
}

impl Label {
    /// The form in which a label begins the text of its paragraph until the blocks are made.
    pub(super) fn marked(&self) -> String {
        format!("{MARK}{}{} {}{MARK}", self.level, if self.glued { GLUED } else { "" }, self.sign)
    }
}

/// A paragraph's label and its words.
pub(super) fn split(text: &str) -> (Option<Label>, String) {
    let Some((inner, rest)) = text.trim_start().strip_prefix(MARK).and_then(|text| text.split_once(MARK)) else {
        return (None, in_line(text));
    };
    let (level, sign) = inner.split_once(' ').unwrap_or(("0", inner));
    let (level, glued) = level.strip_suffix(GLUED).map_or((level, false), |level| (level, true));
    let label = Label { level: level.parse().unwrap_or(0), sign: sign.to_owned(), glued };
    (Some(label), in_line(rest))
}

/// A text with its labels as words of it. A text of a drawing may be within a paragraph.
pub(super) fn in_line(text: &str) -> String {
    if !text.contains(MARK) {
        return text.to_owned();
    }
    let mut out = String::new();
    for (index, piece) in text.split(MARK).enumerate() {
        match piece.split_once(' ') {
            Some((_, "")) if index % 2 == 1 => {}
            Some((_, sign)) if index % 2 == 1 => out.extend([sign, " "]),
            _ => out.push_str(piece),
        }
    }
    out
}
