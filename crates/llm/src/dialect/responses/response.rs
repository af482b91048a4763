//! Reads a response.

use super::ITEMS;
use crate::dialect::decoded::{Decoded, NoAnswer, word_of};
use crate::dialect::ending::REFUSAL;
use crate::dialect::fields::{
    Fields, arguments_of, error_of, fields_of, list, object, present, root_of, says_something, text, value_of,
};
use crate::dialect::kept::{keep, kind};
use plumbline_engine::ToolCall;
use serde_json::{Map, Value, value::RawValue};

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    if let Some(error) = error_of(&root) {
        return Err(NoAnswer::Error(error));
    }
    let output = list(root.get("output")).ok_or_else(|| NoAnswer::malformed("it has no list of output items"))?;
    let mut reading =
        Reading { several: output.iter().filter(|item| is_message(item)).count() > 1, ..Reading::default() };
    for item in output {
        reading.item(item)?;
    }
    let refused = reading.refused && reading.decoded.tool_calls.is_empty();
    let mut decoded = reading.decoded;
    decoded.extra = keep(ITEMS, reading.items, is_plain);
    decoded.finish_reason = match refused {
        true => Some(REFUSAL.to_owned()),
        false => finish_reason(&root),
    };
    decoded.raw_usage = present(&root, "usage");
    decoded.service_tier = word_of(present(&root, "service_tier").as_ref());
    Ok(decoded)
}

/// Why it is incomplete, or that it is not.
fn finish_reason(root: &Fields<'_>) -> Option<String> {
    let details = object(root, "incomplete_details");
    word_of(present(&details, "reason").or_else(|| present(root, "status")).as_ref())
}

fn is_message(item: &RawValue) -> bool {
    text(&fields_of(item), "type").is_some_and(|kind| kind == "message")
}

/// Whether an item says no more than a text or a call of any protocol does.
fn is_plain(item: &Value) -> bool {
    match kind(item) {
        "message" => item.get("phase").is_none_or(Value::is_null) && item.get("content").is_none(),
        "function_call" => true,
        _ => false,
    }
}

#[derive(Default)]
struct Reading {
    decoded: Decoded,
    items: Vec<Value>,
    refused: bool,
    /// Whether there are several messages: then each keeps its own text.
    several: bool,
}

impl Reading {
    fn item(&mut self, raw: &RawValue) -> Result<(), NoAnswer> {
        let item = fields_of(raw);
        match text(&item, "type").unwrap_or_default().as_str() {
            "message" => self.message(item),
            "function_call" => self.call(item)?,
            "reasoning" => {
                let says = |key: &str| value_of(item.get(key)).is_some_and(|value| says_something(&value));
                // A provider that stores nothing cannot find it again by its id.
                if says("encrypted_content") || says("content") {
                    self.items.push(values(item));
                }
            }
            _ => self.items.push(values(item)),
        }
        Ok(())
    }

    fn message(&mut self, mut item: Fields<'_>) {
        let mut said = String::new();
        for part in list(item.get("content")).unwrap_or_default() {
            let part = fields_of(part);
            match text(&part, "type").unwrap_or_default().as_str() {
                "refusal" => {
                    self.refused = true;
                    said.push_str(&text(&part, "refusal").unwrap_or_default());
                }
                _ => said.push_str(&text(&part, "text").unwrap_or_default()),
            }
        }
        if !self.decoded.content.is_empty() && !said.is_empty() {
            self.decoded.content.push_str("\n\n");
        }
        self.decoded.content.push_str(&said);
        if !self.several {
            item.remove("content");
        }
        self.items.push(values(item));
    }

    fn call(&mut self, mut item: Fields<'_>) -> Result<(), NoAnswer> {
        let name = text(&item, "name").unwrap_or_default().trim().to_string();
        if name.is_empty() {
            return Err(NoAnswer::malformed("it has a function call without a name"));
        }
        let id = text(&item, "call_id").unwrap_or_default();
        let arguments = arguments_of(value_of(item.get("arguments")));
        self.decoded.tool_calls.push(ToolCall { id, name, arguments });
        item.retain(|key, _| matches!(key.as_str(), "type" | "id"));
        self.items.push(values(item));
        Ok(())
    }
}

/// Its fields, without those that are null: an item goes out with them, and is refused when it comes back with them.
fn values(item: Fields<'_>) -> Value {
    let fields: Map<String, Value> = item.keys().filter_map(|key| Some((key.clone(), present(&item, key)?))).collect();
    Value::Object(fields)
}
