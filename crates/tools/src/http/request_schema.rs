//! The schema of a foreign tool in requests. Providers reject some valid JSON Schema: references, alternatives at the
//! top level, formats and patterns that their grammars do not support. The schema is rewritten only for the request;
//! arguments are validated against the original.

use super::unfit::Unfit;
use crate::schemas::{DESCENDING, PASSED_OVER};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

/// Maximum bytes of a schema, both as written and with its references resolved.
pub(super) const MOST_BYTES: usize = 32 << 10;
/// Maximum nesting of values.
pub(super) const MOST_LEVELS: usize = 10;

/// Keywords that are useless to a model, or that some provider rejects: llama.cpp's grammars support no `format` and
/// few patterns.
const LEFT_OUT: [&str; 9] =
    ["$schema", "$id", "id", "$comment", "$defs", "definitions", "format", "pattern", "$vocabulary"];
/// Keywords that contain a schema per name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// The schema for requests.
pub(super) fn for_requests(schema: &Value) -> Result<Value, Unfit> {
    let bytes = schema.to_string().len();
    if bytes > MOST_BYTES {
        return Err(Unfit::LeftOut(format!("has {bytes} bytes, more than {} KiB", MOST_BYTES >> 10)));
    }
    let mut writing = Writing { root: schema, open: Vec::new(), room: MOST_BYTES };
    let mut written = writing.schema(schema, 1).map_err(Unfit::LeftOut)?;
    if !describes_object(&written) {
        return Err(Unfit::Broken("must describe an object: give it `\"type\": \"object\"`".to_owned()));
    }
    flatten(&mut written);
    let bytes = written.to_string().len();
    match bytes > MOST_BYTES {
        true => Err(Unfit::LeftOut(too_large())),
        false => Ok(written),
    }
}

/// Whether a schema with its references resolved describes an object: by its type, or without one by its properties or
/// its parts.
fn describes_object(schema: &Value) -> bool {
    let parts = |keyword: &str| schema[keyword].as_array().filter(|parts| !parts.is_empty());
    let is_choice = |keyword: &str| parts(keyword).is_some_and(|parts| parts.iter().all(describes_object));
    match &schema["type"] {
        Value::Null => {
            schema["properties"].is_object()
                || is_choice("oneOf")
                || is_choice("anyOf")
                || parts("allOf").is_some_and(|parts| parts.iter().any(describes_object))
        }
        kind => kind == "object",
    }
}

fn too_large() -> String {
    format!("has more than {} KiB with its references followed", MOST_BYTES >> 10)
}

struct Writing<'s> {
    root: &'s Value,
    /// The references being resolved.
    open: Vec<&'s str>,
    /// How many more values may be written: each takes at least a byte.
    room: usize,
}

impl<'s> Writing<'s> {
    /// `level` is the nesting depth of the value that this schema describes, including itself.
    fn schema(&mut self, schema: &'s Value, level: usize) -> Result<Value, String> {
        self.room = self.room.checked_sub(1).ok_or_else(too_large)?;
        if level > MOST_LEVELS {
            return Err(format!("describes values in more than {MOST_LEVELS} levels"));
        }
        match schema {
            Value::Object(fields) => self.fields(fields, level).map(Value::Object),
            Value::Array(items) => items.iter().map(|item| self.schema(item, level)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(schema.clone()),
        }
    }

    fn fields(&mut self, fields: &'s Map<String, Value>, level: usize) -> Result<Map<String, Value>, String> {
        let mut written = match fields.get("$ref") {
            Some(Value::String(to)) => self.led_to(to, level)?,
            _ => Map::new(),
        };
        for (key, value) in fields.iter().filter(|(key, _)| *key != "$ref" && !LEFT_OUT.contains(&key.as_str())) {
            let key = key.as_str();
            let below = level + usize::from(DESCENDING.contains(&key));
            let value = match value {
                Value::Object(named) if NAMED.contains(&key) => self.named(named, below)?,
                value if PASSED_OVER.contains(&key) || !(value.is_object() || value.is_array()) => value.clone(),
                value => self.schema(value, below)?,
            };
            written.insert(key.to_owned(), value);
        }
        put_right(&mut written);
        Ok(written)
    }

    fn named(&mut self, named: &'s Map<String, Value>, level: usize) -> Result<Value, String> {
        let each = |(name, schema): (&'s String, &'s Value)| Ok((name.clone(), self.schema(schema, level)?));
        named.iter().map(each).collect::<Result<Map<String, Value>, String>>().map(Value::Object)
    }

    fn led_to(&mut self, to: &'s str, level: usize) -> Result<Map<String, Value>, String> {
        if self.open.contains(&to) {
            return Err("refers to itself".to_owned());
        }
        // A fragment of a URI: names with signs of their own are percent-encoded.
        let pointer = to.strip_prefix('#').and_then(|pointer| percent_decode_str(pointer).decode_utf8().ok());
        let target = pointer.and_then(|pointer| self.root.pointer(&pointer));
        let target = target.ok_or_else(|| "has a `$ref` that leads to no place of it".to_owned())?;
        self.open.push(to);
        let written = self.schema(target, level)?;
        self.open.pop();
        Ok(written.as_object().cloned().unwrap_or_default())
    }
}

/// Gemini rejects required names without a description and arrays without an item type.
fn put_right(schema: &mut Map<String, Value>) {
    if let (Some(Value::Object(known)), Some(Value::Array(_))) = (schema.get("properties"), schema.get("required")) {
        let known: Vec<String> = known.keys().cloned().collect();
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| name.as_str().is_some_and(|name| known.iter().any(|one| one == name)));
        }
    }
    let is_list = schema.get("type").is_some_and(|kind| kind == "array");
    if is_list && !schema.contains_key("items") && !schema.contains_key("prefixItems") {
        schema.insert("items".to_owned(), json!({}));
    }
}

/// Providers accept only an object without alternatives at the top. The result requires what all parts require, and has
/// the properties of any part.
fn flatten(schema: &mut Value) {
    if !schema.is_object() {
        *schema = json!({});
    }
    let Some(top) = schema.as_object_mut() else { return };
    let parts = |top: &mut Map<String, Value>, keyword: &str| match top.remove(keyword) {
        Some(Value::Array(mut parts)) => {
            parts.iter_mut().for_each(flatten);
            parts
        }
        _ => Vec::new(),
    };
    for part in parts(top, "allOf") {
        take_in(top, &part, required_of(&part));
    }
    for keyword in ["oneOf", "anyOf"] {
        let parts = parts(top, keyword);
        let everywhere = |name: &String| parts.iter().all(|part| required_of(part).contains(name));
        let demanded: Vec<String> = parts.first().map(required_of).unwrap_or_default();
        let demanded: Vec<String> = demanded.into_iter().filter(everywhere).collect();
        for part in &parts {
            take_in(top, part, demanded.clone());
        }
    }
    top.insert("type".to_owned(), json!("object"));
    top.entry("properties").or_insert_with(|| json!({}));
}

fn required_of(part: &Value) -> Vec<String> {
    let names = part["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn take_in(top: &mut Map<String, Value>, part: &Value, demanded: Vec<String>) {
    let known = top.entry("properties").or_insert_with(|| json!({}));
    for (name, schema) in part["properties"].as_object().into_iter().flatten() {
        if let Some(known) = known.as_object_mut() {
            known.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
    if demanded.is_empty() {
        return;
    }
    if let Some(required) = top.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        for name in demanded {
            if !required.iter().any(|known| *known == name) {
                required.push(name.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_providers_refuse_is_written_otherwise() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {"money": {"type": "object", "properties": {"amount": {"type": "string", "pattern": "^\\d+$"}}}},
            "type": "object",
            "properties": {
                "to": {"$ref": "#/$defs/money", "description": "Whom"},
                "at": {"type": "string", "format": "date-time"},
                "format": {"type": "string", "enum": ["pattern"]},
                "tags": {"type": "array"}
            },
            "required": ["to", "nowhere"]
        });
        assert_eq!(
            for_requests(&schema),
            Ok(json!({
                "type": "object",
                "properties": {
                    "to": {"type": "object", "properties": {"amount": {"type": "string"}}, "description": "Whom"},
                    "at": {"type": "string"},
                    "format": {"type": "string", "enum": ["pattern"]},
                    "tags": {"type": "array", "items": {}}
                },
                "required": ["to"]
            }))
        );
    }

    #[test]
    fn a_reference_is_a_fragment_of_a_uri() {
        let schema = json!({
            "type": "object",
            "$defs": {"Page<a/b>": {"type": "string"}},
            "properties": {"page": {"$ref": "#/$defs/Page%3Ca~1b%3E"}}
        });
        assert_eq!(
            for_requests(&schema).map(|schema| schema["properties"]["page"].clone()),
            Ok(json!({"type": "string"}))
        );
    }

    #[test]
    fn alternatives_at_the_top_become_one_object() {
        let part = |name: &str| json!({"properties": {name: {"type": "string"}, "id": {"type": "integer"}}, "required": ["id", name]});
        let schema = json!({"allOf": [part("all")], "oneOf": [part("a"), part("b")]});
        assert_eq!(
            for_requests(&schema),
            Ok(json!({
                "type": "object",
                "properties": {
                    "all": {"type": "string"}, "id": {"type": "integer"}, "a": {"type": "string"}, "b": {"type": "string"}
                },
                "required": ["id", "all"]
            }))
        );
    }

    #[test]
    fn a_schema_that_is_large_deep_or_a_circle_is_left_out() {
        let deep = |levels: usize| {
            (1..levels)
                .fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}))
        };
        assert!(for_requests(&deep(MOST_LEVELS)).is_ok());
        let mut defs = Map::new();
        defs.insert("d0".into(), json!({"type": "object"}));
        for n in 1..=30 {
            let before = json!({"$ref": format!("#/$defs/d{}", n - 1)});
            defs.insert(format!("d{n}"), json!({"allOf": [before.clone(), before]}));
        }
        for (schema, why) in [
            (deep(MOST_LEVELS + 1), "levels"),
            (json!({"description": "x".repeat(MOST_BYTES)}), "bytes"),
            (json!({"properties": {"a": {"$ref": "#"}}}), "itself"),
            (json!({"$defs": defs, "$ref": "#/$defs/d30"}), "references"),
            (json!({"$ref": "#/nowhere"}), "no place"),
        ] {
            let refused = for_requests(&schema).expect_err("it is left out");
            assert!(matches!(&refused, Unfit::LeftOut(said) if said.contains(why)), "{why}: {refused:?}");
        }
    }

    #[test]
    fn an_object_is_described_without_its_type_too() {
        let object = json!({"properties": {"id": {"type": "string"}}, "required": ["id"]});
        let other = json!({"type": "object", "properties": {"key": {"type": "string"}}});
        for (schema, names) in [
            (object.clone(), vec!["id"]),
            (json!({"$ref": "#/$defs/by%20id", "$defs": {"by id": object}}), vec!["id"]),
            (json!({"oneOf": [object, other]}), vec!["id", "key"]),
            (json!({"anyOf": [other, {"allOf": [{"description": "either"}, object]}]}), vec!["id", "key"]),
        ] {
            let written = for_requests(&schema).expect("it describes an object");
            let mut known: Vec<&str> =
                written["properties"].as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
            known.sort_unstable();
            assert_eq!((&written["type"], known), (&json!("object"), names), "{schema}");
        }
        for schema in [
            json!({}),
            json!(true),
            json!({"oneOf": []}),
            json!({"oneOf": [object, {"type": "string"}]}),
            json!({"type": "array", "properties": {}}),
            json!({"$ref": "#/$defs/text", "$defs": {"text": {"type": "string"}}}),
        ] {
            assert!(matches!(for_requests(&schema), Err(Unfit::Broken(_))), "{schema}");
        }
    }
}
