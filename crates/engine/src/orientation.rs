//! What the system puts before the model when a phase opens and after a compaction, so that finding one's bearings
//! costs no turns.

use crate::{Opening, PhaseKind, Run, Source, boundary::Next, plan::read_plan};

/// Documents listed by name; a folder of thousands is counted.
const MAX_DOCUMENTS: usize = 50;
/// Open steps of the plan listed by name.
const MAX_STEPS: usize = 12;

/// The first message of a phase.
pub(crate) fn opening(run: &Run, next: &Next, description: &str, note: Option<&str>) -> String {
    let mut parts = vec![headline(run, next, description)];
    parts.extend(open_steps(run, next));
    if run.state.guards.phases_without_results > 0 && next.kind == PhaseKind::Strategic {
        parts.push(format!(
            "In phase {} nothing was written or recorded, although its todos were closed. A second such phase in a row ends \
             the job: do work that leaves a file, a record or a citation, or complete the job.",
            run.state.phase.number - 1
        ));
    }
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
        Opening::Final if read_plan(&run.memory.main_plan).iter().all(|phase| phase.open_steps.is_empty()) => {
            "Every phase of the plan is done; verify the result and complete the job."
        }
        Opening::Final => "As many phases have come to their end as the plan has; verify the result.",
        Opening::Rewound => "The last phase was given up; find out why and correct the plan.",
        Opening::Feedback => "The user gave feedback on the finished work.",
        Opening::Work => description,
    };
    let what = if what.is_empty() { String::new() } else { format!("\n\n{what}") };
    format!("Phase {} ({}) begins: {}{what}", phase.number, phase.kind.as_str(), phase.name)
}

/// The steps of the plan that are not ticked, once as many phases have come to their end as it has.
fn open_steps(run: &Run, next: &Next) -> Option<String> {
    let phases = read_plan(&run.memory.main_plan);
    let ends = matches!(next.opening, Opening::Final | Opening::Transition)
        && run.state.phase.completed >= phases.len() as i32;
    let open: Vec<&str> = phases.iter().flat_map(|phase| &phase.open_steps).map(String::as_str).collect();
    if !ends || open.is_empty() {
        return None;
    }
    let more = open.len().saturating_sub(MAX_STEPS);
    let more = if more > 0 { format!("\n- … and {more} more") } else { String::new() };
    let named: Vec<String> = open.iter().take(MAX_STEPS).map(|step| format!("- {step}")).collect();
    Some(format!(
        "As many phases have come to their end as the plan has, and {} of its steps are not ticked. Check whether they are \
         done: tick them, write the todos of another phase (todo_write), or complete the job and name them in \
         'undelivered'.\n\n{}{more}",
        open.len(),
        named.join("\n")
    ))
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
