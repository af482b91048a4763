//! The JSON Schema of a configuration, derived from the types of its keys.
//!
//! Two forms: [`complete`] describes a whole configuration, including every required key, and is used by the loader.
//! [`schema_json`] is `configs/schema.json`, for editors: it describes one file, which may omit any key that it
//! inherits and may remove keys with `null`.

use super::level_table;
use crate::JobConfig;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static COMPLETE: LazyLock<Value> = LazyLock::new(|| {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<JobConfig>().to_value();
    relax_purposes(&mut schema);
    relax_ceiling(&mut schema["properties"]["limits_ceiling"]);
    level_table::write(&mut schema);
    schema
});

/// The schema of a whole configuration.
pub(crate) fn complete() -> &'static Value {
    &COMPLETE
}

/// Keys of `llm` without a meaning for summaries, which are requested without tools and without a todo list.
const OF_TURNS: [&str; 3] = ["tool_choice", "parallel_tool_calls", "todo_list_position"];

/// A purpose may set any part of `llm`, so nothing in it is required; only keys with a meaning for it are allowed.
fn relax_purposes(schema: &mut Value) {
    let purposes = schema.pointer_mut("/properties/llm_by_purpose/properties").and_then(Value::as_object_mut);
    for (purpose, part) in purposes.into_iter().flatten() {
        forget_required(part);
        if let Some(keys) = part["properties"].as_object_mut() {
            // Its entries name their purposes.
            keys.remove("fallback");
        }
        if let (true, Some(keys)) = (purpose == "summary", part["properties"].as_object_mut()) {
            keys.retain(|key, _| !OF_TURNS.contains(&key.as_str()));
        }
    }
}

/// A ceiling may name any of the limits, and may be lower than the minimum of a limit.
fn relax_ceiling(schema: &mut Value) {
    forget_required(schema);
    let Some(map) = schema.as_object_mut() else { return };
    map.remove("minimum");
    let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) else { return };
    // A choice among words has no order.
    properties.retain(|_, property| property["enum"].is_null());
    for property in properties {
        relax_ceiling(property.1);
    }
}

fn forget_required(schema: &mut Value) {
    if let Some(map) = schema.as_object_mut() {
        map.remove("required");
    }
    schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten().for_each(forget_required);
    for property in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        forget_required(property.1);
    }
    schema.get_mut("additionalProperties").into_iter().for_each(forget_required);
}

/// The schema of a value without the alternative `null` of an optional key.
pub(crate) fn without_null(schema: &Value) -> &Value {
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    alternatives.and_then(|list| list.iter().find(|one| one["type"] != "null")).unwrap_or(schema)
}

/// The text of `configs/schema.json`: the types, with the defaults of `defaults` added to the keys.
pub fn schema_json(defaults: &Value) -> String {
    let mut schema = complete().clone();
    for_one_file(&mut schema, Some(defaults));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("$extends".into(), extends_property());
        properties.insert(
            "$schema".into(),
            json!({"type": "string", "description": "For editors; not read.", "x-level": "operator"}),
        );
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a JSON value can be written: it has string keys only");
    text.push('\n');
    text
}

fn extends_property() -> Value {
    json!({
        "type": "string",
        "description": "The configuration that this one builds on: `defaults` or another job type. \
                        Objects merge, arrays and scalars replace, `null` removes.",
        "x-level": "operator"
    })
}

/// Converts the schema of a complete configuration to that of a single file.
fn for_one_file(schema: &mut Value, default: Option<&Value>) {
    forget_required(schema);
    if let Some(entry) = schema.get_mut("additionalProperties").filter(|entry| entry.is_object()) {
        for_one_file(entry, None);
        allow_null(entry);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, property) in properties {
        let default = default.and_then(|default| default.get(key));
        allow_null(property);
        for_one_file(nested(property), default);
        if let (Some(value), Some(map)) = (default.filter(|value| !value.is_object()), property.as_object_mut()) {
            map.insert("default".into(), value.clone());
        }
    }
}

fn nested(schema: &mut Value) -> &mut Value {
    if schema.get("anyOf").is_none() {
        return schema;
    }
    &mut schema["anyOf"][0]
}

fn allow_null(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    if let Some(Value::Array(alternatives)) = map.get_mut("anyOf") {
        if !alternatives.iter().any(|one| one["type"] == "null") {
            alternatives.push(json!({"type": "null"}));
        }
        return;
    }
    if let Some(Value::String(name)) = map.get("type").cloned() {
        map.insert("type".into(), json!([name, "null"]));
    }
    allow_null_in_enum(map);
}

fn allow_null_in_enum(map: &mut Map<String, Value>) {
    if let Some(Value::Array(words)) = map.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
}
