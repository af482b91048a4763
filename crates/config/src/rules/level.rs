//! The level of each key: an attribute `x-level` of its field, which also applies to the keys below it.

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

    /// The level of a key: its own, or that of the key above it.
    pub(crate) fn of(property: &Value, above: Self) -> Self {
        match property["x-level"].as_str() {
            Some("job") => Self::Job,
            Some("bounded") => Self::Bounded,
            _ => above,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
