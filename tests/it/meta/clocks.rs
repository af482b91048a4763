//! Tests hold on a slow machine: none waits for less than the ceiling, and none asserts a time.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Forbidden in tests: an assertion about elapsed time, or a wait with its own timeout.
fn is_a_figure_of_time(line: &str) -> bool {
    let line = line.trim();
    let asserts =
        line.starts_with("assert") && line.contains("elapsed()") && line.contains('<') && !line.contains("CEILING");
    let bounds = line.contains("timeout(Duration::from_secs(") && line.contains(".await.expect");
    asserts || bounds
}

/// Rust sources below a folder.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

#[test]
fn no_test_waits_or_asserts_by_the_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut paths, mut found) = (Vec::new(), Vec::new());
    ["crates", "tests"].iter().for_each(|folder| collect(&root.join(folder), &mut paths));
    for path in paths.iter().map(|path| path.display().to_string()) {
        // Benchmarks and a trial by hand are about times.
        if ["crates/bench/", "examples/local_model/", "meta/clocks.rs"].iter().any(|part| path.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source can be read");
        let lines = (1..).zip(text.lines()).filter(|(_, line)| is_a_figure_of_time(line));
        found.extend(lines.map(|(number, line)| format!("{path}:{number}: {}", line.trim())));
    }
    assert!(found.is_empty(), "wait for a condition with eventually():\n{}", found.join("\n"));
}

#[test]
fn the_rule_finds_what_it_looks_for() {
    assert!(is_a_figure_of_time("assert!(begun.elapsed() < Duration::from_secs(1), \"slow\");"));
    assert!(is_a_figure_of_time("timeout(Duration::from_secs(10), ask()).await.expect(\"an answer\");"));
    assert!(!is_a_figure_of_time("assert!(begun.elapsed() < CEILING, \"in vain\");"));
    assert!(!is_a_figure_of_time("assert!(begun.elapsed() >= delay);"));
}
