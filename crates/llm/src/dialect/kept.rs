//! An answer with several items, verbatim: reasoning and signatures are between texts and calls, and must be sent back
//! at the same positions.
//!
//! Texts and calls are stored with the message as in any protocol; the list of items has a placeholder for each,
//! without duplicating the content.

use super::fields::{MOST_EXTRA_BYTES, says_something};
use serde_json::{Map, Value};

/// Stores the items under a key, unless there are only a text and calls, or they exceed the limit.
pub(crate) fn keep(key: &str, items: Vec<Value>, is_plain: impl Fn(&Value) -> bool) -> Map<String, Value> {
    let mut extra = Map::new();
    if items.iter().all(is_plain) {
        return extra;
    }
    let items = Value::Array(items);
    if items.to_string().len() <= MOST_EXTRA_BYTES && says_something(&items) {
        extra.insert(key.into(), items);
    }
    extra
}

/// The items stored under a key of an answer's extra data.
pub(crate) fn kept<'a>(extra: &[(&'a str, &'a Value)], key: &str) -> Option<&'a [Value]> {
    let found = extra.iter().find(|(name, _)| *name == key);
    found.and_then(|(_, items)| items.as_array()).map(Vec::as_slice)
}

/// An item's type.
pub(crate) fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}
