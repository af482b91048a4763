//! The JSON Schema of an enum without data: its words alone.

use schemars::Schema;
use serde_json::Value;

/// Replaces the derived schema of an enum, which has one alternative with a description per variant, by the list of its
/// words. The descriptions are for this project's developers; the key with the enum describes the words for users. An
/// alternative may be such a list itself.
pub fn plain_words(schema: &mut Schema) {
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let words =
        alternatives.flat_map(|one| one["enum"].as_array().cloned().unwrap_or_else(|| vec![one["const"].clone()]));
    let words: Vec<Value> = words.collect();
    *schema = schemars::json_schema!({"type": "string", "enum": words});
}

#[cfg(test)]
mod tests {
    use crate::{FailureClass, HttpMethod};
    use serde_json::{from_value, json};

    #[test]
    fn a_schema_has_the_words_that_are_read() {
        let schema = schemars::schema_for!(FailureClass);
        let words = schema.get("enum").and_then(|words| words.as_array()).expect("a list of words");
        let read: Vec<&str> =
            words.iter().map(|word| from_value::<FailureClass>(word.clone()).expect("it is read").as_str()).collect();
        assert_eq!((json!(read), words.len()), (json!(words), 10));
        assert_eq!(schemars::schema_for!(HttpMethod).get("enum"), Some(&json!(["GET", "POST"])));
    }
}
