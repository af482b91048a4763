//! Validates arguments against their schema, with errors that a model can act on.

use crate::error::ToolError;
use crate::schemas::{BoundedSchema, SchemaBudget};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use plumbline_engine::beginning;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum faults named in one answer.
const MAX_FAULTS: usize = 4;
/// Maximum characters of an invalid value that are repeated.
const MAX_SHOWN: usize = 60;

/// The schema against which a tool's arguments are validated.
pub(crate) struct ArgumentsSchema {
    schema: Value,
    held: Compiled,
}

/// A compiled schema.
enum Compiled {
    /// A schema of the program.
    Own(Box<Validator>),
    /// A schema by an operator or a server: its cost is bounded.
    Foreign(Box<BoundedSchema>),
}

impl ArgumentsSchema {
    /// Compiles a schema of the program.
    pub(crate) fn new(schema: Value) -> Self {
        let validator = crate::schemas::of_tool(&schema);
        Self { schema, held: Compiled::Own(Box::new(validator)) }
    }

    /// Compiles a schema that is known only at run time.
    ///
    /// # Errors
    /// Why it is not a valid schema, or which bound it exceeds.
    pub(crate) fn foreign(schema: Value, budget: &mut SchemaBudget) -> Result<Self, String> {
        let held = BoundedSchema::new(&schema, budget)?;
        Ok(Self { schema, held: Compiled::Foreign(Box::new(held)) })
    }

    /// The original schema.
    pub(crate) fn value(&self) -> &Value {
        &self.schema
    }

    /// Parses the text of a call's arguments as an object and validates it. Null members count as omitted, which is
    /// what models mean by them; a foreign schema that accepts them gets them unchanged.
    pub(crate) fn read(&self, text: &str) -> Result<Value, ToolError> {
        if let Compiled::Foreign(schema) = &self.held
            && !schema.takes_call(text.as_bytes())
        {
            return Err(ToolError::refused(
                "the arguments are too large to be held against their schema; send less at once",
            ));
        }
        let mut arguments: Value = serde_json::from_str(text).map_err(|error| {
            ToolError::refused(format!("the arguments are not valid JSON ({error}); send one JSON object"))
        })?;
        if !matches!(&self.held, Compiled::Foreign(schema) if schema.is_valid(&arguments)) {
            drop_nulls(&mut arguments);
        }
        self.check(text, &arguments)?;
        Ok(arguments)
    }

    fn check(&self, text: &str, arguments: &Value) -> Result<(), ToolError> {
        if contains_nul(arguments) {
            return Err(ToolError::refused(
                "the arguments contain a NUL character, which no text may have; leave it out",
            ));
        }
        let all: Box<dyn Iterator<Item = ValidationError<'_>>> = match &self.held {
            Compiled::Own(validator) => Box::new(validator.iter_errors(arguments)),
            Compiled::Foreign(schema) => match schema.errors(text.as_bytes(), arguments) {
                Some(errors) => errors.named,
                None => {
                    return Err(ToolError::refused("the arguments do not fit, with too many values to say where"));
                }
            },
        };
        let faults: Vec<String> = all.take(MAX_FAULTS).map(|error| fault(&error, &self.schema)).collect();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(ToolError::refused(format!("the arguments do not fit: {}", faults.join("; ")))),
        }
    }
}

/// Deserializes validated arguments into a tool's own type.
pub(crate) fn decode<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::refused(format!("the arguments do not fit: {error}")))
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn contains_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(contains_nul),
        Value::Object(members) => members.iter().any(|(key, member)| key.contains('\0') || contains_nul(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn fault(error: &ValidationError<'_>, schema: &Value) -> String {
    let place = place(&error.instance_path().to_string());
    let value = shown(error.instance());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or("a member");
            let expected = schema.pointer(&format!("/properties/{name}/description")).and_then(Value::as_str);
            format!(
                "{} is missing{}",
                member(&place, name),
                expected.map(|text| format!(" ({text})")).unwrap_or_default()
            )
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => unknown(&place, unexpected, error, schema),
        ValidationErrorKind::Type { kind } => format!("{place} is {value}, expected {}", types(kind)),
        ValidationErrorKind::Enum { options } => format!("{place} is {value}, expected one of {}", listed(options)),
        ValidationErrorKind::MinLength { limit } => format!("{place} must have at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => {
            let has = error.instance().as_str().map_or(0, |text| text.chars().count());
            format!("{place} has {has} characters, at most {limit} are allowed")
        }
        ValidationErrorKind::Minimum { limit } => format!("{place} is {value}, expected at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{place} is {value}, expected at most {limit}"),
        _ => match described(error, schema) {
            Some(expected) => format!("{place} is {value}, expected {expected}"),
            None => format!("{place}: {}", error.masked()),
        },
    }
}

/// The schema author's description of the place that failed, for keywords without a better sentence (`anyOf`,
/// `pattern`).
fn described(error: &ValidationError<'_>, schema: &Value) -> Option<String> {
    let path = error.schema_path().to_string();
    let (holder, _keyword) = path.rsplit_once('/')?;
    let text = schema.pointer(holder)?.get("description")?.as_str()?;
    Some(text.trim_end_matches('.').to_string())
}

fn unknown(place: &str, unexpected: &[String], error: &ValidationError<'_>, schema: &Value) -> String {
    let path = error.schema_path().to_string();
    let holder = path.rsplit_once('/').map_or("", |(holder, _)| holder);
    let known: Vec<&str> = schema
        .pointer(holder)
        .and_then(|holder| holder.get("properties"))
        .and_then(Value::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let names: Vec<String> = unexpected.iter().map(|name| member(place, name)).collect();
    format!("{} is not a parameter, known are {}", names.join(", "), known.join(", "))
}

/// Formats `/citations/0/page` as `citations[0].page`.
fn place(pointer: &str) -> String {
    let mut out = String::new();
    for part in pointer.split('/').skip(1) {
        match part.parse::<usize>() {
            Ok(index) => out.push_str(&format!("[{index}]")),
            Err(_) if out.is_empty() => out.push_str(part),
            Err(_) => out.push_str(&format!(".{part}")),
        }
    }
    if out.is_empty() { "the whole".to_string() } else { format!("`{out}`") }
}

fn member(place: &str, name: &str) -> String {
    match place {
        "the whole" => format!("`{name}`"),
        place => format!("`{}.{name}`", place.trim_matches('`')),
    }
}

fn shown(value: &Value) -> String {
    beginning(&value.to_string(), MAX_SHOWN)
}

fn listed(options: &Value) -> String {
    let items = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<String> =
        items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_string)).collect();
    names.join(", ")
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(arguments: &str, expected: Result<Value, &str>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Workspace path."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 10},
                "mode": {"type": "string", "enum": ["text", "regex"]},
                "name": {"type": "string", "maxLength": 3},
                "items": {"type": "array", "items": {"description": "an id or an object.", "anyOf": [
                    {"type": "string", "pattern": "^cit_"},
                    {"type": "object", "properties": {"page": {"type": "integer"}}, "additionalProperties": false}
                ]}}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let read = ArgumentsSchema::new(schema).read(arguments).map_err(|error| error.to_string());
        assert_eq!(read, expected.map_err(str::to_string), "{arguments}");
    }

    #[test]
    fn lesson_58_errors_say_what_was_expected_and_where() {
        check(r#"{"path":"a","limit":null,"items":[{"page":null}]}"#, Ok(json!({"path": "a", "items": [{}]})));
        check(
            "{",
            Err(
                "the arguments are not valid JSON (EOF while parsing an object at line 1 column 1); send one JSON object",
            ),
        );
        check("[]", Err("the arguments do not fit: the whole is [], expected object"));
        check("{}", Err("the arguments do not fit: `path` is missing (Workspace path.)"));
        check(r#"{"path":1}"#, Err("the arguments do not fit: `path` is 1, expected string"));
        check(
            r#"{"path":"a","mode":"fuzzy"}"#,
            Err("the arguments do not fit: `mode` is \"fuzzy\", expected one of text, regex"),
        );
        check(r#"{"path":"a","limit":0}"#, Err("the arguments do not fit: `limit` is 0, expected at least 1"));
        check(r#"{"path":"a","limit":11}"#, Err("the arguments do not fit: `limit` is 11, expected at most 10"));
        check(
            r#"{"path":"a","name":"wxyz"}"#,
            Err("the arguments do not fit: `name` has 4 characters, at most 3 are allowed"),
        );
        check(
            r#"{"path":"a","file":"b"}"#,
            Err("the arguments do not fit: `file` is not a parameter, known are items, limit, mode, name, path"),
        );
        check(
            r#"{"path":"a","items":["x"]}"#,
            Err("the arguments do not fit: `items[0]` is \"x\", expected an id or an object"),
        );
        check(
            "{\"path\":\"a\\u0000\"}",
            Err("the arguments contain a NUL character, which no text may have; leave it out"),
        );
    }
}
