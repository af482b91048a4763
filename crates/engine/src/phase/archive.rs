//! Writes the two YAML views of todo lists. Strings are written as JSON strings, which YAML reads unchanged, so that
//! no user text can alter the structure.

use crate::{
    PhaseKind, PhaseState, Todo, TodoPlan,
    phase::{Todos, number_list::as_list},
};
use serde_json::Value;
use std::fmt::Write;

/// `todos.yaml`: phase, description and the numbered todos.
pub(crate) fn todo_plan(plan: &TodoPlan) -> String {
    let mut out = String::new();
    line(&mut out, format_args!("phase: {}", quoted(&plan.phase)));
    line(&mut out, format_args!("description: {}", quoted(&plan.description)));
    line(&mut out, format_args!("todos:"));
    for todo in &plan.todos {
        line(&mut out, format_args!("  - id: {}", todo.id));
        line(&mut out, format_args!("    content: {}", quoted(&todo.content)));
        if !todo.passages.is_empty() {
            line(&mut out, format_args!("    passages: {}", quoted(&as_list(&todo.passages))));
        }
    }
    out
}

/// The content of `archive/phase_<n>.yaml` for a phase that ended.
pub(crate) struct Archive<'a> {
    number: i32,
    kind: PhaseKind,
    name: &'a str,
    outcome: &'a str,
    issue: Option<&'a str>,
    todos: &'a [Todo],
}

impl<'a> Archive<'a> {
    pub(crate) fn of(phase: &'a PhaseState, todos: &'a Todos, outcome: &'a str, issue: Option<&'a str>) -> Self {
        Self { number: phase.number, kind: phase.kind, name: &phase.name, outcome, issue, todos }
    }

    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        line(&mut out, format_args!("phase: {}", quoted(self.name)));
        line(&mut out, format_args!("number: {}", self.number));
        line(&mut out, format_args!("kind: {}", self.kind.as_str()));
        line(&mut out, format_args!("outcome: {}", self.outcome));
        if let Some(issue) = self.issue {
            line(&mut out, format_args!("issue: {}", quoted(issue)));
        }
        line(&mut out, format_args!("todos:"));
        for todo in self.todos {
            line(&mut out, format_args!("  - id: {}", todo.position));
            line(&mut out, format_args!("    content: {}", quoted(&todo.content)));
            line(&mut out, format_args!("    status: {}", todo.status.as_str()));
            if let Some(notes) = &todo.notes {
                line(&mut out, format_args!("    notes: {}", quoted(notes)));
            }
        }
        out
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}

fn quoted(text: &str) -> Value {
    Value::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlannedTodo;

    #[test]
    fn lesson_76_user_text_cannot_alter_the_structure() {
        let plan = TodoPlan {
            phase: "A: b\n- c".into(),
            description: "\"quoted\" # no comment".into(),
            todos: vec![PlannedTodo::new(1, "x\ntodos: []".into(), [7, 8, 9, 12].into())],
        };
        let text = todo_plan(&plan);
        assert_eq!(
            text,
            "phase: \"A: b\\n- c\"\ndescription: \"\\\"quoted\\\" # no comment\"\ntodos:\n  - id: 1\n    content: \"x\\ntodos: []\"\n    passages: \"7-9, 12\"\n"
        );
    }
}
