//! `workspace_summary.md`: generated from what is recorded, never from prose.

use crate::{PhaseKind, Run, plan};
use std::fmt::Write;

/// Files listed by name; folders with more are counted.
const MAX_NAMED: usize = 12;

/// The summary's text.
pub(crate) fn render(run: &Run) -> String {
    let mut out = String::from("# Workspace summary\n");
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "\n{}\n- Tactical phases so far: {}\n- Requirements recorded: {}\n",
        last_phase(run),
        run.state.phase.tactical,
        run.requirements
    );
    let planned = plan::read_plan(&run.memory.main_plan);
    if !planned.is_empty() {
        let _ = writeln!(out, "- Phases in main_plan.md: {}", planned.len());
    }
    for section in ["## Accomplishments", "## Notes"] {
        let lines = bullets_of(&run.memory.workspace, section);
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{section}\n\n{}", lines.join("\n"));
        }
    }
    let _ = write!(out, "\n## Files\n\n{}", files(run));
    out
}

/// The last phase of work in a line. A strategic phase keeps the line of the one before it: of itself there is nothing to say.
fn last_phase(run: &Run) -> String {
    let phase = &run.state.phase;
    let said_before =
        run.memory.summary.lines().find(|line| line.starts_with("- Phase ") && line.contains("(tactical)"));
    if let (PhaseKind::Strategic, Some(line)) = (phase.kind, said_before) {
        return line.to_string();
    }
    let done = run.todos.iter().filter(|todo| !todo.status.is_open()).count();
    let (number, kind, name) = (phase.number, phase.kind.as_str(), &phase.name);
    format!("- Phase {number} ({kind}): {name}, {done} of {} todos closed", run.todos.len())
}

/// The bullets of a section of `workspace.md`, which `add_accomplishment` and `add_note` write.
fn bullets_of<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let behind = text.lines().skip_while(|line| line.trim_end() != heading).skip(1);
    behind.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("- ")).collect()
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
