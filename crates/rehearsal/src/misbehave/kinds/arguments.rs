//! The right tool with invalid arguments.

use crate::misbehave::{Kind, bad, odd};
use serde_json::{Map, Value, json};

pub(super) const KINDS: &[Kind] = &[
    bad("broken_json", |turn| {
        turn.changing_arguments(|text| {
            let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            json!(format!("{}\"", &text[..half]))
        })
    }),
    odd("object_arguments", |turn| turn.changing_arguments(|text| serde_json::from_str(text).unwrap_or_default())),
    bad("list_arguments", |turn| turn.changing_arguments(|text| json!(format!("[{text}]")))),
    bad("prose_arguments", |turn| turn.changing_arguments(|_| json!("the file with the requirements, please"))),
    odd("twice_encoded", |turn| turn.changing_arguments(|text| json!(json!(text).to_string()))),
    bad("wrong_types", |turn| {
        turn.changing_arguments(|text| json!(changed(text, |_, value| Some(mistyped(value))).to_string()))
    }),
    bad("missing_arguments", |turn| turn.calling_one("write_file", &json!({"content": "the path was forgotten"}))),
    bad("unknown_arguments", |turn| {
        turn.changing_arguments(|text| {
            let mut arguments: Value = serde_json::from_str(text).unwrap_or_default();
            arguments["explanation"] = json!("so that the next step can begin");
            json!(arguments.to_string())
        })
    }),
    odd("null_arguments_beside", |turn| {
        turn.changing_arguments(|text| match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(map)) if map.is_empty() => Value::Null,
            _ => json!(text),
        })
    }),
    bad("three_megabytes", |turn| {
        let content = "Everything that is known so far, once more in full.\n".repeat(60_000);
        turn.calling_one("write_file", &json!({"path": "notes/everything.md", "content": content}))
    }),
];

fn changed(text: &str, change: impl Fn(&str, &Value) -> Option<Value>) -> Value {
    let arguments: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    arguments.iter().filter_map(|(key, value)| Some((key.clone(), change(key, value)?))).collect()
}

/// A text becomes a list, everything else an object, so that no tool can accept the type.
fn mistyped(value: &Value) -> Value {
    match value {
        Value::String(text) => json!([{ "value": text }]),
        other => json!({ "value": other }),
    }
}
