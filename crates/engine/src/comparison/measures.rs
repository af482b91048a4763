//! What the numbers of a text measure, whatever they are written as: *fortnight* is *14 days*, *quarterly* is *every three
//! months* and *four times a year*, *a quarter* is *25 %*, *twelfth* is *12th*.

use super::counts::times;
use super::ordinals::ordinal;
use super::shares::share;
use super::spans::span;
use super::spelled;

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
    /// Whether it says a number in words, and no span: 3 and 4 of *three quarters*.
    pub(super) fn says_in_words(&self, number: &str) -> bool {
        let is_in_digits = self.said.contains(|sign: char| sign.is_ascii_digit());
        let values = [self.value.0, self.value.1];
        self.kind != Kind::Span && !is_in_digits && number.parse().is_ok_and(|number| values.contains(&number))
    }

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
        if !may_begin(words[at]) {
            at += 1;
            continue;
        }
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

/// Words, whose first letters suffice here, with which a measure begins, besides digits and number words.
const BEGINNINGS: [&str; 32] = [
    "once",
    "twice",
    "thrice",
    "half",
    "halb",
    "hälfte",
    "anderthalb",
    "semi",
    "quarter",
    "quartal",
    "hour",
    "stündlich",
    "dai",
    "täglich",
    "week",
    "wöchentlich",
    "fortnight",
    "month",
    "monatlich",
    "year",
    "annual",
    "jährlich",
    "first",
    "second",
    "third",
    "erst",
    "dritt",
    "each",
    "every",
    "per",
    "jede",
    "pro",
];

/// Whether a measure may begin with a word: most words begin none, and need not be read in each way.
fn may_begin(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_ascii_digit())
        || ["a", "an", "one", "je"].contains(&word)
        || spelled::may_begin(word)
        || BEGINNINGS.iter().any(|beginning| spelled::begin_alike(word, beginning))
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
