//! Which results may contain untrusted text: of documents, pages, foreign tools, and rows derived from such text. A
//! tool that is not listed here as safe counts as untrusted.

use crate::bench::Bench;
use plumbline_tools::{catalog, reaches_out};
use serde_json::{Value, json};

/// Tools whose results never contain untrusted text.
const OWN_WORDS: [&str; 4] = ["write_file", "list_files", "delete_file", "create_folder"];
/// Tools for which it depends on the files.
const BY_FILE: [&str; 3] = ["read_file", "edit_file", "search_files"];

#[tokio::test]
async fn each_tool_that_shows_text_of_others_is_a_way_in() {
    let bench = Bench::with(&[("input/policy.md", "Invoices must be kept.\n")]);
    for tool in catalog().into_iter().filter(|tool| !BY_FILE.contains(&tool.name.as_str())) {
        let done = bench.turn(&[(&tool.name, json!({}))]).await;
        assert_eq!(done[0].untrusted, !OWN_WORDS.contains(&tool.name.as_str()), "{}", tool.name);
    }
}

#[tokio::test]
async fn files_are_identified_by_their_paths() {
    let files = ["input/policy.md", "input/context.json", "instructions.md", "notes/a.md", "tools/cite.md"];
    let bench = Bench::with(&files.map(|path| (path, "Words.\n")));
    for (path, untrusted) in [
        ("input/policy.md", true),
        ("./input/../input/policy.md", true),
        ("chunks/chunk_001.md", true),
        ("candidates/candidates.md", true),
        ("requirements/r1.md", true),
        ("output/requirements.md", true),
        ("web_sources/a.md", true),
        ("tool_results/call_1_1.md", true),
        ("../elsewhere", true),
        ("input/context.json", false),
        ("instructions.md", false),
        ("workspace.md", false),
        ("notes/a.md", false),
        ("output/answer.md", false),
        ("tools/cite.md", false),
    ] {
        let read = bench.turn(&[("read_file", json!({"path": path}))]).await;
        assert_eq!(read[0].untrusted, untrusted, "{path}");
        let edited = bench.turn(&[("edit_file", json!({"path": path, "old": "x", "new": "y"}))]).await;
        assert_eq!(edited[0].untrusted, untrusted, "{path}");
    }
    let search = ("search_files", json!({"query": "Words", "mode": "text"}));
    assert!(bench.turn(std::slice::from_ref(&search)).await[0].untrusted, "a document is among the files");
    let own = Bench::with(&[("notes/a.md", "Words.\n"), ("input/context.json", "{}")]);
    assert!(!own.turn(&[search]).await[0].untrusted);
}

#[test]
fn calls_reach_out_by_their_arguments() {
    let hosts = ["www.example.org".to_owned()];
    let fetch = |url: &str| reaches_out("fetch_page", &json!({ "url": url }).to_string(), &hosts);
    for (url, out) in [
        ("https://www.example.org/a?b", false),
        ("https://WWW.EXAMPLE.ORG:8443/", false),
        ("https://example.org/", true),
        ("https://www.example.org.evil.example/", true),
        ("https://www.example.org@evil.example/", true),
        ("https://evil.example/?www.example.org", true),
        ("nonsense", true),
    ] {
        assert_eq!(fetch(url), out, "{url}");
    }
    let query = |more: Value| reaches_out("execute_cypher_query", &more.to_string(), &hosts);
    assert!(query(json!({"query": "MERGE (n)", "allow_write": true})) && !query(json!({"query": "RETURN 1"})));
    for tool in ["write_file", "add_requirement", "integrate_requirement", "todo_complete"] {
        assert!(!reaches_out(tool, "{}", &hosts), "{tool} is of the job's own rows");
    }
}
