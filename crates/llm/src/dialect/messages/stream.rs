//! Puts a streamed message together, block by block. It is whole with `message_stop`.

use crate::dialect::decoded::NoAnswer;
use crate::dialect::fields::{Fields, error_in, event_of, number, object, present, text, value_of};
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    message: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
    usage: Map<String, Value>,
    is_whole: bool,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// A tool's input as text, until it is complete.
    input: String,
}

impl Assembly {
    pub(in crate::dialect) fn add(&mut self, data: &str) -> Result<bool, NoAnswer> {
        let event = event_of(data)?;
        let block = number(&event, "index").unwrap_or(0);
        match text(&event, "type").unwrap_or_default().as_str() {
            "error" => return Err(NoAnswer::Error(error_in(data))),
            "message_start" => self.begin(&event),
            "content_block_start" => self.begin_block(block, event.get("content_block")),
            "content_block_delta" => self.go_on(block, &object(&event, "delta")),
            "message_delta" => self.end(&event),
            "message_stop" => self.is_whole = true,
            // `content_block_stop`, `ping`, and whatever is added to the protocol.
            _ => {}
        }
        Ok(self.is_whole)
    }

    pub(in crate::dialect) fn bytes(&self) -> usize {
        self.bytes
    }

    fn begin(&mut self, event: &Fields<'_>) {
        let message = object(event, "message");
        self.count(&message);
        for (key, raw) in message {
            if !matches!(key.as_str(), "content" | "usage") {
                self.message.extend(value_of(Some(&raw)).map(|value| (key, value)));
            }
        }
    }

    fn begin_block(&mut self, index: u64, raw: Option<&&RawValue>) {
        self.bytes += raw.map_or(0, |raw| raw.get().len());
        if let Some(Value::Object(fields)) = value_of(raw) {
            self.blocks.insert(index, Block { fields, input: String::new() });
        }
    }

    fn go_on(&mut self, index: u64, delta: &Fields<'_>) {
        let block = self.blocks.entry(index).or_default();
        for key in ["text", "thinking", "signature"] {
            if let Some(piece) = text(delta, key) {
                self.bytes += piece.len();
                append(&mut block.fields, key, &piece);
            }
        }
        if let Some(piece) = text(delta, "partial_json") {
            self.bytes += piece.len();
            block.input.push_str(&piece);
        }
    }

    fn end(&mut self, event: &Fields<'_>) {
        self.count(event);
        for (key, raw) in object(event, "delta") {
            self.message.extend(value_of(Some(&raw)).map(|value| (key, value)));
        }
    }

    /// Counts come at the beginning and at the end; what is not said again holds.
    fn count(&mut self, holder: &Fields<'_>) {
        if let Some(Value::Object(usage)) = present(holder, "usage") {
            let says = |value: &Value| !value.is_null() && value.as_u64() != Some(0);
            for (key, value) in usage {
                if says(&value) || !self.usage.contains_key(&key) {
                    self.usage.insert(key, value);
                }
            }
        }
    }

    pub(in crate::dialect) fn into_body(mut self) -> Result<Vec<u8>, NoAnswer> {
        if !self.is_whole {
            return Err(NoAnswer::Cut);
        }
        let blocks: Vec<Value> = self.blocks.into_values().map(Block::into_value).collect();
        self.message.insert("content".into(), blocks.into());
        self.message.insert("usage".into(), self.usage.into());
        Ok(Value::Object(self.message).to_string().into_bytes())
    }
}

impl Block {
    /// An input stays the text that it came as: it may be torn.
    fn into_value(mut self) -> Value {
        if !self.input.is_empty() {
            self.fields.insert("input".into(), self.input.into());
        }
        Value::Object(self.fields)
    }
}

fn append(fields: &mut Map<String, Value>, key: &str, piece: &str) {
    match fields.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => drop(fields.insert(key.into(), piece.into())),
    }
}
