//! The merge of configuration layers: objects merge, arrays and scalars replace, `null` removes.

use serde_json::Value;

/// Merges `over` over `base`.
pub(crate) fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                if value.is_null() {
                    base.remove(key);
                } else {
                    merge(base.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (base, over) => *base = without_nulls(over),
    }
}

/// A `null` has nothing to remove in a new object, so it is omitted there.
fn without_nulls(value: &Value) -> Value {
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
    use super::merge;
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
}
