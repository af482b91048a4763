//! Models that quote word for word and state requirements in words of their own, or in English.

use crate::misbehave::{Reaction, Turn};
use crate::plan::manifest::chunk_file;
use crate::request_view::RequestView;
use crate::text::{Shown, findings};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The beginning of a requirement.
const BEGINNING: &str = "Whom it concerns keeps to this: ";
/// Normative words, and replacements that occur in no document.
const WORDS: [(&str, &str); 8] = [
    (" shall ", " carries the duty to "),
    (" must ", " is held to "),
    (" should ", " had better "),
    (" is required to ", " has it as a task to "),
    (" are required to ", " have it as a task to "),
    (" muss ", " hat die Aufgabe zu "),
    (" m\u{fc}ssen ", " haben die Aufgabe zu "),
    (" soll ", " tut gut daran zu "),
];

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

fn own_words(text: &str) -> String {
    WORDS.iter().fold(format!("{BEGINNING}{text}"), |text, (theirs, own)| text.replace(theirs, own))
}

/// An English statement with the numbers and codes of the original.
fn english(text: &str) -> String {
    let words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '-').filter(|word| !word.is_empty());
    let codes: Vec<&str> = words.filter(|word| word.chars().any(|sign| sign.is_ascii_digit())).collect();
    format!("The person who is named in this place must do what the document asks of them: {}.", codes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{english, own_words};

    #[test]
    fn a_statement_in_english_keeps_the_codes() {
        assert!(english("Die Boje K-77 ist nach 3 Tagen zu streichen.").ends_with("of them: K-77, 3."));
    }

    #[test]
    fn the_documents_words_of_obligation_are_gone() {
        let text = own_words("The clerk shall sign it, and Belege m\u{fc}ssen bleiben.");
        assert!(!text.contains("shall") && !text.contains("m\u{fc}ssen"), "{text}");
    }
}
