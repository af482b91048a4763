//! Many rows as one parameter.
//!
//! A step's new rows are sent as JSON and expanded by `json_to_recordset` in the statement: the column list is only in the
//! SQL, and a step needs the same few round trips for any number of rows. Files are sent as arrays, because their bytes
//! need not be text.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Replacement for a NUL character. Postgres can store none in text; models and documents do produce them, and a
/// rejected row would fail its job at the same step forever.
const REPLACEMENT: &str = "\u{FFFD}";

/// A value as JSON text that Postgres accepts.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    let text = serde_json::to_string(value).expect("rows have string keys and no failing serializer");
    // The escape of a NUL, or of a backslash followed by `u0000`: rare enough for a slower check.
    if !text.contains("\\u0000") {
        return text;
    }
    let mut value: Value = serde_json::from_str(&text).expect("the text was just written by the same library");
    replace_nuls(&mut value);
    value.to_string()
}

/// A text that Postgres accepts.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', REPLACEMENT)) } else { Cow::Borrowed(text) }
}

fn replace_nuls(value: &mut Value) {
    match value {
        Value::String(string) if string.contains('\0') => *string = string.replace('\0', REPLACEMENT),
        Value::Array(items) => items.iter_mut().for_each(replace_nuls),
        Value::Object(map) => {
            let old = std::mem::take(map);
            map.extend(old.into_iter().map(|(key, mut value)| {
                replace_nuls(&mut value);
                (text(&key).into_owned(), value)
            }));
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::json;
    use serde_json::{Value, json as value};

    #[test]
    fn a_nul_character_is_replaced_and_its_escaped_spelling_is_kept() {
        let row = value!({"a": "x\0y", "k\0": [{"b": "\0"}], "escaped": "\\u0000"});
        let stored: Value = serde_json::from_str(&json(&row)).unwrap();
        assert_eq!(stored, value!({"a": "x\u{FFFD}y", "k\u{FFFD}": [{"b": "\u{FFFD}"}], "escaped": "\\u0000"}));
    }
}
