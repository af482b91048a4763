//! `main_plan.md`: written as a whole, read as phases.

use super::{Answer, arguments};
use crate::{
    FileWrite, Handler, Phases, Product, Replay, Run, ToolSpec,
    phase::plan::{PlannedState, read_plan},
};
use serde_json::{Map, Value, json};
use std::fmt::Write;

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "write_plan",
            phases: Phases::Strategic,
            description: "Write main_plan.md as a whole: the goal, then a '## Phase n: name' section per phase.".into(),
            parameters: json!({"type": "object", "properties": {
                "content": {"type": "string", "description": "The whole plan, Markdown."},
                "tasks": {"type": "array", "items": {"type": "string"}, "description": "In place of content: the steps of a plan of one phase."}},
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
            name: "read_plan",
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
    let phases = read_plan(&content);
    run.record_product(Product::WriteFile(FileWrite::text("main_plan.md", content + "\n")));
    Ok(match phases.len() {
        0 => "main_plan.md written. No phases were recognised in it: begin each with a heading such as '## Phase 1: name'.".into(),
        1 => "main_plan.md written with 1 phase.".into(),
        n => format!("main_plan.md written with {n} phases."),
    })
}

/// A plan of one phase with these steps.
fn of_tasks(tasks: &[String]) -> String {
    let steps: String = tasks.iter().map(|task| format!("- [ ] {}\n", task.replace('\n', " "))).collect();
    format!("# Plan\n\n## Phase 1: Work\n\n{steps}").trim_end().to_string()
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
