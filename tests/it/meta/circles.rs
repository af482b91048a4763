//! No two files of a crate need each other: each can be read without the other.

use plumbline_system_tests::circles::circles;
use std::{fs, path::Path};

#[test]
fn no_two_files_need_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut seen = 0;
    for entry in fs::read_dir(crates).expect("the crates can be listed") {
        let src = entry.expect("a crate can be read").path().join("src");
        if src.is_dir() {
            seen += 1;
            assert_eq!(circles(&src).expect("its sources can be read"), [], "{}", src.display());
        }
    }
    assert!(seen > 10, "{seen} crates were found");
}
