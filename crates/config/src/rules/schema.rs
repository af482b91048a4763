//! The JSON Schema of a configuration, derived from the types of its keys.
//!
//! Two forms: [`complete`] describes a whole configuration, including every required key, and is used by the loader.
//! [`schema_json`] is `configs/schema.json`, for editors: it describes one file, which may omit any key that it
//! inherits and may remove keys with `null`.

use super::level::Level;
use crate::JobConfig;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static COMPLETE: LazyLock<Value> = LazyLock::new(|| {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    generator.into_root_schema_for::<JobConfig>().to_value()
});

/// The schema of a whole configuration.
pub(crate) fn complete() -> &'static Value {
    &COMPLETE
}

/// The schema of a value without the alternative `null` of an optional key.
pub(crate) fn without_null(schema: &Value) -> &Value {
    alternatives(schema).into_iter().find(|one| one["type"] != "null").unwrap_or(schema)
}

/// The alternatives of a value; an optional key whose value has alternatives is itself one of two.
pub(crate) fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array() {
        Some(list) => list.iter().flat_map(alternatives).collect(),
        None => vec![schema],
    }
}

/// The text of `configs/schema.json`: the types, with the defaults of `defaults` added to the keys.
pub fn schema_json(defaults: &Value) -> String {
    let mut schema = complete().clone();
    for_one_file(&mut schema, Some(defaults), Level::Operator);
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

/// Converts the schema of a complete configuration to that of a single file, with the level of each key.
fn for_one_file(schema: &mut Value, default: Option<&Value>, above: Level) {
    schema.as_object_mut().and_then(|map| map.remove("required"));
    if let Some(entry) = schema.get_mut("additionalProperties").filter(|entry| entry.is_object()) {
        for_one_file(entry, None, above);
        allow_null(entry);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, property) in properties {
        let default = default.and_then(|default| default.get(key));
        let level = Level::of(property, above);
        property["x-level"] = level.as_str().into();
        allow_null(property);
        for_one_file(nested(property), default, level);
        if let (Some(value), Some(map)) = (default.filter(|value| !value.is_object()), property.as_object_mut()) {
            map.insert("default".into(), value.clone());
        }
    }
}

fn nested(schema: &mut Value) -> &mut Value {
    match schema.get("anyOf").is_some() {
        true => nested(&mut schema["anyOf"][0]),
        false => schema,
    }
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
