//! The data of earlier answers in a request, for attributing a refusal to it.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Required fields of an item.
const ESSENTIAL: [&str; 16] = [
    "type",
    "role",
    "content",
    "text",
    "thinking",
    "signature",
    "data",
    "summary",
    "encrypted_content",
    "id",
    "call_id",
    "name",
    "arguments",
    "input",
    "tool_use_id",
    "index",
];

/// The data of earlier answers in a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SentBack {
    /// Names in the provider's data, each with the key to omit if the name is refused; none if the item requires it.
    pub(crate) keys: BTreeMap<String, Option<String>>,
    /// The fields of the request itself.
    pub(crate) fields: BTreeSet<String>,
    /// The messages of the request in order, each with the number in the history of its answer, or of the answer whose
    /// result it is.
    pub(crate) turns: Vec<Option<i64>>,
}

impl SentBack {
    /// An extra field of a message or a call, with its content.
    pub(crate) fn add(&mut self, key: &str, value: &Value) {
        self.keys.insert(key.to_owned(), Some(key.to_owned()));
        self.add_inner(key, value);
    }

    fn add_inner(&mut self, key: &str, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add_inner(key, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if !ESSENTIAL.contains(&name.as_str()) {
                        self.keys.entry(name.clone()).or_insert_with(|| Some(key.to_owned()));
                    }
                    self.add_inner(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// An item or a block that came from the provider.
    pub(crate) fn add_item(&mut self, fields: &Map<String, Value>) {
        for name in fields.keys() {
            let left_out = (!ESSENTIAL.contains(&name.as_str())).then(|| name.clone());
            self.keys.entry(name.clone()).or_insert(left_out);
        }
    }
}
