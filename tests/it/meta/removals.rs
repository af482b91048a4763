//! Each decided removal was made, or says why it was not.

use plumbline_system_tests::removals::REMOVALS;
use std::path::Path;

#[test]
fn each_decided_removal_is_made_or_has_a_reason() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for removal in &REMOVALS {
        let found = removal.occurrences(&crates).expect("the sources can be read");
        assert_eq!(found > 0, removal.kept.is_some(), "{}: {found} occurrences", removal.what);
    }
}
