//! The level of each key: an attribute `x-level` of its field, which also applies to the keys below it.

use crate::rules::schema::nested;
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

    /// The level of a property.
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

/// Writes the level of each key into a schema: its own, or that of the key above it.
pub(crate) fn inherit(schema: &mut Value, above: Level) {
    let schema = nested(schema);
    for property in
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten().map(|(_, key)| key)
    {
        let level = if property.get("x-level").is_some() { Level::of(property) } else { above };
        property["x-level"] = level.as_str().into();
        inherit(property, level);
    }
    schema
        .get_mut("additionalProperties")
        .filter(|entry| entry.is_object())
        .into_iter()
        .for_each(|entry| inherit(entry, above));
}
