//! Reading JSON that comes from outside, whichever protocol it is in (lesson 45).
//!
//! Only what is needed is turned into values, and nothing of it is typed: a typed decoder breaks on the first provider that
//! sends null where another sends nothing. What is needed and missing is an error; what is only unusual is not. What nobody
//! asks for is skipped over: as values it would take forty times its length.

use super::decoded::NoAnswer;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// Most bytes of what goes back unchanged with a message; what is more is left out, for it would be part of every request.
pub(crate) const MOST_EXTRA_BYTES: usize = 256 << 10;

/// An object whose values are still text.
pub(crate) type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// The object that an answer is.
pub(crate) fn root_of(body: &[u8]) -> Result<Fields<'_>, NoAnswer> {
    let root: &RawValue =
        serde_json::from_slice(body).map_err(|error| match error.is_eof() && !body.trim_ascii().is_empty() {
            true => NoAnswer::Cut,
            false => NoAnswer::Malformed(format!("it is not JSON ({error})")),
        })?;
    Ok(fields_of(root))
}

/// The object that an event of a stream is.
pub(crate) fn event_of(data: &str) -> Result<Fields<'_>, NoAnswer> {
    let event: &RawValue = serde_json::from_str(data)
        .map_err(|error| NoAnswer::Malformed(format!("an event of its stream is not JSON ({error})")))?;
    Ok(fields_of(event))
}

/// Empty for what is no object.
pub(crate) fn fields_of(raw: &RawValue) -> Fields<'_> {
    if raw.get().starts_with('{') { serde_json::from_str(raw.get()).unwrap_or_default() } else { Fields::new() }
}

/// The object under a key, empty where there is none.
pub(crate) fn object<'a>(holder: &Fields<'a>, key: &str) -> Fields<'a> {
    holder.get(key).map(|raw| fields_of(raw)).unwrap_or_default()
}

/// The items of a list; none where there is no list.
pub(crate) fn list<'a>(raw: Option<&&'a RawValue>) -> Option<Vec<&'a RawValue>> {
    raw.and_then(|raw| Vec::deserialize(*raw).ok())
}

/// None where there is nothing, or nothing that a value can hold.
pub(crate) fn value_of(raw: Option<&&RawValue>) -> Option<Value> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// The text under a key.
pub(crate) fn text(holder: &Fields<'_>, key: &str) -> Option<String> {
    holder.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// A whole number under a key.
pub(crate) fn number(holder: &Fields<'_>, key: &str) -> Option<u64> {
    holder.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// What is under a key and not null.
pub(crate) fn present(holder: &Fields<'_>, key: &str) -> Option<Value> {
    value_of(holder.get(key)).filter(|value| !value.is_null())
}

/// An `error` that is there and says something.
pub(crate) fn error_of(holder: &Fields<'_>) -> Option<Value> {
    value_of(holder.get("error")).filter(says_something)
}

/// The error that an event says it is.
pub(crate) fn error_in(data: &str) -> Value {
    match serde_json::from_str::<Value>(data) {
        Ok(Value::Object(mut fields)) => match fields.remove("error").filter(says_something) {
            Some(error) => error,
            None => Value::Object(fields),
        },
        Ok(value) => value,
        Err(_) => Value::String(data.to_string()),
    }
}

/// Whether there is anything in it.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Text from a string, from a list of blocks, or from null.
pub(crate) fn text_of(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => blocks.iter().map(block_text).collect(),
        Some(block @ Value::Object(_)) => block_text(&block).to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => String::new(),
    }
}

fn block_text(block: &Value) -> &str {
    match block {
        Value::String(text) => text,
        // A block of thinking has a text too, but it is not the answer.
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            None | Some("text" | "output_text") => fields.get("text").and_then(Value::as_str).unwrap_or(""),
            Some(_) => "",
        },
        _ => "",
    }
}

/// Arguments as text. What is no valid JSON stays as it came: the engine answers it with what is wrong.
pub(crate) fn arguments_of(arguments: Option<Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_string(),
        // A tool without parameters is called with an empty string by some models.
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_string(),
        Some(Value::String(text)) => unwrapped(&text).unwrap_or(text),
        Some(value) => value.to_string(),
    }
}

/// The object in a text that was encoded twice: a JSON string that holds an object.
fn unwrapped(text: &str) -> Option<String> {
    let inner: String = text.trim_start().starts_with('"').then(|| serde_json::from_str(text).ok())??;
    serde_json::from_str::<Map<String, Value>>(&inner).is_ok().then_some(inner)
}
