//! `error.md`: why a job failed, and how to continue.

use crate::{JobError, Run};
use serde_json::Value;
use std::fmt::Write;

/// Its path.
pub(crate) const PATH: &str = "error.md";

/// The text.
pub(crate) fn render(run: &Run, error: &JobError) -> String {
    let mut out = format!("# The job failed\n\n{}\n\n", error.message);
    let words = error.details.iter().filter_map(|(key, value)| match value {
        Value::Null => None,
        Value::String(text) => Some((key, text.clone())),
        other => Some((key, other.to_string())),
    });
    for (key, value) in words.filter(|(_, value)| *value != error.message) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "- {key}: {value}");
    }
    if run.state().phase.number > 0 {
        let _ = writeln!(
            out,
            "- where: {}, {}",
            run.state().phase.which(run.workspace().planned()),
            run.state().phase.name
        );
    }
    if let Some(todo) = run.todos().current() {
        let _ = writeln!(out, "- todo: {}. {}", todo.position, todo.content);
    }
    let _ = write!(
        out,
        "- elapsed: {}, {} model requests\n\nThe files and rows are kept. `plumbline retry {}` goes on from here.\n",
        run.state().elapsed(),
        run.state().totals.requests,
        run.job().id
    );
    out
}
