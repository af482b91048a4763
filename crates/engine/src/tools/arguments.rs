//! Parses a call's arguments into their declared type, leniently if harmless, with errors that name the argument and
//! the expected value.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::{Map, Value};

/// Reads arguments: white space around texts is removed; null and blank values count as absent.
///
/// # Errors
/// A sentence that names the argument.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Map<String, Value>) -> Result<T, String> {
    tidy_fields(&mut arguments);
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let place = error.path().to_string();
        fault(&place, &error.into_inner().to_string())
    })
}

fn tidy_fields(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(tidy);
    fields.retain(|_, field| !field.is_null() && field.as_str() != Some(""));
}

fn tidy(value: &mut Value) {
    match value {
        Value::String(text) if text.trim().len() < text.len() => *text = text.trim().to_owned(),
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(fields) => tidy_fields(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// serde's message about an argument, worded for a model; a message of a tool's own type is already a sentence.
fn fault(place: &str, said: &str) -> String {
    if let Some(name) = said.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return match place {
            "." => format!("argument '{name}' is missing."),
            _ => format!("argument '{place}.{name}' is missing."),
        };
    }
    match said.rsplit_once(", expected ") {
        Some((is, expected)) if is.starts_with("invalid ") => {
            format!("argument '{place}' does not fit: {is}, expected {}.", in_words(expected))
        }
        _ => said.to_owned(),
    }
}

fn in_words(expected: &str) -> &str {
    match expected {
        "i32" | "i64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text",
        "a sequence" => "a list",
        expected if expected.starts_with("struct ") => "an object",
        expected => expected,
    }
}

/// Deserializes an optional integer field.
pub(super) fn whole<'de, D: Deserializer<'de>>(field: D) -> Result<Option<i64>, D::Error> {
    let value = Value::deserialize(field)?;
    let number = number(&value).ok_or_else(|| D::Error::custom(format!("{value} is no whole number.")))?;
    Ok(Some(number))
}

/// An integer, also if written as text or as 3.0.
pub(super) fn number(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15).map(|f| f as i64))
        .or_else(|| value.as_str()?.trim().parse().ok())
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

#[cfg(test)]
mod tests {
    use super::read;
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Debug, Deserialize, PartialEq)]
    struct Arguments {
        text: String,
        count: Option<i64>,
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Part {
        name: String,
    }

    fn of(arguments: Value) -> Result<Arguments, String> {
        read(arguments.as_object().expect("an object").clone())
    }

    #[test]
    fn what_is_left_out_or_does_not_fit_is_named_with_its_place() {
        let part = |name: &str| Part { name: name.into() };
        assert_eq!(
            of(json!({"text": " a ", "count": null, "parts": [{"name": "b\n"}], "more": 1})),
            Ok(Arguments { text: "a".into(), count: None, parts: vec![part("b")] })
        );
        for (arguments, says) in [
            (json!({}), "argument 'text' is missing."),
            (json!({"text": "  "}), "argument 'text' is missing."),
            (json!({"text": 5}), "argument 'text' does not fit: invalid type: integer `5`, expected a text."),
            (
                json!({"text": "a", "count": "b"}),
                "argument 'count' does not fit: invalid type: string \"b\", expected a whole number.",
            ),
            (json!({"text": "a", "parts": [{"name": "b"}, {}]}), "argument 'parts[1].name' is missing."),
            (
                json!({"text": "a", "parts": [7]}),
                "argument 'parts[0]' does not fit: invalid type: integer `7`, expected an object.",
            ),
        ] {
            assert_eq!(of(arguments), Err(says.into()));
        }
    }
}
