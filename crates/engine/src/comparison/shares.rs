//! Parts of a whole: `one third`, `two-thirds`, `25 %`, `3/4`, `ein Drittel`, `Zweidrittelmehrheit`, `Hälfte`.

use super::counts::count;
use super::modals::COMMA;
use super::ordinals::ordinal_of;
use super::spelled;

const PERCENT: [&str; 3] = ["%", "percent", "prozent"];
const ONE: [&str; 8] = ["one", "a", "an", "ein", "eine", "einem", "einer", "eines"];
/// Fractions in digits with a larger denominator are numbers of something else: `679/2016`.
const MOST_PARTS: u64 = 20;

/// A share in its lowest terms, with which number it is stated, and how many words it has.
type Read = ((u64, u64), String, usize);

/// The share with which words begin.
pub(super) fn share(words: &[&str]) -> Option<Read> {
    let first = *words.first()?;
    if let Some((part, all)) = in_digits(first) {
        return Some((lowest(part, all), first.to_owned(), 1));
    }
    if let Some((thousandths, number, used)) = count(words) {
        let behind = words.get(used..)?;
        let percent = match behind {
            [sign, ..] if PERCENT.contains(sign) => 1,
            ["per", "cent", ..] => 2,
            _ => 0,
        };
        if percent > 0 {
            return Some((lowest(thousandths, 100_000), number, used + percent));
        }
        let parts = behind.first().and_then(|word| denominator(word, true))?;
        return Some((lowest(thousandths, parts.checked_mul(1000)?), number, used + 1));
    }
    single(words).or_else(|| joined(first).map(|(part, all)| (lowest(part, all), part.to_string(), 1)))
}

/// `a third of`, `one half`, `half of`, `Hälfte`.
fn single(words: &[&str]) -> Option<Read> {
    let used = usize::from(ONE.contains(words.first()?));
    let word = *words.get(used)?;
    let next = words.get(used + 1).copied().unwrap_or(COMMA);
    let is_whole_named = [COMMA, "of", "the", "der", "des", "aller"].contains(&next);
    let is_german = word.ends_with("tel") || word == "hälfte";
    let parts = denominator(word, false).filter(|_| is_german || is_whole_named)?;
    let is_counted = used == 1 || is_german || word == "half";
    is_counted.then(|| (lowest(1, parts), "1".to_owned(), used + 1))
}

/// The parts of the whole: 3 of `thirds`, of `third` and of `drittel`.
fn denominator(word: &str, is_plural: bool) -> Option<u64> {
    match word {
        "half" | "hälfte" if !is_plural => return Some(2),
        "halves" if is_plural => return Some(2),
        "quarter" if !is_plural => return Some(4),
        "quarters" if is_plural => return Some(4),
        _ => {}
    }
    let english = if is_plural { word.strip_suffix('s') } else { Some(word) };
    english.and_then(english_part).or_else(|| german_part(word))
}

fn english_part(word: &str) -> Option<u64> {
    ordinal_of(word).filter(|parts| *parts > 2 && (word == "third" || word.ends_with("th")))
}

fn german_part(word: &str) -> Option<u64> {
    match word {
        "drittel" | "dritteln" => return Some(3),
        "siebtel" | "siebteln" => return Some(7),
        _ => {}
    }
    let number = word.trim_end_matches('n').strip_suffix("tel")?;
    let number = number.strip_suffix('s').filter(|stem| stem.ends_with("ig")).unwrap_or(number);
    if let [parts] = spelled::in_word(number)[..] { Some(parts).filter(|parts| *parts > 2) } else { None }
}

/// `Zweidrittelmehrheit`, `Dreiviertel`.
fn joined(word: &str) -> Option<(u64, u64)> {
    let at = |part: &str, parts: u64| {
        let before = &word[..word.find(part)?];
        if let [number] = spelled::in_word(before)[..] { Some((number, parts)) } else { None }
    };
    at("drittel", 3).or_else(|| at("viertel", 4))
}

/// `3/4`.
fn in_digits(word: &str) -> Option<(u64, u64)> {
    let (part, all) = word.split_once('/')?;
    let (part, all) = (part.parse().ok()?, all.parse().ok()?);
    (0 < part && part < all && all <= MOST_PARTS).then_some((part, all))
}

fn lowest(part: u64, all: u64) -> (u64, u64) {
    let (mut one, mut other) = (part, all);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    (part / one.max(1), all / one.max(1))
}
