//! The merge of configuration layers: objects merge, arrays and scalars replace, `null` removes.

use serde_json::Value;

/// Merges `over` over `value`.
pub(crate) fn merge(value: &mut Value, over: &Value) {
    merge_onto(value, over, &Value::Null);
}

/// A section with a part of it merged over it, if there is one.
pub(crate) fn overlaid(section: &Value, part: &Value) -> Value {
    let mut whole = section.clone();
    if part.is_object() {
        merge(&mut whole, part);
    }
    whole
}

/// As [`merge`], but a `null` resets an object to its value in `origin`, and a list that is there to the empty one.
pub(crate) fn merge_onto(value: &mut Value, over: &Value, origin: &Value) {
    match (value, over) {
        (Value::Object(value), Value::Object(over)) => {
            for (key, over) in over {
                let origin = &origin[key];
                match (over, origin) {
                    (Value::Null, Value::Object(_)) => drop(value.insert(key.clone(), origin.clone())),
                    (Value::Null, Value::Array(_)) => drop(value.insert(key.clone(), Value::Array(Vec::new()))),
                    (Value::Null, _) => drop(value.remove(key)),
                    _ => merge_onto(value.entry(key.clone()).or_insert(Value::Null), over, origin),
                }
            }
        }
        (value, over) => *value = without_nulls(over),
    }
}

/// A `null` has nothing to remove in a new object, so it is omitted there.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{merge, merge_onto};
    use serde_json::{Value, json};

    fn check(base: Value, over: Value, expected: Value) {
        let mut merged = base.clone();
        merge(&mut merged, &over);
        assert_eq!(merged, expected, "{over} over {base}");
    }

    #[test]
    fn objects_merge_others_replace_and_null_removes() {
        check(json!({"a": {"b": 1, "c": 2}}), json!({"a": {"c": 3}}), json!({"a": {"b": 1, "c": 3}}));
        check(json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]}));
        check(json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2}));
        check(json!({"a": 1}), json!({"a": {"b": 2}}), json!({"a": {"b": 2}}));
        check(json!({}), json!({"a": {"b": null, "c": 1}}), json!({"a": {"c": 1}}));
        check(json!({"a": {"b": 1}}), json!({"a": 5}), json!({"a": 5}));
    }

    #[test]
    fn null_resets_what_the_origin_has() {
        let origin = json!({"a": {"b": 1}, "c": [1], "d": 1});
        let mut value = json!({"a": {"b": 2, "e": 3}, "c": [2], "d": 2, "f": {"g": 1}});
        merge_onto(&mut value, &json!({"a": null, "c": null, "d": null, "f": null}), &origin);
        assert_eq!(value, json!({"a": {"b": 1}, "c": []}));
    }
}
