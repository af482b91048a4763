//! Reads JSON from outside, in any protocol.
//!
//! Only needed parts are parsed into values, and none into types: a typed decoder breaks on the first provider that
//! sends null where another omits the field. A missing required part is an error; an unusual one is not. A part that is
//! present and unreadable is an error, never an absence. Unneeded parts are skipped: as values they would take forty
//! times their length.

use super::decoded::NoAnswer;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// Maximum bytes of extra data that is sent back with a message; larger data is omitted, because it would be part of
/// every request.
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
    // Anything else lacks the required parts of an answer.
    if root.get().starts_with('{') { fields_of(root) } else { Ok(Fields::new()) }
}

/// The object of a stream event. Null and an empty text are ignored; some servers send them to keep the connection
/// alive.
pub(crate) fn event_of(data: &str) -> Result<Fields<'_>, NoAnswer> {
    let event: &RawValue = serde_json::from_str(data)
        .map_err(|error| NoAnswer::Malformed(format!("an event of its stream is not JSON ({error})")))?;
    match event.get() {
        "null" | r#""""# => Ok(Fields::new()),
        _ => fields_of(event).map_err(|_| NoAnswer::malformed("an event of its stream is no JSON object")),
    }
}

/// Whether the data of an event is complete.
pub(crate) fn is_json(data: &str) -> bool {
    serde_json::from_str::<&RawValue>(data).is_ok()
}

/// The members of an object.
pub(crate) fn fields_of(raw: &RawValue) -> Result<Fields<'_>, NoAnswer> {
    serde_json::from_str(raw.get()).map_err(|error| unreadable("an object", &error))
}

/// The object under a key, empty if there is none.
pub(crate) fn object<'a>(holder: &Fields<'a>, key: &str) -> Result<Fields<'a>, NoAnswer> {
    under(holder, key).map(|raw| read(raw, key)).transpose().map(Option::unwrap_or_default)
}

/// The items of the list under a key, empty if there is none.
pub(crate) fn list<'a>(holder: &Fields<'a>, key: &str) -> Result<Vec<&'a RawValue>, NoAnswer> {
    match under(holder, key) {
        None => Ok(Vec::new()),
        Some(raw) if raw.get().starts_with('[') => read(raw, key),
        Some(_) => Err(NoAnswer::Malformed(format!("`{key}` in it is not a list"))),
    }
}

/// The value under a key; null counts as absent.
pub(crate) fn under<'a>(holder: &Fields<'a>, key: &str) -> Option<&'a RawValue> {
    holder.get(key).copied().filter(|raw| raw.get() != "null")
}

/// Parses a text; this may fail because of limits on numbers and nesting.
pub(crate) fn value_of(raw: &RawValue) -> Result<Value, NoAnswer> {
    serde_json::from_str(raw.get()).map_err(|error| unreadable("a value", &error))
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue, key: &str) -> Result<T, NoAnswer> {
    serde_json::from_str(raw.get()).map_err(|error| unreadable(&format!("`{key}`"), &error))
}

/// The parser's error repeats its input, of any length.
fn unreadable(what: &str, error: &serde_json::Error) -> NoAnswer {
    const LONGEST: usize = 120;
    let reason: String = error.to_string().chars().take(LONGEST).collect();
    NoAnswer::Malformed(format!("{what} in it cannot be read ({reason})"))
}

/// The text under a key.
pub(crate) fn text(holder: &Fields<'_>, key: &str) -> Result<Option<String>, NoAnswer> {
    under(holder, key).map(|raw| read(raw, key)).transpose()
}

/// The same; empty if absent.
pub(crate) fn text_or_empty(holder: &Fields<'_>, key: &str) -> Result<String, NoAnswer> {
    text(holder, key).map(Option::unwrap_or_default)
}

/// An id, which some servers send as a number.
pub(crate) fn id(holder: &Fields<'_>, key: &str) -> Result<String, NoAnswer> {
    match present(holder, key)? {
        Some(Value::Number(number)) => Ok(number.to_string()),
        _ => text_or_empty(holder, key),
    }
}

/// An integer under a key; some servers send it as a string.
pub(crate) fn number(holder: &Fields<'_>, key: &str) -> Result<Option<u64>, NoAnswer> {
    let Some(raw) = under(holder, key) else { return Ok(None) };
    let number = raw.get().trim_matches('"');
    let number = number.strip_suffix(".0").unwrap_or(number);
    let unreadable = || NoAnswer::Malformed(format!("`{key}` in it is no whole number"));
    number.parse().map(Some).map_err(|_| unreadable())
}

/// A non-null value under a key.
pub(crate) fn present(holder: &Fields<'_>, key: &str) -> Result<Option<Value>, NoAnswer> {
    under(holder, key).map(|raw| read(raw, key)).transpose()
}

/// A non-empty `error`.
pub(crate) fn error_of(holder: &Fields<'_>) -> Result<Option<Value>, NoAnswer> {
    Ok(present(holder, "error")?.filter(says_something))
}

/// The error of an error event.
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

/// The error that an object is if it has no part of an answer, only words under a name of the server's own.
pub(crate) fn unnamed_error(object: &[u8]) -> Option<Value> {
    const ANSWER: [&str; 3] = ["choices", "output", "content"];
    const WORDS: [&str; 5] = ["message", "detail", "msg", "error_msg", "status_msg"];
    let root: Fields<'_> = serde_json::from_slice(object).ok()?;
    let is_answer = ANSWER.iter().any(|key| under(&root, key).is_some_and(|part| part.get() != "[]"));
    // MiniMax.
    let error = match under(&root, "base_resp") {
        Some(inner) => fields_of(inner).ok()?,
        None => root,
    };
    let has = |key: &str, is: fn(&str) -> bool| under(&error, key).is_some_and(|raw| is(raw.get()));
    let is_success = ["code", "status_code"].iter().any(|key| has(key, |code| matches!(code, "0" | "200")));
    let speaks = WORDS.iter().any(|key| has(key, |words| words.starts_with('"') && words != r#""""#));
    if is_answer || is_success || !speaks {
        return None;
    }
    error.into_iter().map(|(key, raw)| Some((key, value_of(raw).ok()?))).collect()
}

/// Whether it is not empty.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The text of an answer under a key: a string, a list of blocks, a block, or null.
pub(crate) fn content(holder: &Fields<'_>, key: &str) -> Result<String, NoAnswer> {
    let Some(raw) = under(holder, key) else { return Ok(String::new()) };
    match raw.get().as_bytes()[0] {
        b'[' => list(holder, key)?.into_iter().map(block_text).collect(),
        _ => block_text(raw),
    }
}

fn block_text(raw: &RawValue) -> Result<String, NoAnswer> {
    if !raw.get().starts_with('{') {
        return read(raw, "content");
    }
    let block = fields_of(raw)?;
    // A thinking block also has a text, which is not part of the answer.
    match text(&block, "type")?.as_deref() {
        None => text(&block, "text")?.ok_or_else(|| NoAnswer::malformed("a block of its content says nothing known")),
        Some("text" | "output_text") => text_or_empty(&block, "text"),
        Some(_) => Ok(String::new()),
    }
}

/// Arguments as text. Invalid JSON is kept unchanged: the engine answers that call with the error.
pub(crate) fn arguments_of(raw: Option<&RawValue>) -> Result<String, NoAnswer> {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return Ok("{}".to_string()) };
    if !raw.get().starts_with('"') {
        return Ok(raw.get().to_string());
    }
    let text: String = read(raw, "arguments")?;
    Ok(match text.trim().is_empty() {
        // Some models call a tool without parameters with an empty string.
        true => "{}".to_string(),
        false => unwrapped(&text).unwrap_or(text),
    })
}

/// The object in doubly encoded text: a JSON string that contains an object.
fn unwrapped(text: &str) -> Option<String> {
    let inner: String = text.trim_start().starts_with('"').then(|| serde_json::from_str(text).ok())??;
    serde_json::from_str::<Map<String, Value>>(&inner).is_ok().then_some(inner)
}
