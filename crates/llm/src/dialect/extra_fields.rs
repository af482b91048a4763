//! Non-standard fields of a stream, assembled from their pieces.
//!
//! Texts are concatenated, labels are repeated in each piece: `"channel": "analysis"` with every word of Groq's.
//! Concatenated labels are invalid, and a request with them is refused.

use serde_json::{Map, Value};

/// Fields that are labels, not content.
const LABELS: [&str; 18] = [
    "id",
    "name",
    "type",
    "channel",
    "role",
    "status",
    "index",
    "format",
    "phase",
    "kind",
    "model",
    "provider",
    "object",
    "author",
    "recipient",
    "namespace",
    "encoding",
    "language",
];

/// Suffixes of label names.
const ENDS_OF_LABELS: [&str; 5] = ["_id", "_name", "_type", "_kind", "_format"];

/// Substrings of text field names; pieces of texts may equal earlier ones.
const TEXTS: [&str; 7] = ["reason", "think", "thought", "text", "content", "summary", "data"];

/// Merges a piece of a field into its value so far: texts are concatenated, list items are merged if they are the same
/// item, objects field by field; for labels and anything else the last value counts.
pub(crate) fn join(name: &str, before: &mut Value, value: Value) {
    match (before, value) {
        (Value::String(before), Value::String(value)) if is_text(name, before, &value) => before.push_str(&value),
        (Value::Array(before), Value::Array(items)) => items.into_iter().for_each(|item| join_item(before, item)),
        (Value::Object(before), Value::Object(fields)) => join_fields(before, fields),
        (before, value) => *before = value,
    }
}

fn is_text(name: &str, before: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_label = LABELS.contains(&&*name) || ENDS_OF_LABELS.iter().any(|end| name.ends_with(end));
    // An unknown field whose complete value is repeated is a label.
    !is_label && (before != value || TEXTS.iter().any(|text| name.contains(text)))
}

fn join_fields(before: &mut Map<String, Value>, fields: Map<String, Value>) {
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        match before.get_mut(&key) {
            Some(before) => join(&key, before, value),
            None => drop(before.insert(key, value)),
        }
    }
}

/// An item of a list continues the last one of its type and index.
fn join_item(items: &mut Vec<Value>, item: Value) {
    let goes_on = |last: &Value| {
        item.get("index").is_some_and(|index| !index.is_null())
            && ["type", "index"].iter().all(|key| last.get(key) == item.get(key))
    };
    match (items.last_mut().filter(|last| goes_on(last)), item) {
        (Some(Value::Object(last)), Value::Object(fields)) => join_fields(last, fields),
        (_, item) => items.push(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn joined(name: &str, pieces: &[Value]) -> Value {
        let mut all = Value::Null;
        pieces.iter().for_each(|piece| join(name, &mut all, piece.clone()));
        all
    }

    #[test]
    fn texts_are_joined_and_labels_are_replaced() {
        for (name, pieces, expected) in [
            ("reasoning", vec![json!("ha"), json!("ha"), json!(" ")], json!("haha ")),
            ("reasoning_content", vec![json!("I "), json!("think")], json!("I think")),
            ("channel", vec![json!("analysis"), json!("analysis"), json!("final")], json!("final")),
            ("trace_id", vec![json!("a"), json!("b")], json!("b")),
            ("stage", vec![json!("draft"), json!("draft")], json!("draft")),
            ("remark", vec![json!("one "), json!("two")], json!("one two")),
            (
                "thoughts",
                vec![json!({"id": "a", "text": "x"}), json!({"id": "a", "text": "x"})],
                json!({"id": "a", "text": "xx"}),
            ),
            (
                "reasoning_details",
                vec![
                    json!([{"type": "reasoning.text", "index": 0, "id": "i", "text": "a", "format": "f"}]),
                    json!([{"type": "reasoning.text", "index": 0, "id": "i", "text": "b", "format": "f", "signature": null}]),
                    json!([{"type": "reasoning.text", "index": 1, "text": "c"}]),
                ],
                json!([{"type": "reasoning.text", "index": 0, "id": "i", "text": "ab", "format": "f"},
                    {"type": "reasoning.text", "index": 1, "text": "c"}]),
            ),
            ("count", vec![json!(1), json!(2)], json!(2)),
        ] {
            assert_eq!(joined(name, &pieces), expected, "{name}");
        }
    }
}
