//! `main_plan.md`: written as a whole, read as phases.

use super::{Answer, arguments};
use crate::{
    FileWrite, Handler, Phases, Product, Replay, Run, ToolSpec,
    phase::plan::{self, PlannedState, read_plan, reading},
};
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "write_plan".into(),
            phases: Phases::Strategic,
            description: "Write main_plan.md as a whole: the goal, then a '## Phase n: name' section per phase.".into(),
            parameters: json!({"type": "object", "properties": {
                "content": {"type": "string", "description": "The whole plan, Markdown."},
                "tasks": {"type": "array", "items": {"type": "string"}, "description": "In place of content: the phases, a line each."}},
                "additionalProperties": false})
            .into(),
            documentation: "Replaces `main_plan.md`. Phases are headings such as `## Phase 2: Comparison`, their \
                            steps checkboxes `- [ ] …`; mark a finished phase by `[x]` on its steps or by ✓ in the \
                            heading.\n\nExample: `{\"content\": \"# Plan\\n\\nGoal: …\\n\\n## Phase 1: Preparation\\n\
                            - [ ] extract the text\\n\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "read_plan".into(),
            phases: Phases::Both,
            description: "The phases of main_plan.md with their state, and its text.".into(),
            parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}).into(),
            documentation: "Lists the plan's phases, the current one marked, then the text of `main_plan.md`.\n\n\
                            Example: `{}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: true,
        },
    ]
}

pub(super) fn write(run: &mut Run, arguments: &Map<String, Value>) -> Answer {
    let tasks = arguments::texts(arguments, "tasks")?;
    let content = match arguments::optional_text(arguments, "content")? {
        None if !tasks.is_empty() => of_tasks(&tasks),
        Some(content) => content,
        None => arguments::text(arguments, "content", "# Plan …")?,
    };
    let read = reading(&content);
    run.record_product(Product::WriteFile(FileWrite::text(plan::PATH, content + "\n")));
    Ok(match read {
        Some(phases) => format!("{} written with {phases}.", plan::PATH),
        None => format!("{} written. {}", plan::PATH, plan::NO_PHASES),
    })
}

/// A plan whose phases are these.
fn of_tasks(tasks: &[String]) -> String {
    let phases = (1..).zip(tasks).map(|(n, task)| format!("\n## Phase {n}: {}\n", task.replace('\n', " ")));
    format!("# Plan\n{}", phases.collect::<String>()).trim_end().to_string()
}

pub(super) fn read(run: &Run) -> String {
    if run.memory.main_plan.is_empty() {
        return "main_plan.md does not exist yet.".into();
    }
    let mut out = String::new();
    for (at, phase) in read_plan(&run.memory.main_plan).iter().enumerate() {
        let (mark, arrow) = match phase.state {
            PlannedState::Done => ("x", ""),
            PlannedState::Current => (" ", " ← CURRENT"),
            PlannedState::Open => (" ", ""),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "[{mark}] Phase {}: {}{arrow}", at + 1, phase.name);
    }
    format!("{out}\n{}", run.memory.main_plan)
}
