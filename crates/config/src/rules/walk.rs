//! A configuration beside its schema: one walk for all that a schema says about values.

use super::{
    level::Level,
    schema::{alternatives, complete, without_null},
};
use crate::layers::locate::child;
use serde_json::{Map, Value};

/// What the schema says about a value.
pub enum Place<'a> {
    /// A key or an entry of a list.
    Known {
        /// Its schema.
        schema: &'a Value,
        /// The alternative of the schema for the value's type.
        fitting: &'a Value,
        /// Who may set it.
        level: Level,
        /// Whether it is in an entry of a list, where `null` removes nothing.
        is_entry: bool,
    },
    /// A key that the schema does not have, and the ones that it has there.
    Unknown(&'a str, &'a Map<String, Value>),
    /// A required key that is absent.
    Missing {
        /// Whether it is in an entry of a list, which no other layer completes.
        is_entry: bool,
        /// Who may set it.
        level: Level,
    },
}

type Visit<'v> = dyn FnMut(&str, &mut Value, &Place<'_>) + 'v;

/// Calls `visit` with the dotted path of each value of a configuration that is no object with known keys; a list or an
/// object with names of the operator comes before its entries.
pub fn visit(config: &mut Value, visit: &mut Visit<'_>) {
    walk(config, complete(), "", (Level::Operator, false), visit);
}

fn walk(value: &mut Value, schema: &Value, path: &str, above: (Level, bool), visit: &mut Visit<'_>) {
    let (fitting, (above, is_entry)) = (fitting(schema, value), above);
    let level = Level::of(schema, above);
    match (value, fitting["properties"].as_object()) {
        (Value::Object(map), Some(known)) => {
            for (key, value) in &mut *map {
                match known.get(key) {
                    Some(property) => walk(value, property, &child(path, key), (level, is_entry), visit),
                    None => visit(&child(path, key), value, &Place::Unknown(key, known)),
                }
            }
            let required = fitting["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for key in required.filter(|key| !map.contains_key(*key)) {
                let level = Level::of(&known[key], level);
                visit(&child(path, key), &mut Value::Null, &Place::Missing { is_entry, level });
            }
        }
        (value, _) => {
            visit(path, value, &Place::Known { schema, fitting, level, is_entry });
            match value {
                Value::Array(list) => (0..).zip(list).for_each(|(at, item): (usize, _)| {
                    walk(item, &fitting["items"], &child(path, &at.to_string()), (level, true), visit);
                }),
                // Entries with names chosen by the operator.
                Value::Object(map) if fitting["additionalProperties"].is_object() => {
                    for (key, entry) in map {
                        walk(entry, &fitting["additionalProperties"], &child(path, key), (level, is_entry), visit);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The alternative of a schema for the value's type; the first if none matches. For the alternative of words only the
/// words are named: the value may be a secret in the wrong place.
fn fitting<'a>(schema: &'a Value, value: &Value) -> &'a Value {
    let fits =
        |one: &&Value| one["type"] == kind(value) && one["enum"].as_array().is_none_or(|words| words.contains(value));
    let found = alternatives(schema).into_iter().find(fits);
    found.filter(|_| !value.is_null()).unwrap_or_else(|| without_null(schema))
}

/// The type of a value, as a schema calls it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
