//! Whether a row is well formed and has evidence. Other producers may write rows, so everything is checked.

use super::binding;
use plumbline_documents::{candidates, composed};
use plumbline_engine::comparison::{are_other_words, remarks as compared};
use plumbline_engine::{HeldRequirement, beginning};
use serde_json::Value;
use std::borrow::Cow;

const TYPES: [&str; 4] = ["functional", "non_functional", "compliance", "constraint"];
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];
const MAX_NAME_CHARS: usize = 80;
const TEXT_CHARS: std::ops::RangeInclusive<usize> = 10..=10_000;

/// Why the row cannot be integrated.
pub(crate) fn faults(row: &HeldRequirement) -> Vec<String> {
    let mut faults = Vec::new();
    let chars = row.text.trim().chars().count();
    if !TEXT_CHARS.contains(&chars) {
        faults.push(format!("its text has {chars} characters, it must have 10 to 10,000"));
    }
    match row.name.as_deref().map(str::trim) {
        None | Some("") if row.is_ours => faults.push("it has no name".to_string()),
        None | Some("") => {}
        Some(name) if name.chars().count() > MAX_NAME_CHARS => {
            faults.push(format!("its name has more than {MAX_NAME_CHARS} characters"));
        }
        Some(_) => {}
    }
    for (what, value, allowed) in
        [("type", row.r#type.as_deref(), &TYPES[..]), ("priority", row.priority.as_deref(), &PRIORITIES[..])]
    {
        if row.is_ours || value.is_some() {
            one_of(what, value, allowed, &mut faults);
        }
    }
    for (what, names) in
        [("mentioned_objects", &row.mentioned_objects), ("mentioned_messages", &row.mentioned_messages)]
    {
        if !names.as_array().is_some_and(|names| names.iter().all(Value::is_string)) {
            faults.push(format!("its {what} are no list of names"));
        }
    }
    // The database counts even values that a worker cannot represent.
    if row.citations_given > 0 && !row.citations.is_array() {
        faults.push(
            "its citations cannot be read: a number is beyond 64-bit floating point, or they nest more than 127 levels"
                .to_string(),
        );
    }
    // Rows of other producers are judged without this check: a quote that cannot be looked up proves nothing against
    // them.
    if row.is_ours {
        faults.extend(without_evidence(row));
    }
    faults
}

fn without_evidence(row: &HeldRequirement) -> Option<String> {
    match (row.citations_given, row.citations_confirmed) {
        (0, _) => Some("it has no citation".to_string()),
        (given, 0) => Some(format!("none of its {given} citations was verified against its source")),
        _ => None,
    }
}

/// Missing parts that do not prevent integration.
pub(crate) fn remarks(row: &HeldRequirement) -> Vec<String> {
    let mut remarks = Vec::new();
    if !row.is_ours {
        remarks.extend(without_evidence(row));
        for (what, value) in [("name", &row.name), ("type", &row.r#type), ("priority", &row.priority)] {
            if value.as_deref().is_none_or(|value| value.trim().is_empty()) {
                remarks.push(format!("it has no {what}"));
            }
        }
    }
    let (given, confirmed) = (row.citations_given, row.citations_confirmed);
    if confirmed > 0 && confirmed < given {
        remarks.push(format!("{} of its {given} citations were not verified", given - confirmed));
    }
    let is_tagged = |tag: &str| row.tags.as_array().is_some_and(|tags| tags.iter().any(|known| known == tag));
    if is_tagged("needs_look") {
        remarks.push("its text does not say what its quotes say, or has none (needs_look)".to_string());
    }
    if is_tagged("translated") {
        remarks.push("its text is in another language than its quotes and was not compared (translated)".to_string());
    }
    let cited = row.citations.as_array().into_iter().flatten();
    let quotes: Vec<Cow<'_, str>> = cited.filter_map(|citation| citation["quote"].as_str()).map(composed).collect();
    remarks.extend(against_quotes(&composed(&row.text), &quotes, is_tagged("needs_look")));
    let place = row.source_location.as_object();
    if row.source_document.is_none() || place.is_none_or(serde_json::Map::is_empty) {
        remarks.push("it does not say where in its document it stands".to_string());
    }
    remarks
}

/// What a text says against its quotes. Both are composed: an accent apart would hide a word.
fn against_quotes(text: &str, quotes: &[Cow<'_, str>], needs_look: bool) -> Vec<String> {
    let quotes: Vec<&str> = quotes.iter().map(AsRef::as_ref).collect();
    let mut remarks = compared(text, &quotes);
    // A text in another language has other words in any case, and one that needs a look has a remark already.
    let is_compared = !needs_look && !candidates::is_translated(text, &quotes.join(" "));
    if is_compared && are_other_words(text, &quotes) {
        remarks.push("few of its words are in its quotes, and few of theirs in it".to_string());
    }
    remarks.extend(binding::remark(text, &quotes));
    remarks
}

fn one_of(what: &str, value: Option<&str>, allowed: &[&str], faults: &mut Vec<String>) {
    match value {
        None => faults.push(format!("it has no {what}")),
        Some(value) if !allowed.contains(&value) => {
            let value = beginning(value, MAX_NAME_CHARS);
            faults.push(format!("its {what} `{value}` is none of {}", allowed.join(", ")));
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::against_quotes;
    use std::borrow::Cow;

    #[test]
    fn a_text_that_says_what_another_sentence_says_is_remarked() {
        let said = |text: &str, quote: &'static str| against_quotes(text, &[Cow::Borrowed(quote)], false).len();
        let quote = "The clerk must sign the log of the archive.";
        assert_eq!(said("The clerk must lock the door of the house.", quote), 1);
        assert_eq!(said("The clerk must lock the door.", "The clerk must sign the log of the archive."), 1);
        assert_eq!(said("The clerk signs the log.", quote), 0);
        assert_eq!(said("Der Sachbearbeiter muss das Protokoll des Archivs unterschreiben.", quote), 0, "translated");
        assert_eq!(against_quotes("The clerk must lock the door.", &[quote.into()], true).len(), 0, "it has one");
    }
}
