//! What the system puts before the model when a phase opens and after a compaction, so that finding one's bearings
//! costs no turns.

use crate::{Opening, PhaseKind, Run, Source, boundary::Next};

/// Documents listed by name; a folder of thousands is counted.
const MAX_DOCUMENTS: usize = 50;

/// The first message of a phase.
pub(crate) fn opening(run: &Run, next: &Next, description: &str, note: Option<&str>) -> String {
    let mut parts = vec![headline(run, next, description)];
    if let Some(issue) = &next.issue {
        parts.push(format!("The phase before was given up: {issue}"));
    }
    parts.push(bearings(run));
    if let Some(note) = note {
        parts.push(format!("### Archive note of the phase before\n\n```yaml\n{}```", note));
    }
    parts.join("\n\n")
}

fn headline(run: &Run, next: &Next, description: &str) -> String {
    let phase = &run.state.phase;
    let what = match next.opening {
        Opening::Initial => "The job begins.",
        Opening::Transition => "A phase is done; prepare the next one.",
        Opening::Final => "Every phase of the plan is done; verify the result and complete the job.",
        Opening::Rewound => "The last phase was given up; find out why and correct the plan.",
        Opening::Feedback => "The user gave feedback on the finished work.",
        Opening::Work => description,
    };
    let what = if what.is_empty() { String::new() } else { format!("\n\n{what}") };
    format!("Phase {} ({}) begins: {}{what}", phase.number, phase.kind.as_str(), phase.name)
}

/// Documents, plan and summary: what is true whatever was said before.
pub(crate) fn bearings(run: &Run) -> String {
    let mut parts = vec![format!("### Documents\n\n{}", documents(&run.sources))];
    if !run.memory.main_plan.trim().is_empty() {
        parts.push(format!("### main_plan.md\n\n{}", run.shown(&run.memory.main_plan, "main_plan.md")));
    }
    if !run.memory.summary.trim().is_empty() && run.state.phase.kind == PhaseKind::Strategic {
        parts.push(format!("### workspace_summary.md\n\n{}", run.shown(&run.memory.summary, "workspace_summary.md")));
    }
    parts.join("\n\n")
}

fn documents(sources: &[Source]) -> String {
    if sources.is_empty() {
        return "(none)".into();
    }
    let mut lines: Vec<String> = sources.iter().take(MAX_DOCUMENTS).map(document).collect();
    if sources.len() > MAX_DOCUMENTS {
        lines.push(format!("- … and {} more under input/", sources.len() - MAX_DOCUMENTS));
    }
    lines.join("\n")
}

fn document(source: &Source) -> String {
    match source.pages {
        Some(pages) => format!("- {} ({pages} pages, {} bytes)", source.path, source.size),
        None => format!("- {} ({} bytes)", source.path, source.size),
    }
}
