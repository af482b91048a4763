//! Checks one layer of configuration against the schema: unknown keys, wrong types, values out of range. A layer may
//! omit keys, so missing ones are checked in the merged configuration ([`missing`]).

use super::{
    nearest::{advice, quoted},
    schema::{complete, without_null},
};
use crate::error::Problem;
use crate::layers::{Layer, locate::child};
use serde_json::{Map, Value};

/// All errors within one layer.
pub(crate) fn layer(layer: &Layer) -> Vec<Problem> {
    let mut wrong = Vec::new();
    value(&layer.value, complete(), "", &mut |path, message| {
        wrong.push(Problem::new(layer.name.clone(), layer.lines.of(path), message));
    });
    wrong
}

/// Dotted paths of required keys that the merged configuration lacks.
pub(crate) fn missing(config: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    collect_missing(config, complete(), "", &mut paths);
    paths
}

fn collect_missing(config: &Value, schema: &Value, path: &str, paths: &mut Vec<String>) {
    if let (Some(entries), true) = (config.as_object(), schema["additionalProperties"].is_object()) {
        entries.iter().for_each(|(key, entry)| {
            collect_missing(entry, &schema["additionalProperties"], &child(path, key), paths);
        });
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| config.is_object()) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    for (key, property) in properties {
        let path = child(path, key);
        match config.get(key) {
            Some(value) => collect_missing(value, without_null(property), &path, paths),
            None if required.is_some_and(|list| list.iter().any(|one| one == key)) => paths.push(path),
            None => {}
        }
    }
}

/// Calls `report` with the dotted path and the sentence of each error in `value`.
fn value(value: &Value, schema: &Value, path: &str, report: &mut dyn FnMut(&str, String)) {
    let words = words_besides(schema);
    let schema = fitting(schema, value);
    match value {
        // Removes the value of lower layers.
        Value::Null => {}
        Value::Object(map) if schema.get("properties").is_some() => object(map, schema, path, report),
        // Entries with names chosen by the operator.
        Value::Object(map) if schema["additionalProperties"].is_object() => {
            for (key, inner) in map {
                self::value(inner, &schema["additionalProperties"], &child(path, key), report);
            }
        }
        _ => {
            if let Some(message) = wrong_type(value, schema, path).or_else(|| wrong_value(value, schema, path)) {
                report(path, message + &words);
            }
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                let path = child(path, &index.to_string());
                self::value(item, &schema["items"], &path, report);
                let mut absent = Vec::new();
                // Entries of lists must be complete: lists replace one another.
                collect_missing(item, fitting(&schema["items"], item), &path, &mut absent);
                absent.iter().for_each(|key| report(key, format!("`{key}` has no value; give it one")));
            }
        }
    }
}

/// The alternative of a schema for the value's type; the first if none matches. For the alternative of words only the
/// words are named: the value may be a secret in the wrong place.
fn fitting<'a>(schema: &'a Value, value: &Value) -> &'a Value {
    let fits =
        |one: &&Value| one["type"] == kind(value) && one["enum"].as_array().is_none_or(|words| words.contains(value));
    let found = schema["anyOf"].as_array().and_then(|list| list.iter().find(fits));
    found.filter(|_| !value.is_null()).unwrap_or_else(|| without_null(schema))
}

/// ` or the word `free``, if words are an alternative to another type.
fn words_besides(schema: &Value) -> String {
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let words: Vec<&str> =
        alternatives.filter_map(|one| one["enum"].as_array()).flatten().filter_map(Value::as_str).collect();
    if words.is_empty() { String::new() } else { format!(" or the word {}", quoted(&words)) }
}

fn object(map: &Map<String, Value>, schema: &Value, path: &str, report: &mut dyn FnMut(&str, String)) {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, inner) in map {
        let inner_path = child(path, key);
        match known.get(key) {
            Some(property) => value(inner, property, &inner_path, report),
            None => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                report(&inner_path, format!("unknown key `{inner_path}`; {}", advice(key, &names)));
            }
        }
    }
}

/// The value is not repeated in the error: it may be a secret in the wrong place.
fn wrong_type(value: &Value, schema: &Value, path: &str) -> Option<String> {
    let allowed: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => return None,
    };
    let fits = allowed.iter().any(|name| match *name {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        name => name == kind(value),
    });
    let wanted: Vec<&str> = allowed.iter().map(|name| in_words(name)).collect();
    (!fits).then(|| format!("`{path}` is {}; it must be {}", in_words(kind(value)), wanted.join(" or ")))
}

fn wrong_value(value: &Value, schema: &Value, path: &str) -> Option<String> {
    if let (Some(words), Some(word)) = (schema["enum"].as_array(), value.as_str()) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return (!words.contains(&word)).then(|| format!("`{path}` is `{word}`; it must be one of {}", quoted(&words)));
    }
    let number = value.as_f64()?;
    let below = schema["minimum"].as_f64().filter(|least| number < *least);
    let above = largest(schema).filter(|most| number > *most);
    match (below, above) {
        (Some(least), _) => Some(format!("`{path}` is {value}; it must be at least {least}")),
        (_, Some(most)) => Some(format!("`{path}` is {value}; it must be at most {most}")),
        (None, None) => None,
    }
}

fn largest(schema: &Value) -> Option<f64> {
    let by_format = (schema["format"] == "uint32").then_some(f64::from(u32::MAX));
    schema["maximum"].as_f64().or(by_format)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn in_words(kind: &str) -> &str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}
