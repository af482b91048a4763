//! Converts a duty into a requirement, by key words.
//!
//! Every decision here is a simple rule: key words determine the type, word lists the objects and messages. The system
//! sets text, name, priority, place and flags.

mod mentions;

use crate::call::Call;
use crate::text::Finding;
use mentions::{messages, objects};
use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Any of these beginnings or words, in either case.
fn words(alternatives: &[&str]) -> Regex {
    let pattern = format!("(?i)(?:{})", alternatives.join("|"));
    pattern::own(&pattern)
}

/// Legal requirements.
static REGULATED: LazyLock<Regex> = LazyLock::new(|| {
    words(&[
        r"gobd|immutab|unaltera|tamper|audit trail|\binvoice|book-?keeping|\bvouchers?\b|\baccounting\b",
        r"\btax\b|ledger|aufbewahr|aufzubewahr|unveränder|revisionssicher|beleg|buchung|buchführung|rechnung|steuer",
        r"gdpr|personal data|data subject|data protection|privacy|\bconsent|\berasure",
        "dsgvo|personenbezogen|betroffene[nr]? person|datenschutz|einwilligung|auskunftsrecht|löschkonzept",
    ])
});
/// Keeping is relevant to book-keeping only for records: software has archives, too.
static KEEPING: LazyLock<Regex> = LazyLock::new(|| words(&[r"\bretention|\bretain|\barchiv"]));
static RECORDS: LazyLock<Regex> =
    LazyLock::new(|| words(&[r"\b(?:records?|receipts?|letters?|correspondence|business|accounts|years?)\b"]));
static QUALITY: LazyLock<Regex> = LazyLock::new(|| {
    words(&[
        r"\bsecur|encrypt|\bbackup|availab|performance|readab|legib|\bwithin \w+ (?:second|minute|hour|day)",
        "verschlüssel|verfügbar|lesbar|sicherung|innerhalb von",
    ])
});

/// A duty as an item of `record_passage`; `None` where its sentence has no number.
pub(crate) fn item(finding: &Finding<'_>) -> Option<Value> {
    let mut item = json!({"s": finding.sentence.number?.to_string()});
    for (key, value) in of_text(finding, ["objects", "messages"]) {
        item[key] = value;
    }
    Some(item)
}

/// The call that records a duty by itself: by its number in a passage, or by its words in a document.
pub(crate) fn add(finding: &Finding<'_>, passage: u32, source: &str) -> Call {
    let citation = match finding.sentence.number {
        Some(number) => json!({"passage": passage, "from": number}),
        None => json!({"source": source, "quote": finding.sentence.text}),
    };
    let mut args = json!({"text": finding.text(), "citations": [citation]});
    for (key, value) in of_text(finding, ["mentioned_objects", "mentioned_messages"]) {
        args[key] = value;
    }
    Call { name: "add_requirement", args }
}

/// What is not the default, under the names that a tool has for objects and messages.
fn of_text<'k>(finding: &Finding<'_>, [objects_key, messages_key]: [&'k str; 2]) -> Vec<(&'k str, Value)> {
    let text = finding.text();
    let (objects, messages) = (objects(&text), messages(&text));
    let kind = kind(finding, &text).map(|kind| ("type", json!(kind)));
    let objects = (!objects.is_empty()).then(|| (objects_key, json!(objects)));
    let messages = (!messages.is_empty()).then(|| (messages_key, json!(messages)));
    kind.into_iter().chain(objects).chain(messages).collect()
}

/// The type, where it is not the usual one.
fn kind(finding: &Finding<'_>, text: &str) -> Option<&'static str> {
    if REGULATED.is_match(text) || KEEPING.is_match(text) && RECORDS.is_match(text) {
        Some("compliance")
    } else if finding.modal.forbids {
        Some("constraint")
    } else {
        QUALITY.is_match(text).then_some("non_functional")
    }
}

#[cfg(test)]
mod tests {
    use super::{add, item};
    use crate::text::{Shown, findings};
    use serde_json::{Value, json};

    fn with(shown: &str, then: impl Fn(&crate::text::Finding<'_>) -> Value) -> Value {
        let shown = Shown::read(shown);
        let found = findings(&shown);
        then(found.first().unwrap_or_else(|| panic!("no duty in {shown:?}")))
    }

    fn of(sentence: &str) -> Value {
        with(&format!("[1] {sentence}"), |finding| json!(item(finding)))
    }

    #[test]
    fn a_plain_duty_is_its_number() {
        assert_eq!(of("Every door must be closed at night."), json!({"s": "1"}));
    }

    #[test]
    fn key_words_give_the_type() {
        for (sentence, kind) in [
            ("Visitors may not enter the room.", json!("constraint")),
            ("All laptops must be encrypted by the owner.", json!("non_functional")),
            ("Consent of the guest is required first.", json!("compliance")),
            ("Die Einwilligung muss schriftlich vorliegen.", json!("compliance")),
            ("Every record must be in the archive by May.", json!("compliance")),
            ("Source packages must be uploaded to the archive.", Value::Null),
        ] {
            assert_eq!(of(sentence)["type"], kind, "{sentence}");
        }
    }

    #[test]
    fn messages_are_those_of_the_text() {
        let item = of("The clerk must notify the supplier by e-mail.");
        assert_eq!(item["messages"], json!(["Notification", "E-mail"]));
    }

    #[test]
    fn a_duty_is_recorded_by_itself_where_a_passage_cannot_be() {
        let call = |shown: &str| with(shown, |finding| add(finding, 7, "input/p.pdf").args);
        let numbered = call("[1] The clerk shall:\n\n- [2] sign it");
        assert_eq!(numbered, json!({"text": "The clerk shall sign it", "citations": [{"passage": 7, "from": 2}]}));
        let quote = json!([{"source": "input/p.pdf", "quote": "Boxes must be shut."}]);
        assert_eq!(call("Boxes must be shut."), json!({"text": "Boxes must be shut.", "citations": quote}));
    }
}
