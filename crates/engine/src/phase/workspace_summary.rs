//! `workspace_summary.md`: generated from rows, never from prose. Existing results come first.

use crate::{PhaseOutcome, Run, TodoStatus};
use std::{collections::BTreeMap, fmt::Write};

/// Files listed by name; in larger folders they are counted.
const MAX_NAMED: usize = 12;

/// Precedes the job's elapsed time.
pub(crate) const ELAPSED: &str = "Elapsed: ";

/// The summary's text.
pub(crate) fn render(run: &Run) -> String {
    let mut out = String::from("# Workspace summary\n\n## Files\n\n");
    out.push_str(&files(run));
    out.push_str("\n## Where the job stands\n\n");
    for line in standing(run) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "- {line}");
    }
    section(&mut out, "## Accomplishments", bullets_of(&run.workspace().memory().workspace, "## Accomplishments"));
    section(&mut out, "## Notes", bullets_of(&run.workspace().memory().workspace, "## Notes"));
    section(&mut out, "## Blocking issues", blocking_issues(run));
    out
}

fn section(out: &mut String, heading: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let _ = write!(out, "\n{heading}\n\n{}\n", lines.join("\n"));
    }
}

fn standing(run: &Run) -> Vec<String> {
    let mut lines: Vec<String> = last_work(run).into_iter().collect();
    let (done, planned) = (run.state().phase.completed, run.workspace().plan().len() as i32);
    lines.push(match planned {
        0 => format!("Phases of work done: {done}; main_plan.md has no phases"),
        _ if done > planned => format!("Phases of work done: {done}; main_plan.md has {planned}"),
        _ => format!("Phases of the plan done: {done} of {planned}"),
    });
    // In hours: a result file must not depend on the speed of a machine. The opening has the minutes.
    lines.push(match run.state().elapsed_s / 3600 {
        0 => format!("{ELAPSED}less than an hour"),
        hours => format!("{ELAPSED}{hours} h and more"),
    });
    if run.ledger().standing().count() > 0 || run.settings().records_requirements() {
        lines.push(format!("Requirements recorded: {}", run.ledger().standing().count()));
    }
    lines
}

/// The last tactical phase in one line. A strategic phase does not replace it, because it has no results to report.
fn last_work(run: &Run) -> Option<String> {
    let worked = run.state().worked.as_ref()?;
    let ended = match worked.outcome {
        PhaseOutcome::Completed => "",
        PhaseOutcome::Rewound | PhaseOutcome::Forced => ", given up",
    };
    let (number, name, closed, todos) = (worked.number, &worked.name, worked.closed, worked.todos);
    Some(format!("Last phase of work (job phase {number}): {name}, {closed} of {todos} todos closed{ended}"))
}

/// Obstacles known from the rows, and those that the model has written under that heading.
fn blocking_issues(run: &Run) -> Vec<String> {
    let mut lines = bullets_of(&run.workspace().memory().workspace, "## Blocking issues");
    let worked = run.state().worked.as_ref();
    if let Some(issue) = worked.and_then(|worked| worked.issue.as_ref()) {
        lines.push(format!("- The last phase was given up: {}", issue.replace('\n', " ")));
    }
    // Once a phase of work is completed, a document without text could not be read or was overlooked.
    let unread =
        run.workspace().sources().iter().filter(|source| source.text_path.is_none() && run.state().phase.completed > 0);
    lines.extend(unread.map(|source| format!("- {} has no extracted text", source.path)));
    if run.state().guards.phases_without_results > 0 {
        lines.push("- The last phase left nothing written or recorded".into());
    }
    let skipped = run.todos().iter().filter(|todo| todo.status == TodoStatus::Abandoned);
    lines.extend(skipped.map(|todo| format!("- Not done: {}", todo.content.replace('\n', " "))));
    lines
}

/// The bullets of a section of `workspace.md`.
fn bullets_of(text: &str, heading: &str) -> Vec<String> {
    let behind = text.lines().skip_while(|line| line.trim_end() != heading).skip(1);
    behind.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("- ")).map(str::to_owned).collect()
}

/// Files by their top-level folder, each with its purpose.
fn files(run: &Run) -> String {
    let mut out = String::new();
    let mut folders: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for (path, facts) in run.workspace().files() {
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        folders.entry(folder).or_default().push((path, facts.size));
    }
    let shown = |folder: &str| !matches!(folder, "tools" | "archive" | ".plumbline");
    // Results first.
    let (results, others): (Vec<_>, Vec<_>) =
        folders.iter().filter(|(folder, _)| shown(folder)).partition(|(folder, _)| **folder == "output");
    for (folder, files) in results.into_iter().chain(others) {
        if files.len() > MAX_NAMED {
            let bytes: u64 = files.iter().map(|(_, size)| size).sum();
            let _ = writeln!(out, "- {folder}/: {} files, {bytes} bytes: {}", files.len(), purpose(files[0].0));
            continue;
        }
        for (path, size) in files {
            let _ = writeln!(out, "- {path} ({size} bytes): {}", purpose(path));
        }
    }
    out
}

/// The purpose of a file, by its path.
fn purpose(path: &str) -> &'static str {
    match path {
        "instructions.md" => "what this type of job is to do",
        "workspace.md" => "long-term memory",
        "main_plan.md" => "the plan",
        "todos.yaml" => "the list of the phase of work",
        "progress.md" => "every closed todo",
        "workspace_summary.md" => "this summary",
        "error.md" => "why the job failed",
        "input/context.json" => "data given with the job",
        _ => match path.split('/').next().unwrap_or_default() {
            "input" => "given with the job",
            "output" => "a result for the user",
            "chunks" => "text of a document",
            "requirements" => "a recorded requirement",
            "candidates" => "findings so far",
            "web_sources" => "a page of the web",
            "tool_results" => "a result too long for the conversation",
            _ => "written in the course of the work",
        },
    }
}
