//! Places in an order: `fifth`, `5th`, `twenty-first`, `zwölften`, `einundzwanzigster`.

use super::number_words::{WORDS, value};
use super::spelled;

/// English and German ordinals that are not made of their number.
const IRREGULAR: [(&str, u64); 13] = [
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fifth", 5),
    ("eighth", 8),
    ("ninth", 9),
    ("twelfth", 12),
    ("hundredth", 100),
    ("erst", 1),
    ("dritt", 3),
    ("siebt", 7),
    ("siebent", 7),
    ("acht", 8),
];
const ENDINGS: [&str; 5] = ["en", "er", "es", "em", "e"];
/// What is no third in an order.
const THIRD: [&str; 4] = ["party", "parties", "country", "countries"];
/// A verb.
const VERB: &str = "achten";

/// The ordinal with which words begin, and how many words it has.
pub(super) fn ordinal(words: &[&str]) -> Option<(u64, usize)> {
    let first = *words.first()?;
    if let [tens, unit, ..] = words
        && let [tens @ (20 | 30 | 40 | 50 | 60 | 70 | 80 | 90)] = spelled::in_word(tens)[..]
        && let Some(unit @ 1..=9) = ordinal_of(unit)
    {
        return Some((tens + unit, 2));
    }
    if first == "third" && words.get(1).is_some_and(|next| THIRD.contains(next)) {
        return None;
    }
    ordinal_of(first).map(|place| (place, 1))
}

/// The place that a word names.
pub(super) fn ordinal_of(word: &str) -> Option<u64> {
    if let Some((_, place)) = IRREGULAR[..8].iter().find(|(known, _)| *known == word) {
        return Some(*place);
    }
    let digits = word.strip_suffix("th").or_else(|| word.strip_suffix("st")).or_else(|| word.strip_suffix("nd"));
    if let Some(place) = digits.or_else(|| word.strip_suffix("rd")).and_then(|digits| digits.parse().ok()) {
        return Some(place);
    }
    let english = word.strip_suffix("ieth").map(|stem| format!("{stem}y"));
    let english = english.or_else(|| word.strip_suffix("th").map(str::to_owned));
    english.and_then(|number| value(&number, &WORDS)).map(u64::from).or_else(|| german(word))
}

fn german(word: &str) -> Option<u64> {
    let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending)).filter(|_| word != VERB)?;
    if let Some((_, place)) = IRREGULAR[8..].iter().find(|(known, _)| *known == stem) {
        return Some(*place);
    }
    let number = stem.strip_suffix('t')?;
    let number = number.strip_suffix('s').filter(|number| number.ends_with("ig") || number.ends_with("hundert"));
    if let [place] = spelled::in_word(number.unwrap_or(&stem[..stem.len() - 1]))[..] { Some(place) } else { None }
}
