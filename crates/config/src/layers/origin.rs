//! The source of each value of a resolved configuration.

use super::locate::child;
use serde_json::Value;

/// A leaf key and the source of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Dotted, e.g. `llm.model`.
    pub key: String,
    /// The value in the configuration.
    pub value: Value,
    /// `configs/mine/config.json:7`, `built in (defaults.json:7)` or `the environment (PLUMBLINE_MODEL)`.
    pub place: String,
}

/// Every leaf of a configuration; `places` has each value replaced by its place.
pub(crate) fn all(config: &Value, places: &Value) -> Vec<Origin> {
    let mut found = Vec::new();
    collect(config, places, "", &mut found);
    found
}

fn collect(config: &Value, places: &Value, path: &str, found: &mut Vec<Origin>) {
    match config.as_object().filter(|map| !map.is_empty()) {
        Some(map) => map.iter().for_each(|(key, value)| collect(value, &places[key], &child(path, key), found)),
        None => {
            let place = match (path, places.as_str()) {
                ("job_type", _) => "the name of its folder",
                (_, Some(place)) => place,
                (_, None) => "not set",
            };
            found.push(Origin { key: path.to_owned(), value: config.clone(), place: place.to_owned() });
        }
    }
}
