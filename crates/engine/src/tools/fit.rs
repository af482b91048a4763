//! Converts arguments to the types of a tool's schema. Some servers send lists, objects and numbers within arguments as
//! strings; that is fixed once, when the answer arrives, for all tools.

use serde_json::{Map, Number, Value};

/// Maximum depth; deeper values are unchanged, and the schema refuses them.
const DEEPEST: usize = 32;

/// Converts values that are equivalent to what the schema requires: a string that parses as the required type, if no
/// string is allowed; a single item in place of a list; an integer written with a zero fraction; an empty string for an
/// omitted value; an enum word in another case. Other strings are unchanged where strings are allowed. Returns whether
/// anything has changed.
pub(crate) fn fit(value: &mut Value, schema: &Value) -> bool {
    fit_at(value, schema, DEEPEST)
}

fn fit_at(value: &mut Value, schema: &Value, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    let Some(schema) = branch(value, schema) else { return false };
    let is_changed = match accepts(schema, value) {
        true => in_the_case_of(value, schema),
        false => normalize_arguments(value, schema),
    };
    let of_parts = match value {
        Value::Object(fields) => fit_fields(fields, schema, levels),
        Value::Array(items) => match schema.get("items") {
            Some(of_items) => items.iter_mut().fold(false, |changed, item| fit_at(item, of_items, levels) | changed),
            None => false,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    is_changed | of_parts
}

fn fit_fields(fields: &mut Map<String, Value>, schema: &Value, levels: usize) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
    let count = fields.len();
    let is_blank = |field: &Value| field.as_str().is_some_and(|text| text.trim().is_empty());
    // Some models send an empty text in place of a number or a list that they omit.
    fields.retain(|name, field| {
        properties
            .get(name)
            .is_none_or(|wanted| !is_blank(field) || branch(field, wanted).is_some_and(|it| accepts(it, field)))
    });
    let mut is_changed = fields.len() < count;
    for (name, field) in fields.iter_mut() {
        if let Some(wanted) = properties.get(name) {
            is_changed |= fit_at(field, wanted, levels);
        }
    }
    is_changed
}

/// The schema that applies to a value: of several, the first that accepts it unchanged, otherwise the first that it can
/// be converted for.
fn branch<'s>(value: &Value, schema: &'s Value) -> Option<&'s Value> {
    let branches = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key).and_then(Value::as_array));
    let Some(branches) = branches.filter(|_| schema.get("type").is_none()) else { return Some(schema) };
    let can_be_put_right = |branch: &&Value| {
        let mut tried = value.clone();
        normalize_arguments(&mut tried, branch);
        accepts(branch, &tried)
    };
    branches.iter().find(|branch| accepts(branch, value)).or_else(|| branches.iter().find(can_be_put_right))
}

/// Whether a schema accepts values of this JSON type; one without a type accepts any.
fn accepts(schema: &Value, value: &Value) -> bool {
    let is = |kind: &str| match (kind, value) {
        ("integer", Value::Number(number)) => !number.is_f64(),
        ("number", Value::Number(_))
        | ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        _ => false,
    };
    match schema.get("type") {
        Some(Value::String(kind)) => is(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn normalize_arguments(value: &mut Value, schema: &Value) -> bool {
    let fitting = match value {
        Value::String(text) => parsed(text, schema).or_else(|| listed(value, schema)),
        Value::Number(number) => whole(number).filter(|whole| accepts(schema, whole)).or_else(|| listed(value, schema)),
        Value::Object(_) | Value::Bool(_) => listed(value, schema),
        Value::Null | Value::Array(_) => None,
    };
    let is_changed = fitting.is_some();
    if let Some(fitting) = fitting {
        *value = fitting;
    }
    is_changed
}

/// An enum word of a schema, in another case.
fn in_the_case_of(value: &mut Value, schema: &Value) -> bool {
    let (Some(text), Some(listed)) = (value.as_str().map(str::trim), schema.get("enum").and_then(Value::as_array))
    else {
        return false;
    };
    let is_it = |word: &&Value| word.as_str().is_some_and(|word| word != text && word.eq_ignore_ascii_case(text));
    let found = listed.iter().find(is_it).filter(|_| !listed.contains(value)).cloned();
    let is_changed = found.is_some();
    if let Some(word) = found {
        *value = word;
    }
    is_changed
}

/// The value that a string contains, if it has the required type.
fn parsed(text: &str, schema: &Value) -> Option<Value> {
    let said: Value = serde_json::from_str(text.trim()).ok()?;
    let said = match &said {
        Value::Number(number) if !accepts(schema, &said) => whole(number)?,
        _ => said,
    };
    (!said.is_string() && !said.is_null() && accepts(schema, &said)).then_some(said)
}

/// A single item as the required list, if the list's items are of its type.
fn listed(value: &Value, schema: &Value) -> Option<Value> {
    let items = schema.get("items")?;
    let list = Value::Array(vec![value.clone()]);
    (accepts(schema, &list) && accepts(items, value)).then_some(list)
}

/// `3.0` as 3.
fn whole(number: &Number) -> Option<Value> {
    let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15)?;
    Some(Value::from(number as i64))
}

#[cfg(test)]
mod tests {
    use super::fit;
    use serde_json::{Value, json};

    fn fitted(mut value: Value, schema: &Value) -> Value {
        fit(&mut value, schema);
        value
    }

    #[test]
    fn what_means_the_same_is_taken_and_anything_else_stays() {
        let todos = json!({"type": "object", "properties": {
            "phase": {"type": "string"},
            "todos": {"type": "array", "items": {"type": "object", "properties": {
                "id": {"type": "integer"}, "content": {"type": "string"}}}},
            "names": {"type": "array", "items": {"type": "string"}},
            "offset": {"type": "integer"}, "share": {"type": "number"}, "append": {"type": "boolean"},
            "level": {"type": "string", "enum": ["high", "low"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}}});
        for (given, expected) in [
            (json!({"todos": "[{\"id\": \"1\", \"content\": \"7\"}]"}), json!({"todos": [{"id": 1, "content": "7"}]})),
            (json!({"todos": {"id": 1.0, "content": "a"}}), json!({"todos": [{"id": 1, "content": "a"}]})),
            (json!({"todos": ["{\"id\": 2}"]}), json!({"todos": [{"id": 2}]})),
            (
                json!({"offset": "1", "share": "0.5", "append": "true"}),
                json!({"offset": 1, "share": 0.5, "append": true}),
            ),
            (json!({"offset": 5.0}), json!({"offset": 5})),
            (json!({"level": " HIGH"}), json!({"level": "high"})),
            (json!({"level": "urgent"}), json!({"level": "urgent"})),
            (json!({"offset": ""}), json!({})),
            (json!({"names": "one"}), json!({"names": ["one"]})),
            (json!({"names": "[\"one\", \"two\"]"}), json!({"names": ["one", "two"]})),
            (json!({"either": "3"}), json!({"either": 3})),
            (json!({"either": "[3, 4]"}), json!({"either": [3, 4]})),
            // A string where strings are allowed is unchanged.
            (json!({"phase": "[1]"}), json!({"phase": "[1]"})),
            (json!({"phase": ""}), json!({"phase": ""})),
            (json!({"offset": "soon"}), json!({"offset": "soon"})),
            (json!({"offset": 1.5}), json!({"offset": 1.5})),
            (json!({"append": "yes"}), json!({"append": "yes"})),
            (json!({"unknown": "[1]"}), json!({"unknown": "[1]"})),
        ] {
            assert_eq!(fitted(given.clone(), &todos), expected, "{given}");
        }
    }

    #[test]
    fn depth_has_a_bound() {
        let mut schema = json!({"type": "array"});
        let mut value = json!("1");
        for _ in 0..200 {
            schema = json!({"type": "array", "items": schema});
            value = json!([value]);
        }
        assert_eq!(fitted(value.clone(), &schema), value);
    }
}
