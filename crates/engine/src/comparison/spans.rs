//! Durations and the times between occurrences: `14 days`, `a fortnight`, `quarterly`, `twice a year`, `halbjährlich`.

use super::counts::{count, times};
use super::spelled;

/// A unit: its words, and how many minutes or months it has.
type Unit = (&'static [&'static str], Size);

#[derive(Clone, Copy)]
enum Size {
    Minutes(u64),
    Months(u64),
}
use Size::{Minutes, Months};

const UNITS: [Unit; 9] = [
    (&["minute", "minutes", "minuten"], Minutes(1)),
    (&["hour", "hours", "h", "stunde", "stunden"], Minutes(60)),
    (&["day", "days", "tag", "tage", "tagen"], Minutes(1440)),
    (&["week", "weeks", "woche", "wochen"], Minutes(10_080)),
    (&["fortnight", "fortnights"], Minutes(20_160)),
    (&["month", "months", "monat", "monate", "monaten", "monats"], Months(1)),
    (&["quarter", "quarters", "quartal", "quartale", "quartalen", "quartals"], Months(3)),
    (&["year", "years", "annum", "jahr", "jahre", "jahren", "jahres"], Months(12)),
    (&["decade", "decades", "jahrzehnt", "jahrzehnte", "jahrzehnten"], Months(120)),
];
/// Beginnings of words that say how often.
const PERIODS: [(&str, Size); 13] = [
    ("hourly", Minutes(60)),
    ("stündlich", Minutes(60)),
    ("daily", Minutes(1440)),
    ("täglich", Minutes(1440)),
    ("weekly", Minutes(10_080)),
    ("wöchentlich", Minutes(10_080)),
    ("fortnightly", Minutes(20_160)),
    ("monthly", Months(1)),
    ("monatlich", Months(1)),
    ("quarterly", Months(3)),
    ("vierteljährlich", Months(3)),
    ("quartalsweise", Months(3)),
    ("halbjährlich", Months(6)),
];
/// The same of a year, which another word may halve.
const YEARLY: [&str; 5] = ["yearly", "annually", "annual", "jährlich", "year"];
const HALVED: [&str; 2] = ["semiannual", "semiannually"];
const HALF: [&str; 2] = ["half", "semi"];
/// What German number words are joined with, and what it measures.
const JOINED: [(&str, Size); 10] = [
    ("minütig", Minutes(1)),
    ("stündig", Minutes(60)),
    ("tägig", Minutes(1440)),
    ("tages", Minutes(1440)),
    ("wöchig", Minutes(10_080)),
    ("wochen", Minutes(10_080)),
    ("monatig", Months(1)),
    ("monats", Months(1)),
    ("jährig", Months(12)),
    ("jahres", Months(12)),
];
/// Words before a unit that count it once.
const EACH: [&str; 18] = [
    "a", "an", "one", "each", "every", "per", "ein", "eine", "einem", "einen", "einer", "eines", "jede", "jeden",
    "jeder", "jedes", "pro", "je",
];
/// Further words between a count and its unit: `twice in the year`, `einmal am Tag`.
const WITHIN: [&str; 4] = ["in", "the", "im", "am"];
/// Words between a number and its unit that leave the duration as it is.
const BETWEEN: [&str; 6] = ["calendar", "consecutive", "full", "whole", "volle", "vollen"];

/// A value of a span, for comparisons alone, and with which number it is stated.
type Read = ((u64, u64), String, usize);

/// The span with which words begin, and how many words it has.
pub(super) fn span(words: &[&str]) -> Option<Read> {
    several_times(words).or_else(|| counted(words)).or_else(|| period(words)).or_else(|| joined(words))
}

/// `twice a year`, `zweimal jährlich`: so much of the unit is between two occurrences.
fn several_times(words: &[&str]) -> Option<Read> {
    let (often, used) = times(words)?;
    let fillers = words[used..].iter().take_while(|word| EACH.contains(word) || WITHIN.contains(word)).count();
    let behind = &words[used + fillers..];
    let (size, more) = behind.first().and_then(|word| Some((unit(word)?, 1))).or_else(|| adverb(behind))?;
    (often > 0 && fillers <= 2).then(|| (value(size, 1000, often), often.to_string(), used + fillers + more))
}

/// `14 days`, `every two weeks`, `a month`, `half a year`, `six-monthly`.
fn counted(words: &[&str]) -> Option<Read> {
    if let Some((thousandths, number, used)) = count(words) {
        let between = usize::from(words.get(used).is_some_and(|word| BETWEEN.contains(word)));
        let behind = words.get(used + between..)?;
        let (size, more) = behind.first().and_then(|word| Some((unit(word)?, 1))).or_else(|| adverb(behind))?;
        let is_part = behind.get(more).is_some_and(|next| *next == "of") && matches!(size, Months(3));
        return (!is_part).then(|| (value(size, thousandths, 1), number, used + between + more));
    }
    if let [first, second, third, ..] = words
        && (*first == HALF[0] && EACH.contains(second) || EACH.contains(first) && second.starts_with("halb"))
        && let Some(size) = unit(third)
    {
        return Some((value(size, 500, 1), String::new(), 3));
    }
    let [first, second, ..] = words else { return None };
    let size = unit(second).filter(|_| EACH.contains(first))?;
    let is_part = words.get(2).is_some_and(|next| *next == "of") && matches!(size, Months(3));
    (!is_part).then(|| (value(size, 1000, 1), "1".to_owned(), 2))
}

/// `fortnight`, `quarterly`, `half-yearly`.
fn period(words: &[&str]) -> Option<Read> {
    let (size, used) = adverb(words)?;
    Some((value(size, 1000, 1), String::new(), used))
}

fn adverb(words: &[&str]) -> Option<(Size, usize)> {
    let first = words.first()?;
    let is_of_year = |word: &str| YEARLY.contains(&word) || word.starts_with("jährlich");
    if HALF.contains(first) && words.get(1).is_some_and(|next| is_of_year(next)) {
        return Some((Months(6), 2));
    }
    if HALVED.contains(first) {
        return Some((Months(6), 1));
    }
    if *first != "year" && is_of_year(first) {
        return Some((Months(12), 1));
    }
    PERIODS.iter().find(|(word, _)| first.starts_with(word)).map(|(_, size)| (*size, 1))
}

/// `dreißigtägig`, `Sechsmonatsfrist`.
fn joined(words: &[&str]) -> Option<Read> {
    let first = words.first()?;
    let (part, size) = JOINED.iter().find(|(part, _)| first.contains(part))?;
    let before = first.split(part).next().filter(|before| !before.is_empty())?;
    let [number] = spelled::in_word(before)[..] else { return None };
    Some((value(*size, number.checked_mul(1000)?, 1), number.to_string(), 1))
}

fn unit(word: &str) -> Option<Size> {
    UNITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, size)| *size)
}

/// So many thousandths of a unit, divided by how often. Minutes and months are never the same.
fn value(size: Size, thousandths: u64, often: u64) -> (u64, u64) {
    /// Divisible by most counts.
    const PARTS: u64 = 5040;
    let of = |each: u64| each.saturating_mul(thousandths).saturating_mul(PARTS) / often;
    match size {
        Minutes(each) => (0, of(each)),
        Months(each) => (1, of(each)),
    }
}
