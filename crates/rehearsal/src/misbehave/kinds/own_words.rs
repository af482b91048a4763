//! Models that quote word for word and state requirements in words of their own, or in English.

use crate::misbehave::{Reaction, Turn};
use crate::plan::manifest::chunk_file;
use crate::request_view::RequestView;
use crate::text::{Shown, findings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Words that begin a requirement and occur in no document, in English and in German.
const OWN: [&str; 10] = [
    "Gladly",
    "hereabouts",
    "evermore",
    "likewise",
    "unhurried",
    "attentive",
    "colleagues",
    "acquiesce",
    "verily",
    "nicely",
];
const OWN_GERMAN: [&str; 10] = [
    "Gern",
    "hierorts",
    "allzeit",
    "desgleichen",
    "gemach",
    "achtsam",
    "Kollegen",
    "einvernehmlich",
    "wahrlich",
    "trefflich",
];
/// Normative words, and replacements with one word of the model's own.
const WORDS: [(&str, &str); 8] = [
    (" shall ", " is made to "),
    (" must ", " is held to "),
    (" should ", " had better "),
    (" is required to ", " has it as a task to "),
    (" are required to ", " have it as a task to "),
    (" muss ", " hat den Auftrag zu "),
    (" m\u{fc}ssen ", " haben den Auftrag zu "),
    (" soll ", " hat den Rat zu "),
];
/// Words of four letters and more that are in any text.
const COMMON: [&str; 28] = [
    "shall", "must", "should", "with", "into", "each", "every", "during", "before", "after", "from", "that", "this",
    "until", "even", "other", "next", "have", "muss", "soll", "wird", "werden", "nach", "jeder", "jedem", "auch",
    "wenn", "eine",
];
/// One of so many content words is the model's own.
const SHARE: usize = 3;

/// The healthy turn, in other words.
pub(super) fn reworded(turn: &Turn<'_>) -> Reaction {
    stated(turn, own_words)
}

/// The healthy turn, with requirements in English, whatever the document's language is.
pub(super) fn in_english(turn: &Turn<'_>) -> Reaction {
    stated(turn, english)
}

/// The healthy turn, with another text for each requirement.
fn stated(turn: &Turn<'_>, text: fn(&str) -> String) -> Reaction {
    let view = RequestView::of(turn.request);
    let mut answer = json!(crate::answer_by_todo(turn.request));
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array_mut();
    for call in calls.into_iter().flatten().filter(|call| call["function"]["name"] == "record_passage") {
        let arguments = call["function"]["arguments"].as_str().map(|arguments| with_texts(&view, arguments, text));
        call["function"]["arguments"] = json!(arguments);
    }
    Reaction::answer(&answer)
}

/// The record of a passage, with a separate text for each item.
fn with_texts(view: &RequestView<'_>, arguments: &str, own: fn(&str) -> String) -> String {
    let Ok(mut read) = serde_json::from_str::<Value>(arguments) else { return arguments.to_owned() };
    let number = read["passage"].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
    let shown = Shown::read(view.read(&chunk_file(number)).unwrap_or_default());
    let found = findings(&shown);
    let texts = found.iter().filter_map(|finding| Some((finding.sentence.number?.to_string(), finding.text())));
    let texts: BTreeMap<String, String> = texts.collect();
    for item in read["items"].as_array_mut().into_iter().flatten() {
        if let Some(text) = item["s"].as_str().and_then(|number| texts.get(number)) {
            item["text"] = json!(own(text));
        }
    }
    read.to_string()
}

/// The sentence, with a third of its content words from elsewhere.
fn own_words(text: &str) -> String {
    let replaced: usize = WORDS.iter().map(|(theirs, _)| text.matches(theirs).count()).sum();
    let said = WORDS.iter().fold(text.to_owned(), |text, (theirs, own)| text.replace(theirs, own));
    let own = content_words(text).div_ceil(SHARE - 1).saturating_sub(replaced);
    let words = if is_german(text) { OWN_GERMAN } else { OWN };
    match own.min(words.len()) {
        0 => said,
        own => format!("{}: {said}", words[..own].join(" ")),
    }
}

/// How many different words a text has that are not in any text.
fn content_words(text: &str) -> usize {
    let is_word = |word: &&str| word.chars().count() > 3 && word.chars().all(char::is_alphabetic);
    let words = text.split(|sign: char| !sign.is_alphanumeric()).filter(is_word).map(str::to_lowercase);
    words.filter(|word| !COMMON.contains(&word.as_str())).collect::<BTreeSet<_>>().len()
}

fn is_german(text: &str) -> bool {
    text.split(' ').any(|word| ["die", "der", "das", "den", "zu", "Die", "Der", "Das", "Es"].contains(&word))
}

/// An English statement with the numbers and codes of the original.
fn english(text: &str) -> String {
    let words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '-').filter(|word| !word.is_empty());
    let codes: Vec<&str> = words.filter(|word| word.chars().any(|sign| sign.is_ascii_digit())).collect();
    format!("The person who is named in this place must do what the document asks of them: {}.", codes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{OWN, OWN_GERMAN, content_words, english, own_words};

    #[test]
    fn a_statement_in_english_keeps_the_codes() {
        assert!(english("Die Boje K-77 ist nach 3 Tagen zu streichen.").ends_with("of them: K-77, 3."));
    }

    #[test]
    fn the_documents_words_of_obligation_are_gone() {
        let text = own_words("The clerk shall sign it, and Belege m\u{fc}ssen bleiben.");
        assert!(!text.contains("shall") && !text.contains("m\u{fc}ssen"), "{text}");
    }

    #[test]
    fn a_third_of_the_content_words_is_from_elsewhere() {
        for (text, own) in [
            ("Hatch K-77 shall be closed before departure.", 2),
            ("Gate K-77 must stay closed during storms.", 2),
            ("The harbour master has to report the level at gauge K-77 to the board.", 3),
            ("Die Luke K-77 muss vor der Abfahrt verriegelt sein.", 2),
        ] {
            let said = own_words(text);
            let added = OWN.iter().chain(&OWN_GERMAN).filter(|word| said.contains(*word)).count();
            let held = ["made", "held", "Auftrag"].iter().filter(|word| said.contains(*word)).count();
            assert_eq!(added + held, own, "{said}");
            assert!(own * 2 >= content_words(text) && own * 2 <= content_words(text) + 1, "{said}");
        }
    }
}
