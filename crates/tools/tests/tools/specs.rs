//! The tools' descriptions for the model.
use plumbline_engine::{Handler, Replay, ToolSpec};
use plumbline_tools::catalog;
use std::collections::BTreeSet;

#[test]
fn names_are_unique() {
    let tools: Vec<ToolSpec> = catalog().into_iter().chain(plumbline_engine::tools::specs()).collect();
    let names: BTreeSet<&str> = tools.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names.len(), tools.len());
}

#[allow(clippy::disallowed_methods, reason = "a schema of the program or of a provider")]
#[test]
fn every_spec_is_complete_and_short() {
    for spec in catalog() {
        let name = spec.name.as_str();
        let sentences = spec.description.matches(". ").count() + 1;
        assert!(sentences <= 2, "{name}: {}", spec.description);
        assert_eq!(spec.parameters["type"], "object", "{name}");
        jsonschema::validator_for(&spec.parameters).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_ne!(spec.handler, Handler::Engine, "{name}");
        let replay = match name {
            "next_requirement" | "judge_requirements" | "integrate_requirement" => Replay::Keyed,
            "execute_cypher_query" => Replay::Unsafe,
            _ => Replay::Safe,
        };
        assert_eq!(spec.replay, replay, "{name}");
        assert!(
            spec.documentation.starts_with("# ")
                && (spec.documentation.contains("Example: `{") || spec.documentation.contains("Examples: `{")),
            "{name}"
        );
        let known: BTreeSet<&String> = spec.parameters["properties"].as_object().unwrap().keys().collect();
        for property in known {
            assert!(spec.documentation.contains(&format!("`{property}`")), "{name} does not document {property}");
        }
    }
}

#[test]
fn every_argument_has_its_row_in_the_documentation() {
    // The second name of a tool refers to the first.
    let others = |spec: &ToolSpec| spec.name != "write_requirement_to_db";
    for spec in catalog().into_iter().chain(plumbline_engine::tools::specs()).filter(others) {
        for argument in spec.parameters["properties"].as_object().unwrap().keys() {
            let named = format!("`{argument}`");
            let mut rows = spec.documentation.lines().filter(|line| line.starts_with("| `"));
            assert!(rows.any(|row| row.contains(&named)), "{}: {named}\n{}", spec.name, spec.documentation);
        }
    }
}

/// llama.cpp's grammars support no `\\d` and no formats, Google's schemas no integer enums, no `required` without its
/// property, no array without items and no `allOf`, Moonshot's no `$ref` beside others and no items by position.
#[test]
fn q40_q41_q42_schemas_are_within_what_every_provider_takes() {
    let tools = catalog().into_iter().chain(plumbline_engine::tools::specs());
    tools.for_each(|spec| holds_to_the_common_subset(&spec.name, &spec.parameters));
}

fn holds_to_the_common_subset(name: &str, schema: &serde_json::Value) {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    assert!(!pattern.contains('\\'), "{name} has a pattern with a class: {pattern}");
    for key in ["format", "allOf", "$ref", "prefixItems"] {
        assert!(schema.get(key).is_none(), "{name} uses `{key}`: {schema}");
    }
    let values = schema["enum"].as_array().into_iter().flatten();
    assert!(values.into_iter().all(serde_json::Value::is_string), "{name}: {schema}");
    assert!(schema["type"] != "array" || schema["items"].is_object(), "{name} has an array without items: {schema}");
    let properties = schema["properties"].as_object();
    for required in schema["required"].as_array().into_iter().flatten() {
        let is_known = properties.is_some_and(|known| known.contains_key(required.as_str().unwrap()));
        assert!(is_known, "{name} requires {required}, which is no property");
    }
    let choices = schema["anyOf"].as_array().into_iter().chain(schema["oneOf"].as_array()).flatten();
    let parts = properties.into_iter().flat_map(|known| known.values()).chain(schema.get("items")).chain(choices);
    parts.for_each(|part| holds_to_the_common_subset(name, part));
}

#[test]
fn lesson_19_the_definitions_stay_small() {
    let size = |specs: &[ToolSpec]| {
        let texts = specs.iter().map(|spec| format!("{} {} {}", spec.name, spec.description, spec.parameters));
        plumbline_tokens::count(&texts.collect::<String>())
    };
    let all = catalog();
    // No job type has both: the tools before this index are the creator's, those from it on the validator's.
    let at = all.iter().position(|spec| spec.name == "next_requirement").unwrap();
    let (creator, validator) = (size(&all[..at]), size(&all[at..]));
    assert!(creator < 2750 && validator < 900, "{creator} and {validator} tokens");
}
