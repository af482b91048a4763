//! Mistakes that only the tools see.

use crate::{folder, operators};
use plumbline_config::ModelEnv;
use plumbline_job_setup::configs;
use serde_json::json;

#[test]
fn check_finds_what_is_wrong_in_any_file_and_nothing_in_the_built_in_ones() {
    assert_eq!(configs(None, None).unwrap().check(&ModelEnv::default()), []);
    let dir = folder(&[
        ("one/config.json", r#"{"$extends": "creator", "limit": 1}"#),
        ("two/config.json", r#"{"$extends": "creator", "tools": {"domain": ["cit"]}}"#),
        ("three/config.json", r#"{"$extends": "creator"}"#),
        ("three/instructions.md", "Use {{ nonsense }}."),
    ]);
    let problems = configs(Some(dir.path()), None).unwrap().check(&ModelEnv::default());
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(text.len(), 3, "{text:?}");
    assert!(text[0].contains("one/config.json:1: unknown key `limit`"), "{text:?}");
    assert!(text[1].contains("instructions.md") && text[1].contains("does not render"), "{text:?}");
    assert!(
        text[2].contains("two/config.json:1: `tools.domain` names the unknown tool `cit`; did you mean `cite`?"),
        "{text:?}"
    );
}

#[test]
fn the_address_of_a_graph_leads_to_one() {
    for uri in ["ftp://graph.example", "graph.example:7474", "http://", ""] {
        let error = operators(&json!({"connections": {"neo4j": {"uri": uri}}})).expect_err(uri).to_string();
        assert!(error.contains("config.json:1: `connections.neo4j.uri` is not a usable address"), "{uri}: {error}");
    }
    for uri in ["http://graph.example:7474", "bolt://graph.example:7687", "neo4j+s://x.databases.neo4j.io"] {
        operators(&json!({"connections": {"neo4j": {"uri": uri}}})).expect(uri);
    }
}

#[test]
fn a_pattern_must_be_a_regular_expression_that_says_something() {
    for (pattern, words) in [
        ("(", "`coverage_settings.patterns` cannot be used: the pattern 1 is none that can be used: unclosed group"),
        ("a*", "the pattern 1 matches an empty text"),
    ] {
        let error = operators(&json!({"coverage_settings": {"patterns": [pattern]}})).expect_err(pattern);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn the_schema_of_a_deliverable_must_be_one() {
    let keys = json!({"deliverables": [{"path": "output/a.json", "json_schema": {"type": 5}}]});
    let error = operators(&keys).expect_err("the schema is none").to_string();
    assert!(error.contains("that is no JSON Schema"), "{error}");
}
