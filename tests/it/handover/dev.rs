//! `plumbline dev` to its end: the table shows the results for the document, with a graph and without.

use plumbline_system_tests::{Ended, Program, handover::Graph, program};
use serde_json::json;
use std::{fs, path::Path};
use tempfile::TempDir;

/// Runs it on the sample, or on the document that `PLUMBLINE_TEST_DOCUMENT` names.
async fn dev(folder: &TempDir, configs: Option<&Path>) -> Ended {
    let document = std::env::var("PLUMBLINE_TEST_DOCUMENT").ok();
    let arguments = match &document {
        Some(path) => vec!["dev", "--document", path],
        None => vec!["dev"],
    };
    let mut command = program::command(&arguments);
    command.current_dir(folder.path());
    if let Some(configs) = configs {
        command.env("PLUMBLINE_CONFIG_DIR", configs);
    }
    let ended = Program::start(command, folder.path()).ended().await;
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    println!("{}", ended.stdout);
    ended
}

/// The number in the table's row of this name.
fn count(ended: &Ended, row: &str) -> usize {
    let line = ended.stdout.lines().find(|line| {
        let mut cells = line.split_whitespace().filter(|cell| *cell != "│" && *cell != "|");
        cells.next() == Some(row)
    });
    let line = line.unwrap_or_else(|| panic!("no row `{row}` in: {}", ended.stdout));
    let digits = line.split_whitespace().find(|cell| cell.starts_with(|c: char| c.is_ascii_digit()));
    digits.expect("a count").replace(',', "").parse().expect("a count is a number")
}

/// The built-in configuration with a connection to the graph in its defaults.
fn configs_with(graph: &Graph, folder: &TempDir) -> std::path::PathBuf {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    let copy = folder.path().join("configs");
    for name in [
        "defaults.json",
        "creator/config.json",
        "creator/instructions.md",
        "validator/config.json",
        "validator/instructions.md",
    ] {
        let to = copy.join(name);
        fs::create_dir_all(to.parent().expect("a file lies in a folder")).expect("a temporary folder can be written");
        fs::copy(built_in.join(name), to).expect("the built-in configuration can be copied");
    }
    let path = copy.join("defaults.json");
    let mut defaults: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).expect("it was copied")).expect("the defaults are JSON");
    defaults["connections"] = json!({"neo4j": {"uri": graph.server.uri}});
    fs::write(&path, defaults.to_string()).expect("a temporary folder can be written");
    copy
}

#[tokio::test]
async fn it_ends_with_the_graphs_counts() {
    let Some(graph) = Graph::start().await else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let configs = configs_with(&graph, &folder);
    let ended = dev(&folder, Some(&configs)).await;
    let integrated = count(&ended, "integrated");
    assert_eq!(integrated + count(&ended, "rejected"), count(&ended, "requirements"), "all are judged");
    assert!(integrated > 50 && integrated == graph.integrated().await.len(), "{integrated} in the table");
    let relations =
        graph.server.ask("MATCH (:Requirement)-[x]->(n) WHERE n:BusinessObject OR n:Message RETURN count(x)").await;
    let said = format!("{integrated} Requirement nodes, {} relations", relations[0][0]);
    let plain = |text: &str| text.replace(',', "");
    assert!(plain(&ended.stdout).contains(&plain(&said)), "`{said}` is not in: {}", ended.stdout);
}

#[tokio::test]
async fn without_a_graph_it_says_so_and_counts_the_statements() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ended = dev(&folder, None).await;
    assert_eq!(count(&ended, "integrated"), 0);
    assert!(ended.stdout.contains("integration is switched off"), "{}", ended.stdout);
    for row in ["documents", "pages", "chunks", "requirements"] {
        assert!(count(&ended, row) > 0, "{row}: {}", ended.stdout);
    }
    assert!(ended.stdout.contains("verified citations") && ended.stdout.contains(" tokens"), "{}", ended.stdout);
}
