//! A test that cannot be run here says so.

use std::io::Write as _;

/// Says in one line which test was skipped and why, past the capture of a passed test's output: what was not tested must
/// be seen, and what would change that.
pub fn skipped(reason: &str, enable: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}; enable with: {enable}");
}
