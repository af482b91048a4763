//! The letters of a text as its reader sees them: a hidden character hides no word, and neither does a Cyrillic `о` in
//! *not* or a wide `９` in a number.

use crate::vocabulary::shown;
use std::borrow::Cow;

/// Letters of other scripts that look like Latin ones, in the order of `LATIN`.
const ALIKE: &str = "аеорсухіѕјһԁԛԝаеАВЕКМНОРСТХІЈЅУοανικυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧıո";
const LATIN: &str = "aeopcyxisjhdqwaeABEKMHOPCTXIJSYoavikupABEZHIKMNOPTYXin";

/// The distance of the wide signs from those of ASCII.
const WIDE: std::ops::RangeInclusive<char> = '\u{ff01}'..='\u{ff5e}';
const FROM_WIDE: u32 = 0xfee0;

/// A text as it is read.
pub(super) fn read(text: &str) -> Cow<'_, str> {
    let text = shown(text);
    if text.is_ascii() { text } else { text.split_inclusive(char::is_whitespace).map(word).collect::<String>().into() }
}

/// A word whose letters are Latin where one of them is.
fn word(word: &str) -> String {
    let narrow = word.chars().map(|sign| match WIDE.contains(&sign) {
        true => char::from_u32(u32::from(sign) - FROM_WIDE).unwrap_or(sign),
        false => sign,
    });
    if !word.contains(|sign: char| sign.is_ascii_alphabetic()) {
        return narrow.collect();
    }
    let latin = |sign: char| ALIKE.chars().zip(LATIN.chars()).find(|(alike, _)| *alike == sign).map(|(_, latin)| latin);
    narrow.map(|sign| if sign.is_ascii() { sign } else { latin(sign).unwrap_or(sign) }).collect()
}

#[cfg(test)]
mod tests {
    use super::{ALIKE, LATIN, read};

    #[test]
    fn letters_that_look_alike_are_read_alike() {
        assert_eq!(ALIKE.chars().count(), LATIN.chars().count());
        for (text, expected) in [
            ("must n\u{43e}t be", "must not be"),
            ("\u{ff11}\u{ff10} years", "10 years"),
            ("n\u{200b}ot", "not"),
            ("für Maß und µm", "für Maß und µm"),
            (
                "\u{43d}\u{435} \u{43c}\u{43e}\u{436}\u{435}\u{442}",
                "\u{43d}\u{435} \u{43c}\u{43e}\u{436}\u{435}\u{442}",
            ),
        ] {
            assert_eq!(read(text), expected);
        }
    }
}
