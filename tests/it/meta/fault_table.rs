//! The table of faults in tests/faults/README.md: whole, and no promise of a test that is not there.

use std::{fs, path::PathBuf};

/// The faults of the queue, the database, the volume and the upgrade.
fn expected() -> Vec<String> {
    (1..=32).chain(55..=61).chain(70..=78).map(|number| format!("F{number}")).collect()
}

#[test]
fn every_fault_has_its_row_and_every_named_test_exists() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("faults");
    let table = fs::read_to_string(folder.join("README.md")).expect("the table is there");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| F") && !line.starts_with("| Fault"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let numbers: Vec<String> = rows.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(numbers, expected());
    for row in &rows {
        let [number, fault, shown] = row[..] else { panic!("a row has three cells: {row:?}") };
        assert!(!fault.is_empty() && !shown.is_empty(), "{number} says nothing");
        let tests = named(shown);
        assert!(!tests.is_empty() || shown.starts_with("No test: "), "{number}: neither a test nor why there is none");
        for (test, path) in tests {
            let file = folder.join(path);
            let source =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{number}: {}: {error}", file.display()));
            let scene = file.parent() == Some(folder.as_path()) && path == format!("{test}.rs");
            assert!(scene || source.contains(&format!("fn {test}(")), "{number}: {path} has no test `{test}`");
        }
    }
}

/// Links of the form "[`test`](path)".
fn named(text: &str) -> Vec<(&str, &str)> {
    text.split("[`")
        .skip(1)
        .filter_map(|link| link.split_once("`]("))
        .filter_map(|(test, rest)| Some((test, rest.split_once(')')?.0)))
        .collect()
}
