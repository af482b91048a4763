//! A run keeps its walls: what concerns one part of it is decided in that part.

use plumbline_system_tests::walls::Walls;
use std::path::Path;

/// These only fall. A rule that needs one part of a run is a method of that part, and takes nothing else. What a rule
/// decides is data, and carried out elsewhere: so most functions read a run, and few change it. No field is open.
const MOST: Walls = Walls { methods: 40, changed_by: 60, read_by: 89, open_fields: 0 };

#[test]
fn a_run_is_not_reached_from_everywhere() {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/src");
    let now = Walls::of("Run", &engine).expect("the sources can be read");
    let Walls { methods, changed_by, read_by, open_fields } = now;
    let falls = methods <= MOST.methods
        && changed_by <= MOST.changed_by
        && read_by <= MOST.read_by
        && open_fields == MOST.open_fields;
    assert!(falls, "{now:?}, and at most {MOST:?} is held");
}
