//! `configs/schema.json` is generated from the types.

use plumbline_config::{ConfigRegistry, schema_json};
use std::{fs, path::Path};

#[test]
fn the_committed_schema_is_the_one_the_types_give() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/schema.json");
    let expected = schema_json(&ConfigRegistry::embedded().defaults().unwrap());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "configs/schema.json is out of date: run the test with UPDATE=1 and commit the file"
    );
}

#[test]
fn the_schema_describes_keys_with_bounds_defaults_and_null() {
    let schema: serde_json::Value =
        serde_json::from_str(&schema_json(&ConfigRegistry::embedded().defaults().unwrap())).unwrap();
    let iterations = &schema["properties"]["limits"]["properties"]["max_iterations"];
    assert_eq!(iterations["default"], 1000);
    assert_eq!(iterations["minimum"], 1);
    assert_eq!(iterations["type"], serde_json::json!(["integer", "null"]));
    assert!(iterations["description"].as_str().unwrap().contains("model calls"));
    assert!(schema["properties"].get("$extends").is_some());
    let mut file = schema.clone();
    // Entries of lists are complete.
    file["properties"].as_object_mut().unwrap().remove("deliverables");
    file["properties"]["llm"]["properties"].as_object_mut().unwrap().remove("fallback");
    assert!(!file.to_string().contains("\"required\":["), "a file may leave anything out");
}
