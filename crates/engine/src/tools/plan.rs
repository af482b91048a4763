//! `main_plan.md`: written as a whole, read as phases.

use super::{Decision, Deed, OwnTool};
use crate::{
    FileWrite, Phases, Run,
    phase::plan::{self, PlannedState, reading},
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// Replaces `main_plan.md`. Phases are headings such as `## Phase 2: Comparison`, their steps checkboxes `- [ ] …`; mark
/// a finished phase by `[x]` on its steps or by ✓ in the heading.
///
/// {arguments}
///
/// Example: `{"content": "# Plan\n\nGoal: …\n\n## Phase 1: Preparation\n- [ ] extract the text\n"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WritePlan {
    /// # The whole plan, Markdown.
    content: Option<String>,
    /// # In place of content: the phases, a line each.
    tasks: Option<Vec<String>>,
}

impl OwnTool for WritePlan {
    const NAME: &str = "write_plan";
    const PHASES: Phases = Phases::Strategic;
    const DESCRIPTION: &str = "Write main_plan.md as a whole: the goal, then a '## Phase n: name' section per phase.";

    fn decide(self, _: &Run) -> Decision {
        let content = match (self.content, self.tasks) {
            (Some(content), _) => content,
            (None, Some(tasks)) if !tasks.is_empty() => of_tasks(&tasks),
            (None, _) => return Err("argument 'content' is missing: the whole plan, or 'tasks', its phases.".into()),
        };
        let said = match reading(&content) {
            Some(phases) => format!("{} written with {phases}.", plan::PATH),
            None => format!("{} written. {}", plan::PATH, plan::NO_PHASES),
        };
        Ok(Deed::Write(FileWrite::text(plan::PATH, content + "\n"), said))
    }
}

/// A plan with these phases.
fn of_tasks(tasks: &[String]) -> String {
    let phases = (1..).zip(tasks).map(|(n, task)| format!("\n## Phase {n}: {}\n", task.replace('\n', " ")));
    format!("# Plan\n{}", phases.collect::<String>()).trim_end().to_string()
}

/// Lists the plan's phases, the current one marked, then the text of `main_plan.md`.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ReadPlan {}

impl OwnTool for ReadPlan {
    const NAME: &str = "read_plan";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "The phases of main_plan.md with their state, and its text.";
    const READS_ONLY: bool = true;

    fn decide(self, run: &Run) -> Decision {
        if run.workspace().memory().main_plan.is_empty() {
            return Ok(Deed::Answer("main_plan.md does not exist yet.".into()));
        }
        let mut out = String::new();
        for (at, phase) in run.workspace().plan().iter().enumerate() {
            let (mark, arrow) = match phase.state {
                PlannedState::Done => ("x", ""),
                PlannedState::Current => (" ", " ← CURRENT"),
                PlannedState::Open => (" ", ""),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(out, "[{mark}] Phase {}: {}{arrow}", at + 1, phase.name);
        }
        Ok(Deed::Answer(format!("{out}\n{}", run.workspace().memory().main_plan)))
    }
}
