//! Phases and todo lists of a step, folded: one statement writes each row at most once.

use plumbline_engine::{PhaseKind, PhaseOutcome, Todo, TodoStatus};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The phases that a step opens or closes, and the todo lists that it writes.
#[derive(Default, Serialize)]
pub(super) struct PhaseRows<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opened_phases: Vec<OpenedPhase<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    closed_phases: Vec<ClosedPhase>,
    /// The length of each list; rows beyond belong to the previous list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    todo_lists: Vec<TodoList>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "todo_rows")]
    todos: BTreeMap<i32, Vec<Todo>>,
}

/// A row of `phases`; with its outcome if the same step opens and ends it.
#[derive(Serialize)]
struct OpenedPhase<'a> {
    number: i32,
    kind: PhaseKind,
    name: &'a str,
    outcome: Option<PhaseOutcome>,
}

/// The end of a phase that an earlier step opened.
#[derive(Serialize)]
struct ClosedPhase {
    number: i32,
    outcome: PhaseOutcome,
}

#[derive(Serialize)]
struct TodoList {
    phase_number: i32,
    length: i32,
}

/// A row of `todos`.
#[derive(Serialize)]
struct TodoRow<'a> {
    phase_number: i32,
    #[serde(flatten)]
    todo: &'a Todo,
}

impl<'a> PhaseRows<'a> {
    pub(super) fn open(&mut self, number: i32, kind: PhaseKind, name: &'a str) {
        self.opened_phases.push(OpenedPhase { number, kind, name, outcome: None });
    }

    pub(super) fn close(&mut self, number: i32, outcome: PhaseOutcome) {
        match self.opened_phases.iter_mut().find(|opened| opened.number == number) {
            Some(opened) => opened.outcome = Some(outcome),
            None => self.closed_phases.push(ClosedPhase { number, outcome }),
        }
    }

    pub(super) fn put_todos(&mut self, phase_number: i32, todos: &[Todo]) {
        self.todo_lists.retain(|list| list.phase_number != phase_number);
        let length = todos.iter().map(|todo| todo.position).max().unwrap_or(0);
        self.todo_lists.push(TodoList { phase_number, length });
        self.todos.insert(phase_number, todos.to_vec());
    }

    /// Sets the status of a todo in a list that this step writes; returns whether there is such a list.
    pub(super) fn move_todo(
        &mut self,
        phase_number: i32,
        position: i32,
        status: TodoStatus,
        notes: Option<&str>,
    ) -> bool {
        let Some(list) = self.todos.get_mut(&phase_number) else { return false };
        if let Some(todo) = list.iter_mut().find(|todo| todo.position == position) {
            todo.status = status;
            todo.notes = notes.map(str::to_owned).or(todo.notes.take());
        }
        true
    }
}

/// The todos of all lists, as rows.
fn todo_rows<S: Serializer>(lists: &BTreeMap<i32, Vec<Todo>>, serializer: S) -> Result<S::Ok, S::Error> {
    let rows =
        lists.iter().flat_map(|(&phase_number, list)| list.iter().map(move |todo| TodoRow { phase_number, todo }));
    serializer.collect_seq(rows)
}
