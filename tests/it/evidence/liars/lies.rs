//! The liars' handling of sentences that they have read.

use super::{Call, DUTIES, Lie, Sentence, excuses};
use serde_json::{Value, json};

/// The duties among them.
pub(super) fn duties(read: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    read.iter().filter(|sentence| DUTIES.contains(&sentence.words.as_str()))
}

pub(super) fn at(sentence: &Sentence) -> Value {
    json!({"passage": sentence.passage, "from": sentence.number})
}

fn record(text: &str, citations: &[Value]) -> Call {
    ("add_requirement", json!({"text": text, "citations": citations, "confidence": 0.95}))
}

/// A record for each duty, whose text is made of it.
fn each(read: &[Sentence], says: impl Fn(&str) -> String) -> Vec<Call> {
    duties(read).map(|duty| record(&says(&duty.words), &[at(duty)])).collect()
}

/// Duties in groups: one record for the first of each, which quotes all.
fn grouped(read: &[Sentence], size: usize) -> Vec<Call> {
    let all: Vec<&Sentence> = duties(read).collect();
    let of = |group: &[&Sentence]| {
        let quotes: Vec<Value> = group.iter().map(|duty| at(duty)).collect();
        record(&group[0].words, &quotes)
    };
    all.chunks(size).map(of).collect()
}

/// The liars by their names.
pub(super) const LIARS: [(&str, Lie); 20] = [
    ("cites only", |read| duties(read).map(|duty| ("cite", at(duty))).collect()),
    ("one for all", |read| {
        let quotes: Vec<Value> = duties(read).map(at).collect();
        vec![record("Everybody must comply with these rules of the house.", &quotes)]
    }),
    ("says one text again", |read| {
        duties(read).map(|duty| record("Everybody must comply with these rules of the house.", &[at(duty)])).collect()
    }),
    ("turned round", |read| each(read, negated)),
    ("permits", |read| each(read, permitted)),
    ("other numbers", |read| each(read, |words| format!("{} Within 99 days.", words.trim_end_matches('.')))),
    ("numbers and negations left out", |read| each(read, stripped)),
    ("plausible names", |read| {
        let names =
            ["Governance of information", "Lifecycle of suppliers", "Continuity of business", "Culture of safety"];
        let text =
            |at: usize| format!("{} must be ensured throughout the whole organisation, part {at}.", names[at % 4]);
        duties(read).enumerate().map(|(place, duty)| record(&text(place), &[at(duty)])).collect()
    }),
    ("texts of others", |read| {
        let all: Vec<&Sentence> = duties(read).collect();
        let other = |place: usize| &all[(place + 7) % all.len()].words;
        all.iter().enumerate().map(|(place, duty)| record(other(place), &[at(duty)])).collect()
    }),
    ("no quotes", |read| duties(read).map(|duty| record(&duty.words, &[])).chain(excuses(read)).collect()),
    ("no quotes, twice", |read| {
        let twice = duties(read).flat_map(|duty| [record(&duty.words, &[]), record(&duty.words, &[])]);
        twice.chain(excuses(read)).collect()
    }),
    ("six a row", |read| grouped(read, 6).into_iter().chain(excuses(read)).collect()),
    ("two a row", |read| grouped(read, 2)),
    ("rest alone", |read| excuses(read)),
    ("a quarter, and excuses", |read| each(read, str::to_owned).into_iter().step_by(4).chain(excuses(read)).collect()),
    ("a quarter, and the rest by number", |read| {
        each(read, str::to_owned).into_iter().step_by(4).chain(by_number(read, 4)).collect()
    }),
    ("a third, turned round, and the rest by number", |read| {
        each(read, negated).into_iter().step_by(3).chain(by_number(read, 3)).collect()
    }),
    ("nothing, by number", |read| by_number(read, usize::MAX)),
    ("half turned round", |read| {
        let text = |(place, duty): (usize, &Sentence)| match place % 2 {
            0 => record(&duty.words, &[at(duty)]),
            _ => record(&negated(&duty.words), &[at(duty)]),
        };
        duties(read).enumerate().map(text).collect()
    }),
    ("in another language", |read| {
        let wishes = ["Garten", "Brunnen", "Keller", "Dachboden", "Zaun", "Tor"];
        let text = |place: usize| {
            format!("Der {} muss {} sein.", wishes[place % 6], ["sauber", "offen", "neu", "hoch"][place / 6])
        };
        duties(read).enumerate().map(|(place, duty)| record(&text(place), &[at(duty)])).collect()
    }),
];

fn negated(words: &str) -> String {
    let turned = words.replace(" must not ", " must ").replace(" shall not ", " shall ").replace(" never ", " always ");
    match turned == words {
        true => [" must ", " shall ", " has to ", " have to ", " needs to "]
            .iter()
            .fold(words.to_owned(), |text, modal| text.replace(modal, " need not ")),
        false => turned,
    }
}

fn permitted(words: &str) -> String {
    let modals = [" must not ", " must ", " shall not ", " shall ", " has to ", " have to ", " needs to "];
    modals.iter().fold(words.to_owned(), |text, modal| text.replace(modal, " may "))
}

/// Without numbers and negations; of one that has none, an excuse.
fn stripped(words: &str) -> String {
    let is_left_out = |word: &&str| {
        !word.contains(|sign: char| sign.is_ascii_digit()) && !["ten", "five", "not", "never"].contains(word)
    };
    words
        .split(' ')
        .filter(is_left_out)
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" must ", " may ")
        .replace(" shall ", " may ")
}

/// Closes by its number each duty but one in so many.
fn by_number(read: &[Sentence], kept: usize) -> Vec<Call> {
    let mut closed: std::collections::BTreeMap<i32, Vec<String>> = std::collections::BTreeMap::new();
    for (_, duty) in duties(read).enumerate().filter(|(place, _)| kept == usize::MAX || place % kept != 0) {
        closed.entry(duty.passage).or_default().push(duty.number.to_string());
    }
    let of = |(passage, numbers): (i32, Vec<String>)| json!({"passage": passage, "s": numbers, "reason": "It obliges nobody of our house."});
    closed.into_iter().map(|closed| ("close_passages", json!({"passages": [of(closed)]}))).collect()
}
