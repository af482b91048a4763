//! Assembles a streamed response: its last event has all of it.

use crate::dialect::DONE;
use crate::dialect::decoded::NoAnswer;
use crate::dialect::fields::{error_in, error_of, event_of, fields_of, list, number, text_or_empty, under};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The response so far.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// Finished items by their index: some servers omit them from the last event.
    items: BTreeMap<u64, Box<RawValue>>,
    whole: Option<Box<RawValue>>,
    /// Whether a piece of an item came.
    began_an_item: bool,
    bytes: usize,
}

impl Assembly {
    pub(in crate::dialect) fn add(&mut self, data: &str) -> Result<bool, NoAnswer> {
        if data.trim() == DONE {
            return Ok(false);
        }
        let event = event_of(data)?;
        match text_or_empty(&event, "type")?.as_str() {
            "error" => return Err(NoAnswer::Error(error_in(data))),
            "response.output_item.done" => {
                let item =
                    under(&event, "item").ok_or_else(|| NoAnswer::malformed("a finished item of it is missing"))?;
                let next = self.items.last_key_value().map_or(0, |(last, _)| last + 1);
                self.bytes += item.get().len();
                self.items.insert(number(&event, "output_index")?.unwrap_or(next), item.to_owned());
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response =
                    under(&event, "response").ok_or_else(|| NoAnswer::malformed("its last event has no response"))?;
                self.whole = Some(response.to_owned());
                return Ok(true);
            }
            kind => {
                self.began_an_item |= kind.ends_with(".delta");
                // Some servers wrap an error in an event without a type.
                if let Some(error) = error_of(&event)? {
                    return Err(NoAnswer::Error(error));
                }
            }
        }
        Ok(false)
    }

    pub(in crate::dialect) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(in crate::dialect) fn into_body(self) -> Result<String, NoAnswer> {
        let whole = self.whole.ok_or(NoAnswer::Cut)?;
        let mut response = fields_of(&whole)?;
        let said = list(&response, "output")?.len();
        if said == 0 && self.items.is_empty() && self.began_an_item {
            return Err(NoAnswer::malformed("its last event has nothing of what came before"));
        }
        if said >= self.items.len() {
            return Ok(whole.get().to_owned());
        }
        let items: Vec<&RawValue> = self.items.values().map(|item| &**item).collect();
        let items = serde_json::value::to_raw_value(&items).map_err(|error| NoAnswer::Malformed(error.to_string()))?;
        response.insert("output".into(), &items);
        serde_json::to_string(&response).map_err(|error| NoAnswer::Malformed(error.to_string()))
    }
}
