//! `configs/REFERENCE.md` is generated from the schema, which is generated from the types.

use plumbline_config::{ConfigRegistry, schema_json};
use serde_json::{Map, Value};
use std::{fmt::Write as _, fs, path::Path};

/// The text before the tables.
const HEAD: &str = "\
# Every key of a configuration

Generated from `schema.json`; never edited. Keys of a section have its name as a prefix. Defaults are those of
`defaults.json`; a key without a default is absent unless set, and its meaning explains what that means. `null` removes a key that an
extended configuration sets.

The level says who may set a key: only the `operator`, in these files and the environment; also a `job` in its row; or a job up to
the value that the operator set (`bounded`).
";

#[test]
fn the_committed_reference_is_the_one_the_schema_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/REFERENCE.md");
    let schema: Value = serde_json::from_str(&schema_json(&ConfigRegistry::embedded().defaults().unwrap())).unwrap();
    let expected = reference(&schema);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "configs/REFERENCE.md is out of date: run the test with UPDATE=1 and commit the file"
    );
}

#[test]
fn the_reference_has_every_key_with_its_bounds() {
    let schema: Value = serde_json::from_str(&schema_json(&ConfigRegistry::embedded().defaults().unwrap())).unwrap();
    let reference = reference(&schema);
    for row in [
        "| `limits.max_iterations` | integer, 1 to 1,000,000,000 | `1000` |",
        "| `autonomy` | `full`, `review` | `full` |",
        "| `connections.neo4j.uri` | string | |",
        "| `coverage` | `documents`, `off` | `off` |",
        "| `llm.prices` | object of `cache_write`, `cached_input`, `input`, `output` or `free` | |",
    ] {
        assert!(reference.contains(row), "{row} is not in:\n{reference}");
    }
    for (part, whole) in PARTS {
        let at = |path: &str| path.split('.').fold(&schema, |schema, key| &schema["properties"][key]);
        assert!(!reference.contains(&format!("| `{part}.")), "a key is described again");
        for (key, property) in properties(at(part)) {
            assert_eq!(property["description"], at(whole)["properties"][&key]["description"], "{part}.{key}");
        }
    }
    assert!(!reference.contains("| anything |"), "a key takes something else:\n{reference}");
    let described = reference.lines().filter(|line| line.starts_with("| `")).all(|line| !line.ends_with("|  |"));
    assert!(described, "a key has no meaning:\n{reference}");
}

fn reference(schema: &Value) -> String {
    let mut text = HEAD.to_owned();
    let keys = properties(schema);
    let (sections, plain): (Vec<_>, Vec<_>) = keys.iter().partition(|(_, key)| !properties(key).is_empty());
    table(&mut text, plain.iter().map(|(name, key)| ((*name).clone(), *key)), schema);
    for (name, section) in sections {
        let _ = write!(text, "\n## {name}\n{}\n", meaning(section));
        if let Some(whole) = part_of(name) {
            let _ = writeln!(
                text,
                "\nIts keys are the {}, without defaults; their level is `{}`.",
                rest(whole, schema, section),
                level(section)
            );
            continue;
        }
        let mut rows = Vec::new();
        leaves(name, section, &mut rows);
        table(&mut text, rows.into_iter(), schema);
    }
    text
}

/// Sections, and objects in them, with keys that another section describes, at the same level if it is theirs.
const PARTS: [(&str, &str); 4] = [
    ("limits_ceiling", "limits"),
    ("llm_by_purpose.strategic", "llm"),
    ("llm_by_purpose.tactical", "llm"),
    ("llm_by_purpose.summary", "llm"),
];

fn part_of(name: &str) -> Option<&'static str> {
    PARTS.into_iter().find(|(part, _)| *part == name).map(|(_, whole)| whole)
}

/// The keys of a section, and those of them that a part does not have.
fn rest(whole: &str, schema: &Value, part: &Value) -> String {
    let has = properties(part);
    let keys = properties(&schema["properties"][whole]);
    let lacks: Vec<String> = keys.keys().filter(|key| !has.contains_key(*key)).map(|key| format!("`{key}`")).collect();
    format!("keys of `{whole}` except {}", lacks.join(", "))
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// The keys below a section, at any depth; one with keys of its own precedes them.
fn leaves<'a>(name: &str, section: &'a Value, rows: &mut Vec<(String, &'a Value)>) {
    for (below, key) in section["properties"].as_object().into_iter().flatten() {
        let name = format!("{name}.{below}");
        rows.push((name.clone(), key));
        if part_of(&name).is_none() {
            leaves(&name, key, rows);
        }
    }
}

fn table<'a>(text: &mut String, rows: impl Iterator<Item = (String, &'a Value)>, schema: &Value) {
    text.push_str("\n| key | type | default | level | meaning |\n|---|---|---|---|---|\n");
    for (name, key) in rows {
        let (kind, level) = match part_of(&name) {
            Some(whole) => (format!("object with {}", rest(whole, schema, key)), "of each key"),
            None => (kind(key), level(key)),
        };
        let _ = writeln!(text, "| `{name}` | {kind} |{} | {level} | {} |", default(key), meaning(key));
    }
}

/// The type in words, with its bounds; for a choice, its words.
fn kind(key: &Value) -> String {
    let choices: Vec<String> = key["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|word| format!("`{word}`"))
        .collect();
    if !choices.is_empty() {
        return choices.join(", ");
    }
    if let Some(alternatives) = key["anyOf"].as_array() {
        return alternatives
            .iter()
            .filter(|one| one["type"] != "null")
            .map(alternative)
            .collect::<Vec<_>>()
            .join(" or ");
    }
    let types = match &key["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => vec!["anything"],
    };
    let mut kind = types.join(" or ");
    if let Some(item) = key["items"]["type"].as_str() {
        let _ = write!(kind, " of {item}s");
    }
    match (number(&key["minimum"]), number(&key["maximum"])) {
        (Some(least), Some(most)) => kind + &format!(", {least} to {most}"),
        (Some(least), None) => kind + &format!(", from {least}"),
        (None, Some(most)) => kind + &format!(", up to {most}"),
        (None, None) => kind,
    }
}

/// One alternative of a key: an object with its keys, or a type.
fn alternative(one: &Value) -> String {
    let keys: Vec<String> = properties(one).keys().map(|name| format!("`{name}`")).collect();
    if keys.is_empty() { kind(one) } else { format!("object of {}", keys.join(", ")) }
}

/// A bound formatted for people: `1,000,000`.
fn number(bound: &Value) -> Option<String> {
    let bound = bound.as_f64()?;
    if bound.fract() != 0.0 || bound.abs() > 1e15 {
        return Some(bound.to_string());
    }
    let digits = format!("{:.0}", bound.abs());
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    Some(format!("{}{}", if bound < 0.0 { "-" } else { "" }, groups.join(",")))
}

/// The default in a cell; long lists are only in `defaults.json`.
fn default(key: &Value) -> String {
    match &key["default"] {
        Value::Null => String::new(),
        Value::Object(_) => " (see below)".to_owned(),
        Value::Array(list) if list.is_empty() => " none".to_owned(),
        Value::Array(list) => {
            let words: Vec<String> = list.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
            format!(" {}", words.join(" "))
        }
        Value::String(text) => format!(" `{text}`"),
        other => format!(" `{other}`"),
    }
}

fn level(key: &Value) -> &str {
    key["x-level"].as_str().unwrap_or_default()
}

fn meaning(key: &Value) -> String {
    let text = key["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
