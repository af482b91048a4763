//! Checks one layer of configuration against the schema: unknown keys, wrong types, values out of range. A layer may
//! omit keys, so missing ones are checked in the merged configuration ([`missing`]).

use super::{
    nearest::{advice, quoted},
    schema::alternatives,
    walk::{Place, kind, visit},
};
use crate::error::Problem;
use crate::layers::Layer;
use serde_json::{Value, json};

/// All errors within one layer.
pub(crate) fn layer(layer: &Layer) -> Vec<Problem> {
    let mut wrong = values(layer, layer.value.clone(), str::to_owned);
    let fallbacks = layer.value.pointer("/llm/fallback").and_then(Value::as_array);
    for (at, entry) in fallbacks.into_iter().flatten().enumerate() {
        // Its schema cannot contain itself.
        if entry["llm"].is_object() {
            let place = |path: &str| path.replacen("llm", &format!("llm.fallback.{at}.llm"), 1);
            wrong.extend(values(layer, json!({"llm": entry["llm"]}), place));
        }
    }
    wrong
}

/// The errors of values whose paths are moved to their place in the layer.
fn values(layer: &Layer, mut value: Value, place: impl Fn(&str) -> String) -> Vec<Problem> {
    let mut wrong = Vec::new();
    visit(&mut value, &mut |path, value, found| {
        let path = &*place(path);
        let message = match found {
            Place::Known { schema, is_entry, .. } if value.is_null() && !(*is_entry && refuses_null(schema)) => None,
            Place::Known { schema, fitting, .. } => wrong_type(value, fitting, path)
                .or_else(|| wrong_value(value, fitting, path))
                .map(|message| message + &words_besides(schema)),
            Place::Unknown(key, known) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                Some(format!("unknown key `{path}`; {}", advice(key, &names)))
            }
            Place::Missing { is_entry, .. } => is_entry.then(|| format!("`{path}` has no value; give it one")),
        };
        wrong.extend(message.map(|message| Problem::new(layer.named_for(path), layer.lines.of(path), message)));
    });
    wrong
}

/// Dotted paths of required keys that the merged configuration lacks.
pub(crate) fn missing(config: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    visit(&mut config.clone(), &mut |path, _, place| {
        if let Place::Missing { .. } = place {
            paths.push(path.to_owned());
        }
    });
    paths
}

/// Whether a schema names types and `null` is none of them.
fn refuses_null(schema: &Value) -> bool {
    let kinds: Vec<&Value> = match (&schema["anyOf"], &schema["type"]) {
        (Value::Array(alternatives), _) => alternatives.iter().map(|one| &one["type"]).collect(),
        (_, Value::Array(names)) => names.iter().collect(),
        (_, name) => vec![name],
    };
    kinds.iter().all(|kind| kind.is_string() && **kind != "null")
}

/// ` or the word `free``, if words are an alternative to another type.
fn words_besides(schema: &Value) -> String {
    let alternatives = alternatives(schema).into_iter().filter(|_| schema["anyOf"].is_array());
    let words: Vec<&str> =
        alternatives.filter_map(|one| one["enum"].as_array()).flatten().filter_map(Value::as_str).collect();
    if words.is_empty() { String::new() } else { format!(" or the word {}", quoted(&words)) }
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
