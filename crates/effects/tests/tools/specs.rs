//! What the model is told of the tools.

use plumbline_effects::tokens;
use plumbline_effects::tools::catalog;
use plumbline_engine::{Handler, Phases, Replay, ToolSpec};
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_the_documented_ones() {
    let names: Vec<&str> = catalog().iter().map(|spec| spec.name).collect();
    assert_eq!(
        names,
        [
            "read_file",
            "write_file",
            "edit_file",
            "list_files",
            "search_files",
            "delete_file",
            "create_folder",
            "extract_document_text",
            "chunk_document",
            "web_search",
            "fetch_page",
            "cite",
            "add_requirement",
            "write_requirement_to_db",
            "query_similar_requirements",
            "next_requirement",
            "integrate_requirement",
            "reject_requirement",
            "get_graph_schema",
            "execute_cypher_query"
        ]
    );
}

#[test]
fn every_spec_is_complete_and_short() {
    for spec in catalog() {
        let name = spec.name;
        let sentences = spec.description.matches(". ").count() + 1;
        assert!(sentences <= 2, "{name}: {}", spec.description);
        assert_eq!(spec.parameters["type"], "object", "{name}");
        jsonschema::validator_for(&spec.parameters).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_ne!(spec.handler, Handler::Engine, "{name}");
        let replay = match name {
            "next_requirement" | "integrate_requirement" => Replay::Keyed,
            "execute_cypher_query" => Replay::Unsafe,
            _ => Replay::Safe,
        };
        assert_eq!(spec.replay, replay, "{name}");
        assert!(spec.documentation.starts_with("# ") && spec.documentation.contains("Example: `{"), "{name}");
        let known: BTreeSet<&String> = spec.parameters["properties"].as_object().unwrap().keys().collect();
        for property in known {
            assert!(spec.documentation.contains(&format!("`{property}`")), "{name} does not document {property}");
        }
    }
}

#[test]
fn documents_and_evidence_are_tactical_work() {
    for spec in catalog() {
        let expected = match spec.name {
            "extract_document_text"
            | "chunk_document"
            | "web_search"
            | "fetch_page"
            | "cite"
            | "add_requirement"
            | "write_requirement_to_db"
            | "query_similar_requirements"
            | "next_requirement"
            | "integrate_requirement"
            | "reject_requirement"
            | "get_graph_schema"
            | "execute_cypher_query" => Phases::Tactical,
            _ => Phases::Both,
        };
        assert_eq!(spec.phases, expected, "{}", spec.name);
    }
}

#[test]
fn lesson_19_the_definitions_stay_small() {
    let size = |specs: &[ToolSpec]| {
        let texts = specs.iter().map(|spec| format!("{} {} {}", spec.name, spec.description, spec.parameters));
        tokens::count(&texts.collect::<String>())
    };
    let all = catalog();
    // No job type has both: those before are the creator's, those from here on the validator's.
    let at = all.iter().position(|spec| spec.name == "next_requirement").unwrap();
    let (creator, validator) = (size(&all[..at]), size(&all[at..]));
    assert!(creator < 2100 && validator < 700, "{creator} and {validator} tokens");
}
