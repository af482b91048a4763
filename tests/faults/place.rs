//! Places of the sweep: a fail-point in a part of a job, e.g. `fenced/tactical`.

use std::{collections::BTreeMap, path::Path};

/// How often an undisturbed job passes each place.
pub(crate) type Places = BTreeMap<String, u64>;

/// Reads a trace.
///
/// # Panics
/// If there is none: the program under test is a release build.
pub(crate) fn read(trace: &Path) -> Places {
    let text = std::fs::read_to_string(trace).expect(
        "the program under test leaves a trace of its fail-points; only a debug build has any: `cargo build -p plumbline`",
    );
    let mut places = Places::new();
    for line in text.lines() {
        *places.entry(line.to_owned()).or_default() += 1;
    }
    places
}

/// The environment's words for one action the `nth` time a place is passed, from 1.
pub(crate) fn armed(place: &str, nth: u64, action: &str) -> String {
    format!("{place}={action}@{nth}")
}
