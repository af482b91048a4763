//! Reviews the records, and writes the report.

use crate::call::{Call, Turn, coverage, first_requirements, read_file, todo_complete, turn, write_file};
use crate::request_view::RequestView;
use crate::strategic::{REPORT, report_text};

/// Reads the coverage and the first records.
pub(super) fn look(view: &RequestView<'_>) -> Turn {
    let looks = looks(view);
    match looks.is_empty() {
        true => turn(
            "The records were looked at.",
            vec![todo_complete("the coverage and the first records were looked at")],
        ),
        false => turn("Looking at the coverage and the records.", looks),
    }
}

/// Writes the report, once the records were looked at.
pub(super) fn write(view: &RequestView<'_>) -> Turn {
    let looks = looks(view);
    if !looks.is_empty() {
        return turn("Looking at the coverage and the records.", looks);
    }
    let text = report_text(view, &[]);
    turn(format!("Writing {REPORT}."), vec![write_file(REPORT, &text), todo_complete(&format!("{REPORT} is written"))])
}

/// The reads that this phase has not made.
fn looks(view: &RequestView<'_>) -> Vec<Call> {
    let all = [coverage(), first_requirements()].into_iter().filter(|call| view.bound(call.name));
    let mut all: Vec<Call> = all.collect();
    if all.is_empty() {
        all.push(read_file("progress.md"));
    }
    all.into_iter().filter(|call| view.history.iter().all(|done| !done.is(call))).collect()
}
