//! A model that quotes word for word and states requirements in its own words.
//!
//! The rehearsal model knows what it recorded by its text. So it is asked as if the calls so far had the document's words, and
//! what it answers is put into others.

use crate::misbehave::{Reaction, Turn};
use serde_json::{Value, json};

/// What begins a requirement.
const BEGINNING: &str = "Whom it concerns keeps to this: ";
/// Words of obligation, and others for them that no document has.
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
    let mut request = turn.request.clone();
    let calls = request.messages.iter_mut().flat_map(|message| &mut message.tool_calls);
    for call in calls.filter(|call| call.function.name == "add_requirement") {
        call.function.arguments = with_text(&call.function.arguments, documents_words);
    }
    let mut answer = json!(crate::answer(&request));
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array_mut();
    for call in calls.into_iter().flatten().filter(|call| call["function"]["name"] == "add_requirement") {
        let arguments = call["function"]["arguments"].as_str().map(|arguments| with_text(arguments, own_words));
        call["function"]["arguments"] = json!(arguments);
    }
    Reaction::answer(&answer)
}

fn with_text(arguments: &str, change: fn(&str) -> String) -> String {
    let Ok(mut read) = serde_json::from_str::<Value>(arguments) else { return arguments.to_owned() };
    if let Some(text) = read["text"].as_str().map(change) {
        read["text"] = json!(text);
    }
    read.to_string()
}

fn own_words(text: &str) -> String {
    WORDS.iter().fold(format!("{BEGINNING}{text}"), |text, (theirs, own)| text.replace(theirs, own))
}

fn documents_words(text: &str) -> String {
    let text = text.strip_prefix(BEGINNING).unwrap_or(text);
    WORDS.iter().fold(text.to_owned(), |text, (theirs, own)| text.replace(own, theirs))
}

#[cfg(test)]
mod tests {
    use super::{documents_words, own_words};

    #[test]
    fn other_words_are_taken_back() {
        let text = "The clerk shall sign it, and Belege m\u{fc}ssen bleiben.";
        assert!(!own_words(text).contains("shall"));
        assert_eq!(documents_words(&own_words(text)), text);
        assert_eq!(documents_words(text), text);
    }
}
