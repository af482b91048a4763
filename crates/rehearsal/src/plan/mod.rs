//! main_plan.md: phases with checkbox steps, the only memory of the next steps.
//!
//! This model writes the plan, the engine stores it and includes it in the opening of every strategic phase. A phase
//! whose steps are all ticked is finished; the first other one is next.

pub(crate) mod manifest;
pub(crate) mod schedule;
pub(crate) mod task;

use std::fmt::Write as _;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use crate::call::{Call, read_file};
use crate::request_view::pages::body;
use crate::request_view::{Done, RequestView};

/// The plan's file.
pub(crate) const PATH: &str = "main_plan.md";

static PHASE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^\s*## Phase \d+: (.*?)\s*$"));
static STEP: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^\s*- \[([ xX])\] (.*?)\s*$"));

/// A step of a phase; it becomes a todo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Whether it is ticked.
    pub(crate) done: bool,
    /// The todo's text.
    pub(crate) text: String,
}

/// A phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    /// Its name, which becomes the phase's name.
    pub(crate) name: String,
    /// Its steps.
    pub(crate) steps: Vec<Step>,
}

impl Phase {
    /// A phase with nothing done.
    pub(crate) fn new(name: impl Into<String>, steps: impl IntoIterator<Item = String>) -> Self {
        let steps = steps.into_iter().map(|text| Step { done: false, text }).collect();
        Self { name: name.into(), steps }
    }

    /// Whether every step is ticked.
    pub(crate) fn done(&self) -> bool {
        self.steps.iter().all(|step| step.done)
    }

    /// Ticks the steps with these texts.
    pub(crate) fn tick(&mut self, texts: &[String]) {
        self.steps.iter_mut().filter(|step| texts.contains(&step.text)).for_each(|step| step.done = true);
    }

    /// Ticks every step.
    pub(crate) fn finish(&mut self) {
        self.steps.iter_mut().for_each(|step| step.done = true);
    }
}

/// The plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The text above the first phase: goal, approach, completion criteria.
    pub(crate) head: String,
    /// The phases in order.
    pub(crate) phases: Vec<Phase>,
}

impl Plan {
    /// Reads a plan.
    pub(crate) fn parse(text: &str) -> Self {
        let mut plan = Self::default();
        for line in text.lines() {
            if let Some(found) = PHASE.captures(line) {
                plan.phases.push(Phase::new(&found[1], []));
            } else if let Some(phase) = plan.phases.last_mut() {
                let found = STEP.captures(line);
                phase.steps.extend(found.map(|found| Step { done: &found[1] != " ", text: found[2].to_owned() }));
            } else {
                plan.head.push_str(line);
                plan.head.push('\n');
            }
        }
        plan.head.truncate(plan.head.trim_end().len());
        plan
    }

    /// Writes it.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("{}\n", self.head);
        for (number, phase) in (1..).zip(&self.phases) {
            let _ = writeln!(text, "\n## Phase {number}: {}\n", phase.name);
            for step in &phase.steps {
                let _ = writeln!(text, "- [{}] {}", if step.done { "x" } else { " " }, step.text);
            }
        }
        text
    }

    /// The next phase; `None` if the plan is complete.
    pub(crate) fn next(&self) -> Option<&Phase> {
        self.phases.iter().find(|phase| !phase.done())
    }

    /// The same, to change it.
    pub(crate) fn next_mut(&mut self) -> Option<&mut Phase> {
        self.phases.iter_mut().find(|phase| !phase.done())
    }

    /// The current plan, or the call that reads it: the last one written in this phase, else the one read, else that of
    /// the phase's opening.
    pub(crate) fn current(view: &RequestView<'_>) -> Result<Self, Call> {
        let mut written = view.history.iter().rev().filter(|done| writes_plan(done) && !done.failed());
        if let Some(done) = written.next() {
            return Ok(Self::parse(done.arg("content")));
        }
        let call = read_file(PATH);
        let read = view.result_of(&call);
        match (read, view.opening(PATH)) {
            (Some(done), _) if !done.failed() => Ok(Self::parse(body(done.result).0)),
            (_, Some(text)) => Ok(Self::parse(text)),
            (Some(_), None) => Ok(Self::default()),
            (None, None) => Err(call),
        }
    }
}

/// Whether a call has written the plan as a whole.
fn writes_plan(done: &Done<'_>) -> bool {
    let appends = done.args.get("append").is_some_and(|append| append == true);
    done.name == "write_plan" || done.name == "write_file" && done.arg("path") == PATH && !appends
}

#[cfg(test)]
mod tests {
    use super::{Phase, Plan};

    #[test]
    fn a_plan_survives_being_written_and_read() {
        let mut plan = Plan {
            head: "# Plan\n\n## Goal\n\nExtract.".to_owned(),
            phases: vec![
                Phase::new("Document preparation", ["Chunk it".to_owned()]),
                Phase::new("Consolidation", ["Write it".to_owned(), "Check it".to_owned()]),
            ],
        };
        assert_eq!(Plan::parse(&plan.render()), plan);
        plan.next_mut().unwrap().finish();
        let read = Plan::parse(&plan.render());
        assert_eq!(read, plan);
        assert_eq!(read.next().unwrap().name, "Consolidation");
    }

    #[test]
    fn a_fulfilled_plan_has_no_next_phase() {
        assert_eq!(Plan::parse("# Plan\n## Phase 1: One\n- [x] a\n- [X] b\n").next(), None);
    }
}
