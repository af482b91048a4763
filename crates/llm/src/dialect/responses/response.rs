//! Reads a response.

use super::ITEMS;
use crate::dialect::decoded::{Decoded, NoAnswer, word_of};
use crate::dialect::ending::{self, REFUSAL};
use crate::dialect::fields::{
    Fields, arguments_of, error_of, fields_of, id, list, object, present, root_of, says_something, text_or_empty,
    under, value_of,
};
use crate::dialect::kept::{keep, kind};
use plumbline_engine::ToolCall;
use serde_json::{Map, Value};

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    let reason = finish_reason(&root)?;
    // Some providers also report the cap as an error.
    if let (Some(error), false) = (error_of(&root)?, ending::is_cut(reason.as_deref())) {
        return Err(NoAnswer::Error(error));
    }
    under(&root, "output").ok_or_else(|| NoAnswer::malformed("it has no list of output items"))?;
    let output = list(&root, "output")?.into_iter().map(fields_of).collect::<Result<Vec<_>, _>>()?;
    let mut messages = 0;
    for item in &output {
        messages += u32::from(text_or_empty(item, "type")? == "message");
    }
    let mut reading = Reading { several: messages > 1, ..Reading::default() };
    for item in output {
        reading.item(item)?;
    }
    let refused = reading.refused && reading.decoded.tool_calls.is_empty();
    let mut decoded = reading.decoded;
    decoded.extra = keep(ITEMS, reading.items, is_plain);
    decoded.finish_reason = match refused {
        true => Some(REFUSAL.to_owned()),
        false => reason,
    };
    decoded.raw_usage = present(&root, "usage")?;
    decoded.service_tier = word_of(present(&root, "service_tier")?.as_ref());
    Ok(decoded)
}

/// Why it is incomplete, if it is.
fn finish_reason(root: &Fields<'_>) -> Result<Option<String>, NoAnswer> {
    let reason = word_of(present(&object(root, "incomplete_details")?, "reason")?.as_ref());
    Ok(reason.or(word_of(present(root, "status")?.as_ref())))
}

/// Whether an item has only the content of a text or a call of any protocol.
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
    /// Whether there are several messages: then each keeps its text.
    several: bool,
}

impl Reading {
    fn item(&mut self, item: Fields<'_>) -> Result<(), NoAnswer> {
        match text_or_empty(&item, "type")?.as_str() {
            "message" => self.message(item)?,
            "function_call" => self.call(item)?,
            "reasoning" => {
                let item = values(item)?;
                // A provider that stores nothing cannot look it up by its id.
                if ["encrypted_content", "content"].iter().any(|key| item.get(*key).is_some_and(says_something)) {
                    self.items.push(item);
                }
            }
            _ => self.items.push(values(item)?),
        }
        Ok(())
    }

    fn message(&mut self, mut item: Fields<'_>) -> Result<(), NoAnswer> {
        let mut said = String::new();
        for part in list(&item, "content")? {
            let part = fields_of(part)?;
            match text_or_empty(&part, "type")?.as_str() {
                "refusal" => {
                    self.refused = true;
                    said.push_str(&text_or_empty(&part, "refusal")?);
                }
                _ => said.push_str(&text_or_empty(&part, "text")?),
            }
        }
        if !self.decoded.content.is_empty() && !said.is_empty() {
            self.decoded.content.push_str("\n\n");
        }
        self.decoded.content.push_str(&said);
        if !self.several {
            item.remove("content");
        }
        self.items.push(values(item)?);
        Ok(())
    }

    fn call(&mut self, mut item: Fields<'_>) -> Result<(), NoAnswer> {
        let name = text_or_empty(&item, "name")?.trim().to_string();
        if name.is_empty() {
            return Err(NoAnswer::malformed("it has a function call without a name"));
        }
        let arguments = arguments_of(under(&item, "arguments"))?;
        self.decoded.tool_calls.push(ToolCall { id: id(&item, "call_id")?, name, arguments });
        item.retain(|key, _| matches!(key.as_str(), "type" | "id"));
        self.items.push(values(item)?);
        Ok(())
    }
}

/// Its fields without nulls: providers send them, and refuse an item that is sent back with them.
fn values(mut item: Fields<'_>) -> Result<Value, NoAnswer> {
    item.retain(|_, raw| raw.get() != "null");
    let fields = item.into_iter().map(|(key, raw)| Ok((key, value_of(raw)?)));
    fields.collect::<Result<Map<String, Value>, NoAnswer>>().map(Value::Object)
}
