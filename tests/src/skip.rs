//! Reports tests that cannot run here.

use std::io::Write as _;

/// Reports in one line which test was skipped and why, bypassing the capture of a passed test's output: it must be
/// visible what was not tested, and what would change that.
pub fn skipped(reason: &str, enable: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A closed stderr does not fail the test.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}; enable with: {enable}");
}
