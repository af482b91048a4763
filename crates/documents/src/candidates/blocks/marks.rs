//! The marks at the beginning of list entries.

use plumbline_bounds::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// The style of marks of one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::candidates) struct Style {
    /// The characters around the number.
    enclosed: Enclosed,
    numbered: Numbered,
}

/// The characters around a number. `1.` and `(1)` are two levels of a list, as in statutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enclosed {
    /// `-`, `4.2.1`, `§ 5`
    Bare,
    /// `1.`
    Stopped,
    /// `1)`
    Closed,
    /// `(1)`
    Both,
}

/// The numbering of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbered {
    /// It does not.
    Bullet,
    /// `4.2.1`, with the number of parts; `§ 5` has none
    Section(usize),
    /// 1, 2
    Digits,
    /// a, b; after z comes aa
    Lower,
    /// A, B
    Upper,
    /// i, ii
    LowerRoman,
    /// I, II
    UpperRoman,
}

/// The possible readings of a mark: `(i)` is the ninth letter or the first Roman numeral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::candidates) struct Mark {
    /// The most likely reading, unless an earlier mark decides otherwise.
    pub(in crate::candidates) first: Reading,
    /// The other way.
    pub(in crate::candidates) second: Option<Reading>,
}

/// A style and the place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::candidates) struct Reading {
    pub(in crate::candidates) style: Style,
    /// From 1; 0 if the style has no numbers.
    pub(in crate::candidates) place: u32,
}

impl Mark {
    /// The mark of an entry that is separated from the others only by a semicolon.
    pub(super) const BULLET: Self = Self { first: reading(Enclosed::Bare, Numbered::Bullet, 0), second: None };

    /// All readings, the most likely first.
    pub(in crate::candidates) fn readings(self) -> impl Iterator<Item = Reading> {
        std::iter::once(self.first).chain(self.second)
    }

    pub(super) fn is_bullet(self) -> bool {
        self.first.style.numbered == Numbered::Bullet
    }

    /// Whether it is the number of a section.
    pub(in crate::candidates) fn is_section(self) -> bool {
        matches!(self.first.style.numbered, Numbered::Section(_))
    }
}

impl Reading {
    /// Whether a list may begin with it.
    pub(in crate::candidates) fn begins(self) -> bool {
        self.place <= 1
    }

    /// Whether it is marked as a section at the level of another one or above it.
    pub(in crate::candidates) fn ends_section(self, other: Self) -> bool {
        matches!((self.style.numbered, other.style.numbered), (Numbered::Section(own), Numbered::Section(of)) if own <= of)
    }

    /// Whether it begins the numbers of another mark's list anew, as the list below that entry does in a text without
    /// indents.
    pub(in crate::candidates) fn restarts(self, above: Self) -> bool {
        self.style == above.style && self.place == 1 && above.place > 0
    }

    /// Whether it directly follows another mark of its list.
    pub(in crate::candidates) fn follows(self, last: Self) -> bool {
        self.style == last.style && self.place == last.place + 1 && last.place > 0
    }
}

/// The mark of an entry, also in bold type. Up to three digits are an entry's number, four are a year. A question mark
/// begins a key of YAML, and replaces a bullet that an encoding lacks.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(
        r"^(?:(?P<bullet>[-*+•●○◦▪■□►▶✓·‣–—?](?: \[[ xX]\])?|\\item(?:\[[^\]]*\])?|:|#\.|\(@[\w-]*\))|(?P<section>\d{1,3}(?:\.\d{1,3})+\.?|§ ?\d+[a-z]?)|(?P<number>\(?\d{1,3}[.)]|\(\d{1,3}[a-z]?\))|(?P<letter>\(?(?:[a-zA-Z]{1,2}|[ivxIVX]{1,5})\)|[a-zA-Z]\.|[ivx]{2,5}\.|[IVX]{2,5}\.)|\*\*(?P<bold>\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\*\*)[ \t]+",
    )
});

/// The mark at the beginning of a line, and its length including the following white space.
pub(super) fn mark(line: &str) -> Option<(Mark, usize)> {
    let found = MARK.captures(line)?;
    let sign = found.name("bold").map_or(found[0].trim_end(), |bold| bold.as_str());
    let only = |numbered| Mark { first: reading(Enclosed::Bare, numbered, 0), second: None };
    let mark = match (found.name("bullet"), found.name("section")) {
        (Some(_), _) => only(Numbered::Bullet),
        (_, Some(number)) => {
            only(Numbered::Section(number.as_str().split('.').filter(|part| !part.is_empty()).count()))
        }
        _ => enclosed(sign),
    };
    Some((mark, found[0].len()))
}

const fn reading(enclosed: Enclosed, numbered: Numbered, place: u32) -> Reading {
    Reading { style: Style { enclosed, numbered }, place }
}

fn enclosed(sign: &str) -> Mark {
    let enclosed = match (sign.starts_with('('), sign.ends_with(')')) {
        (true, _) => Enclosed::Both,
        (_, true) => Enclosed::Closed,
        _ => Enclosed::Stopped,
    };
    let inner = sign.trim_matches(['(', ')', '.']);
    let read = |numbered, place| reading(enclosed, numbered, place);
    let digits = inner.trim_end_matches(|sign: char| sign.is_ascii_lowercase());
    if let Ok(place) = digits.parse() {
        return Mark { first: read(Numbered::Digits, place), second: None };
    }
    let upper = inner.starts_with(|sign: char| sign.is_ascii_uppercase());
    let (letters, romans) = match upper {
        true => (Numbered::Upper, Numbered::UpperRoman),
        false => (Numbered::Lower, Numbered::LowerRoman),
    };
    let letter = letter(inner).map(|place| read(letters, place));
    let roman = roman(inner).map(|place| read(romans, place));
    match (letter, roman) {
        // `(i)` is more often the first Roman numeral than the ninth letter, `(v)` a fifth one; `(x)` is either.
        (Some(letter), Some(roman)) => Mark { first: roman, second: Some(letter) },
        (letter, roman) => Mark { first: letter.or(roman).unwrap_or(read(letters, 0)), second: None },
    }
}

/// The place of a letter in the alphabet; `aa` follows `z`.
fn letter(text: &str) -> Option<u32> {
    let first = text.bytes().next()?.to_ascii_lowercase();
    let doubled = text.len() == 2 && text.bytes().all(|byte| byte.eq_ignore_ascii_case(&first));
    let of = |byte: u8| u32::from(byte.wrapping_sub(b'a')) + 1;
    match text.len() {
        1 if first.is_ascii_alphabetic() => Some(of(first)),
        2 if doubled && !matches!(first, b'i' | b'x') => Some(26 + of(first)),
        _ => None,
    }
}

/// The value of a Roman numeral up to 39, in canonical form only.
fn roman(text: &str) -> Option<u32> {
    const UNITS: [&str; 10] = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];
    let text = text.to_ascii_lowercase();
    let tens = text.bytes().take_while(|byte| *byte == b'x').count();
    let units = UNITS.iter().position(|unit| *unit == &text[tens..])?;
    (tens <= 3 && !text.is_empty()).then(|| u32::try_from(tens * 10 + units).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(line: &str) -> Vec<(Numbered, u32)> {
        let (mark, _) = mark(line).expect("a mark");
        mark.readings().map(|reading| (reading.style.numbered, reading.place)).collect()
    }

    #[test]
    fn marks_are_read_in_each_way_that_makes_sense() {
        assert_eq!(places("(12) text"), [(Numbered::Digits, 12)]);
        assert_eq!(places("(3a) text"), [(Numbered::Digits, 3)]);
        assert_eq!(places("c) text"), [(Numbered::Lower, 3)]);
        assert_eq!(places("(aa) text"), [(Numbered::Lower, 27)]);
        assert_eq!(places("(i) text"), [(Numbered::LowerRoman, 1), (Numbered::Lower, 9)]);
        assert_eq!(places("(xiv) text"), [(Numbered::LowerRoman, 14)]);
        assert_eq!(places("IV) text"), [(Numbered::UpperRoman, 4)]);
        assert_eq!(places("4.2.1 text"), [(Numbered::Section(3), 0)]);
        assert_eq!(places("**(3)** text"), [(Numbered::Digits, 3)]);
        assert_eq!(mark("2024. text"), None);
    }

    #[test]
    fn what_encloses_a_number_is_a_level() {
        let style = |line| mark(line).expect("a mark").0.first.style;
        assert_ne!(style("(1) text"), style("1. text"));
        assert_ne!(style("1) text"), style("1. text"));
        assert_eq!(style("(1) text"), style("(2) text"));
    }
}
