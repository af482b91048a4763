//! Reading arguments by hand, forgiving where it is harmless, with errors that say what was expected.

use serde_json::{Map, Value};

/// A required, non-empty text.
pub(super) fn text(arguments: &Map<String, Value>, key: &str, example: &str) -> Result<String, String> {
    match optional_text(arguments, key)? {
        Some(text) => Ok(text),
        None => Err(format!("argument '{key}' is missing: expected a text, for example {example:?}.")),
    }
}

/// A text that may be missing; an empty one counts as missing.
pub(super) fn optional_text(arguments: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_string())),
        Some(other) => Err(format!("argument '{key}' must be a text, not {}.", kind(other))),
    }
}

/// A whole number that may be missing; digits in a string are accepted.
pub(super) fn optional_number(arguments: &Map<String, Value>, key: &str) -> Result<Option<i64>, String> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => number(value)
            .map(Some)
            .ok_or_else(|| format!("argument '{key}' must be a whole number, not {}.", kind(value))),
    }
}

/// A whole number, also when written as text or as 3.0.
pub(super) fn number(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15).map(|f| f as i64))
        .or_else(|| value.as_str()?.trim().parse().ok())
}

/// A list of texts; a missing one is empty, a single text is a list of one.
pub(super) fn texts(arguments: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(one)) if one.trim().is_empty() => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.trim().to_string()]),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(|text| text.trim().to_string()))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("argument '{key}' must be a list of texts.")),
        Some(other) => Err(format!("argument '{key}' must be a list of texts, not {}.", kind(other))),
    }
}

/// The JSON type of a value in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
