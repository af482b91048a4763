//! Assembles a streamed message block by block. It is complete with `message_stop`, or when it has a stop reason, which
//! follows all blocks, and the stream has ended: some gateways leave the last event out.

use crate::dialect::DONE;
use crate::dialect::decoded::{NoAnswer, word_of};
use crate::dialect::ending::{self, Ending};
use crate::dialect::extra_fields::join;
use crate::dialect::fields::{Fields, error_in, event_of, number, object, present, text, text_or_empty, value_of};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Memory overhead of a field and of a block.
const A_FIELD: usize = 64;
const A_BLOCK: usize = 256;

/// Fields sent in deltas.
const TEXTS: [&str; 3] = ["text", "thinking", "signature"];

/// The message so far.
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
        if data.trim() == DONE {
            return Ok(false);
        }
        let event = event_of(data)?;
        match text_or_empty(&event, "type")?.as_str() {
            "error" => return Err(NoAnswer::Error(error_in(data))),
            "message_start" => self.begin(&event)?,
            "content_block_start" => self.begin_block(&event)?,
            "content_block_delta" => self.go_on(place_of(&event)?, &object(&event, "delta")?)?,
            "message_delta" => self.end(&event)?,
            "message_stop" => self.is_whole = true,
            // `content_block_stop`, `ping`, and future events.
            _ => {}
        }
        Ok(self.is_whole)
    }

    pub(in crate::dialect) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(in crate::dialect) fn usage(&self) -> Option<Value> {
        (!self.usage.is_empty()).then(|| Value::Object(self.usage.clone()))
    }

    /// Whether the answer so far has a stop reason.
    pub(in crate::dialect) fn has_ended(&self) -> bool {
        let reason = word_of(self.message.get("stop_reason"));
        reason.is_some() && matches!(ending::of(reason.as_deref()), Ending::Finished(_))
    }

    /// Whether the stream ended by a mark of its own, not by its close alone.
    pub(in crate::dialect) fn has_own_end(&self) -> bool {
        self.is_whole
    }

    /// It is complete.
    pub(in crate::dialect) fn close(&mut self) {
        self.is_whole = true;
    }

    fn begin(&mut self, event: &Fields<'_>) -> Result<(), NoAnswer> {
        let message = object(event, "message")?;
        self.count(&message)?;
        self.tell(message)
    }

    fn begin_block(&mut self, event: &Fields<'_>) -> Result<(), NoAnswer> {
        let fields = object(event, "content_block")?;
        self.bytes += A_BLOCK;
        for raw in fields.values() {
            self.bytes += raw.get().len();
        }
        let fields = fields.into_iter().map(|(key, raw)| Ok((key, value_of(raw)?))).collect::<Result<_, _>>()?;
        self.blocks.insert(place_of(event)?, Block { fields, input: String::new() });
        Ok(())
    }

    fn go_on(&mut self, index: u64, delta: &Fields<'_>) -> Result<(), NoAnswer> {
        self.bytes += if self.blocks.contains_key(&index) { 0 } else { A_BLOCK };
        let block = self.blocks.entry(index).or_insert_with(|| Block::begun_by(delta));
        for key in TEXTS {
            if let Some(piece) = text(delta, key)? {
                self.bytes += piece.len();
                append(&mut block.fields, key, &piece);
            }
        }
        if let Some(piece) = text(delta, "partial_json")? {
            self.bytes += piece.len();
            block.input.push_str(&piece);
        }
        self.bytes += block.add_further(delta)?;
        Ok(())
    }

    fn end(&mut self, event: &Fields<'_>) -> Result<(), NoAnswer> {
        self.count(event)?;
        self.tell(object(event, "delta")?)
    }

    /// Properties of the whole message.
    fn tell(&mut self, fields: Fields<'_>) -> Result<(), NoAnswer> {
        for (key, raw) in fields.into_iter().filter(|(key, _)| !matches!(key.as_str(), "content" | "usage")) {
            self.bytes += A_FIELD + key.len() + raw.get().len();
            self.message.insert(key, value_of(raw)?);
        }
        Ok(())
    }

    /// Counts come at the beginning and at the end; counts that are not repeated remain valid.
    fn count(&mut self, holder: &Fields<'_>) -> Result<(), NoAnswer> {
        if let Some(Value::Object(usage)) = present(holder, "usage")? {
            let says = |value: &Value| !value.is_null() && value.as_u64() != Some(0);
            for (key, value) in usage {
                if says(&value) || !self.usage.contains_key(&key) {
                    self.bytes += A_FIELD + key.len();
                    self.usage.insert(key, value);
                }
            }
        }
        Ok(())
    }

    pub(in crate::dialect) fn into_body(mut self) -> Result<String, NoAnswer> {
        if !self.is_whole && word_of(self.message.get("stop_reason")).is_none() {
            return Err(NoAnswer::Cut);
        }
        let blocks: Vec<Value> = self.blocks.into_values().map(Block::into_value).collect();
        self.message.insert("content".into(), blocks.into());
        self.message.insert("usage".into(), self.usage.into());
        Ok(Value::Object(self.message).to_string())
    }
}

impl Block {
    /// A block without its start event, as from some gateways: the first piece determines its type.
    fn begun_by(delta: &Fields<'_>) -> Self {
        let kind = ["text", "thinking"].into_iter().find(|key| delta.contains_key(*key)).unwrap_or("tool_use");
        Self { fields: Map::from_iter([("type".to_owned(), kind.into())]), input: String::new() }
    }

    /// Adds the other fields of a delta, such as those of the provider's own tools; returns their bytes.
    fn add_further(&mut self, delta: &Fields<'_>) -> Result<usize, NoAnswer> {
        let mut bytes = 0;
        for (key, raw) in delta {
            if TEXTS.contains(&key.as_str()) || matches!(key.as_str(), "type" | "partial_json") || raw.get() == "null" {
                continue;
            }
            bytes += raw.get().len();
            match (key.as_str(), value_of(raw)?) {
                // Each event has one, and they are stored as a list.
                ("citation", citation) => match self.fields.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => drop(self.fields.insert("citations".into(), json!([citation]))),
                },
                (key, value) => join(key, self.fields.entry(key).or_insert(Value::Null), value),
            }
        }
        Ok(bytes)
    }

    /// The input of the model's call stays text, because it may be truncated. The input of a provider's tool is sent
    /// back unchanged, as an object.
    fn into_value(mut self) -> Value {
        if !self.input.is_empty() {
            let is_own = self.fields.get("type").is_none_or(|kind| kind == "tool_use");
            let read = (!is_own).then(|| serde_json::from_str::<Map<String, Value>>(&self.input).ok()).flatten();
            self.fields.insert("input".into(), read.map_or_else(|| self.input.into(), Value::Object));
        }
        Value::Object(self.fields)
    }
}

/// The index of an event's block.
fn place_of(event: &Fields<'_>) -> Result<u64, NoAnswer> {
    number(event, "index").map(Option::unwrap_or_default)
}

fn append(fields: &mut Map<String, Value>, key: &str, piece: &str) {
    match fields.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => drop(fields.insert(key.into(), piece.into())),
    }
}
