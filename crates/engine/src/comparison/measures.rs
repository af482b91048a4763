//! What the numbers of a text measure, whatever they are written as: *fortnight* is *14 days*, *quarterly* is *every three
//! months* and *four times a year*, *a quarter* is *25 %*, *twelfth* is *12th*.

use super::ordinals::ordinal;
use super::shares::share;
use super::spans::span;
use super::spelled;

/// Behind a number: `two and a half`.
const AND_A_HALF: [&str; 3] = ["and", "a", "half"];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A duration, or the time from one occurrence to the next.
    Span,
    /// A part of a whole.
    Share,
    /// How often.
    Times,
    /// A place in an order.
    Ordinal,
}

/// A measure of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) kind: Kind,
    /// Two measures of a kind are the same if their values are.
    pub(super) value: (u64, u64),
    /// The number with which the text states it; empty if a word does, as *fortnight*.
    pub(super) number: String,
    /// Its words in the text.
    pub(super) said: String,
}

impl Measure {
    /// Whether these have the same one.
    pub(super) fn is_in(&self, others: &[Self]) -> bool {
        others.iter().any(|other| (other.kind, other.value) == (self.kind, self.value))
    }
}

/// The measures of a text, in their order.
pub(super) fn measures(text: &str) -> Vec<Measure> {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let rest = &words[at..];
        let read = span(rest)
            .map(|(value, number, used)| (Kind::Span, value, number, used))
            .or_else(|| share(rest).map(|(value, number, used)| (Kind::Share, value, number, used)))
            .or_else(|| times(rest).map(|(count, used)| (Kind::Times, (count, 1), String::new(), used)))
            .or_else(|| ordinal(rest).map(|(place, used)| (Kind::Ordinal, (place, 1), String::new(), used)));
        let Some((kind, value, number, used)) = read else {
            at += 1;
            continue;
        };
        found.push(Measure { kind, value, number, said: rest[..used].join(" ") });
        at += used;
    }
    found
}

/// How often words say that something happens, and how many words they are: `twice`, `three times`, `zweimal`, `2-mal`.
pub(super) fn times(words: &[&str]) -> Option<(u64, usize)> {
    let first = words.first()?;
    let adverb = match *first {
        "once" => Some(1),
        "twice" => Some(2),
        "thrice" => Some(3),
        word => word.strip_suffix("mal").and_then(whole),
    };
    if let Some(count) = adverb {
        return Some((count, 1));
    }
    let (thousandths, _, used) = count(words)?;
    (words.get(used).is_some_and(|word| ["times", "mal"].contains(word)) && thousandths % 1000 == 0)
        .then_some((thousandths / 1000, used + 1))
}

fn one_word(word: &str) -> Option<u64> {
    if let [value] = spelled::in_word(word)[..] { Some(value) } else { None }
}

/// The number with which words begin: in thousandths, as it is written in digits, and how many words it has.
pub(super) fn count(words: &[&str]) -> Option<(u64, String, usize)> {
    let first = words.first()?;
    if first.starts_with(|sign: char| sign.is_ascii_digit()) {
        return Some((thousandths(first)?, first.replace(',', "."), 1));
    }
    let half = first.strip_suffix("einhalb").map_or_else(|| (*first == "anderthalb").then_some(1), whole);
    if let Some(value) = half {
        return Some((value * 1000 + 500, String::new(), 1));
    }
    let of_one = || Some((whole(first).filter(|_| words[1..].starts_with(&AND_A_HALF))?, 1));
    let (value, used) = spelled::in_words(words).or_else(|| Some((one_word(first)?, 1))).or_else(of_one)?;
    let has_half = words[used..].starts_with(&AND_A_HALF);
    let (half, more) = if has_half { (500, AND_A_HALF.len()) } else { (0, 0) };
    Some((value.checked_mul(1000)?.checked_add(half)?, value.to_string(), used + more))
}

/// A number, or the word for one.
fn whole(word: &str) -> Option<u64> {
    if ["one", "ein"].contains(&word) { Some(1) } else { one_word(word) }
}

/// `1.5` and `1,5` as 1500.
fn thousandths(digits: &str) -> Option<u64> {
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|sign| sign.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 2 || whole.len() > 6 {
        return None;
    }
    format!("{whole}{fraction:0<3}").parse().ok()
}

/// The words of a text in lower case, parts of joined words apart; a comma is at the end of a clause. A noun of which an
/// ordinal is made, `Dritte`, is no word here.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for token in text.split_whitespace() {
        let core = token.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '%');
        let is_joined =
            !core.starts_with(|sign: char| sign.is_ascii_digit()) || core.ends_with(|sign: char| sign.is_alphabetic());
        let parts = core.split(|sign: char| is_joined && ['-', '–'].contains(&sign));
        for part in parts.filter(|part| !part.is_empty()) {
            let part = part.trim_end_matches("'s").trim_end_matches("’s");
            let (number, sign) = part.strip_suffix('%').map_or((part, ""), |number| (number, "%"));
            let is_noun = part.starts_with("Dritt") && !part.starts_with("Drittel");
            words.extend(
                [number, sign].iter().filter(|word| !word.is_empty() && !is_noun).map(|word| word.to_lowercase()),
            );
        }
        if token.ends_with([',', ';', '.', ':', '!', '?']) {
            words.push(super::modals::COMMA.to_owned());
        }
    }
    words
}
