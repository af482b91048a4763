//! `workspace_summary.md`: generated from what is recorded, never from prose.

use crate::{Run, plan};
use std::fmt::Write;

/// Files listed by name; folders with more are counted.
const MAX_NAMED: usize = 12;

/// The summary's text.
pub(crate) fn render(run: &Run) -> String {
    let mut out = String::from("# Workspace summary\n");
    let phase = &run.state.phase;
    let done = run.todos.iter().filter(|todo| !todo.status.is_open()).count();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "\n- Phase {} ({}): {}, {done} of {} todos closed\n- Tactical phases so far: {}\n- Requirements recorded: {}\n",
        phase.number,
        phase.kind.as_str(),
        phase.name,
        run.todos.len(),
        phase.tactical,
        run.requirements
    );
    let planned = plan::read_plan(&run.memory.main_plan);
    if !planned.is_empty() {
        let _ = writeln!(out, "- Phases in main_plan.md: {}", planned.len());
    }
    let _ = write!(out, "\n## Files\n\n{}", files(run));
    out
}

/// Files by their first folder.
fn files(run: &Run) -> String {
    let mut out = String::new();
    let mut folders: std::collections::BTreeMap<&str, Vec<(&str, u64)>> = std::collections::BTreeMap::new();
    for (path, facts) in &run.files {
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        folders.entry(folder).or_default().push((path, facts.size));
    }
    for (folder, files) in folders.iter().filter(|(folder, _)| !matches!(**folder, "tools" | "archive")) {
        if files.len() > MAX_NAMED {
            let bytes: u64 = files.iter().map(|(_, size)| size).sum();
            let _ = writeln!(out, "- {folder}/: {} files, {bytes} bytes", files.len());
        } else {
            for (path, size) in files {
                let _ = writeln!(out, "- {path} ({size} bytes)");
            }
        }
    }
    out
}
