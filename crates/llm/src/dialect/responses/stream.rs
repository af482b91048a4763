//! Puts a streamed response together: its last event has all of it.

use crate::dialect::decoded::NoAnswer;
use crate::dialect::fields::{error_in, error_of, event_of, fields_of, list, number, text};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// Finished items by their places: some servers leave them out of the last event.
    items: BTreeMap<u64, Box<RawValue>>,
    whole: Option<Box<RawValue>>,
    bytes: usize,
}

impl Assembly {
    pub(in crate::dialect) fn add(&mut self, data: &str) -> Result<bool, NoAnswer> {
        if data.trim() == "[DONE]" {
            return Ok(false);
        }
        let event = event_of(data)?;
        match text(&event, "type").unwrap_or_default().as_str() {
            "error" => return Err(NoAnswer::Error(error_in(data))),
            "response.output_item.done" => {
                if let (Some(index), Some(item)) = (number(&event, "output_index"), event.get("item")) {
                    self.bytes += item.get().len();
                    self.items.insert(index, (*item).to_owned());
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response =
                    event.get("response").ok_or_else(|| NoAnswer::malformed("its last event has no response"))?;
                if let Some(error) = error_of(&fields_of(response)) {
                    return Err(NoAnswer::Error(error));
                }
                self.whole = Some((*response).to_owned());
                return Ok(true);
            }
            _ => {
                // Some servers wrap an error into an event of no type.
                if let Some(error) = error_of(&event) {
                    return Err(NoAnswer::Error(error));
                }
            }
        }
        Ok(false)
    }

    pub(in crate::dialect) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(in crate::dialect) fn into_body(self) -> Result<Vec<u8>, NoAnswer> {
        let whole = self.whole.ok_or(NoAnswer::Cut)?;
        let mut response = fields_of(&whole);
        if list(response.get("output")).is_some_and(|items| !items.is_empty()) || self.items.is_empty() {
            return Ok(whole.get().as_bytes().to_vec());
        }
        let items: Vec<&RawValue> = self.items.values().map(|item| &**item).collect();
        let items = serde_json::value::to_raw_value(&items).map_err(|error| NoAnswer::Malformed(error.to_string()))?;
        response.insert("output".into(), &items);
        serde_json::to_vec(&response).map_err(|error| NoAnswer::Malformed(error.to_string()))
    }
}
