//! An answer of several items, as it came: reasoning and signatures stand between texts and calls, and must go back in
//! their places.
//!
//! Texts and calls are kept with the message like those of any protocol; in the list of items there is a place for each,
//! without what would be kept twice.

use super::fields::{MOST_EXTRA_BYTES, says_something};
use serde_json::{Map, Value};

/// Puts the items under a key, unless a text and calls are all there is, or more than may go back.
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

/// The items under a key of what may go back with an answer.
pub(crate) fn kept<'a>(extra: &[(&'a str, &'a Value)], key: &str) -> Option<&'a [Value]> {
    let found = extra.iter().find(|(name, _)| *name == key);
    found.and_then(|(_, items)| items.as_array()).map(Vec::as_slice)
}

/// An item's type.
pub(crate) fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}
