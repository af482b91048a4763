//! Unknown keywords in the JSON Schema of a deliverable: a validator ignores them, so they check nothing.

use plumbline_engine::nearest;
use serde_json::Value;

/// Keywords whose value is not a schema, of drafts 4 to 2020-12 together.
const PLAIN: [&str; 47] = [
    "$schema",
    "$id",
    "id",
    "$ref",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
    "$comment",
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "title",
    "description",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "examples",
    "format",
    "contentEncoding",
    "contentMediaType",
    "$defs",
    "definitions",
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];
/// Of these, the ones whose value has a schema for each name.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords whose value is a schema, or a list of them.
const SCHEMAS: [&str; 16] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "prefixItems",
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// A half-sentence for each, which begins with "with".
pub(crate) fn unknown_keywords(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, "", &mut found);
    found
}

fn collect(schema: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(list) = schema.as_array() {
        list.iter().enumerate().for_each(|(at, one)| collect(one, &format!("{place}/{at}"), found));
    }
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let below = format!("{place}/{keyword}");
        if NAMED.contains(&keyword.as_str()) {
            value
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, one)| collect(one, &format!("{below}/{name}"), found));
        } else if SCHEMAS.contains(&keyword.as_str()) {
            collect(value, &below, found);
        } else if !PLAIN.contains(&keyword.as_str()) && !keyword.starts_with("x-") {
            found.push(format!(
                "the keyword `{below}`, which JSON Schema does not have and which checks nothing; {}",
                advice(keyword)
            ));
        }
    }
}

fn advice(keyword: &str) -> String {
    match nearest(keyword, PLAIN.into_iter().chain(SCHEMAS)).first() {
        Some(known) => format!("did you mean `{known}`?"),
        None => "take it out, or begin it with `x-` if it is a remark".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::unknown_keywords;
    use serde_json::json;

    #[test]
    fn keywords_that_check_nothing_are_found_in_place() {
        let schema = json!({
            "$defs": {"requred": {"type": "string"}}, "requred": ["answers"], "x-owner": "records",
            "properties": {"minLenght": {"minLenght": 3, "enum": [{"anything": 1}]}},
            "items": [{"if": {"frobnicate": 1}}]
        });
        let found = unknown_keywords(&schema);
        assert_eq!(found.len(), 3, "{found:#?}");
        for words in [
            "`/requred`, ",
            "did you mean `required`?",
            "`/properties/minLenght/minLenght`",
            "did you mean `minLength`?",
            "`/items/0/if/frobnicate`",
            "begin it with `x-`",
        ] {
            assert!(found.iter().any(|one| one.contains(words)), "{words}: {found:#?}");
        }
    }
}
