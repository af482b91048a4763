//! The level of each key, written into the schema as `x-level`.

use crate::layers::locate::child;
use serde_json::Value;
use std::fmt;

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Only the operator.
    Operator,
    /// The operator and a job's row.
    Job,
    /// The operator, and a job's row up to the operator's value.
    Bounded,
}

impl Level {
    /// Its name in the schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Job => "job",
            Self::Bounded => "bounded",
        }
    }

    pub(crate) fn of(property: &Value) -> Self {
        match property["x-level"].as_str() {
            Some("job") => Self::Job,
            Some("bounded") => Self::Bounded,
            // A key without a level belongs to the operator.
            _ => Self::Operator,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Keys whose levels differ from that of the key above them; `configs/schema.json` has the result at every key.
const LEVELS: [(&str, Level); 23] = [
    ("display_name", Level::Job),
    ("llm.model", Level::Job),
    ("llm.temperature", Level::Job),
    ("llm.reasoning_level", Level::Job),
    ("llm.tool_choice", Level::Job),
    ("llm.parallel_tool_calls", Level::Job),
    ("llm.context_window", Level::Bounded),
    ("llm.max_output_tokens", Level::Bounded),
    ("tools", Level::Job),
    ("phase_settings", Level::Job),
    ("limits", Level::Bounded),
    ("coverage_settings", Level::Bounded),
    ("on_complete", Level::Job),
    ("deliverables", Level::Job),
    ("citations_required", Level::Job),
    ("no_sources", Level::Job),
    ("record_defaults", Level::Job),
    ("coverage", Level::Job),
    ("llm_by_purpose.*.model", Level::Job),
    ("llm_by_purpose.*.temperature", Level::Job),
    ("llm_by_purpose.*.reasoning_level", Level::Job),
    ("llm_by_purpose.*.tool_choice", Level::Job),
    ("llm_by_purpose.*.parallel_tool_calls", Level::Job),
];

/// Keys of a purpose that have the same level as in `llm`.
const BOUNDED_OF_PURPOSE: [&str; 2] = ["context_window", "max_output_tokens"];

/// Writes the levels into a schema.
pub(crate) fn write(schema: &mut Value) {
    write_below(schema, "", Level::Operator);
}

fn write_below(schema: &mut Value, path: &str, inherited: Level) {
    let schema = match schema.get("anyOf").is_some() {
        true => &mut schema["anyOf"][0],
        false => schema,
    };
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, property) in properties {
        let path = child(path, key);
        let level = own_level(&path).unwrap_or(inherited);
        if let Some(map) = property.as_object_mut() {
            map.insert("x-level".into(), level.as_str().into());
        }
        write_below(property, &path, level);
        if let Some(entry) = property.get_mut("additionalProperties").filter(|entry| entry.is_object()) {
            write_below(entry, &path, level);
        }
    }
}

fn own_level(path: &str) -> Option<Level> {
    let purpose = path.strip_prefix("llm_by_purpose.").and_then(|rest| rest.split_once('.')).map(|(_, key)| key);
    let known = |(pattern, level): &(&str, Level)| {
        let of_purpose = pattern.strip_prefix("llm_by_purpose.*.").is_some_and(|key| Some(key) == purpose);
        (*pattern == path || of_purpose).then_some(*level)
    };
    let bounded = purpose.is_some_and(|key| BOUNDED_OF_PURPOSE.contains(&key));
    LEVELS.iter().find_map(known).or(bounded.then_some(Level::Bounded))
}
