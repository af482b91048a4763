//! The todo lists of a run: that of the current phase, and the one written for the next phase.

use crate::{Change, Todo, TodoStatus, guardrail::fingerprint, run::Step};
use std::ops::Deref;

/// The lists. Every change of them is a change of the step.
#[derive(Debug, PartialEq)]
pub struct Todos {
    phase: i32,
    current: Vec<Todo>,
    staged: Vec<Todo>,
}

/// Those of the current phase.
impl Deref for Todos {
    type Target = [Todo];

    fn deref(&self) -> &[Todo] {
        &self.current
    }
}

impl Todos {
    pub(crate) fn new(phase: i32, current: Vec<Todo>, staged: Vec<Todo>) -> Self {
        Self { phase, current, staged }
    }

    /// Those written for the next phase.
    pub(crate) fn staged(&self) -> &[Todo] {
        &self.staged
    }

    /// The first open one.
    pub(crate) fn current(&self) -> Option<&Todo> {
        self.open().next()
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Todo> {
        self.current.iter().filter(|todo| todo.status.is_open())
    }

    /// The open ones: "3. Read the annex; 4. Compare".
    pub(crate) fn open_in_words(&self) -> String {
        self.open().map(|todo| format!("{}. {}", todo.position, todo.content)).collect::<Vec<_>>().join("; ")
    }

    /// How many are completed.
    pub(crate) fn completed(&self) -> usize {
        self.current.iter().filter(|todo| todo.status == TodoStatus::Completed).count()
    }

    /// Fingerprint of their texts.
    pub(crate) fn fingerprint(&self) -> u32 {
        fingerprint::of_list(self.current.iter().map(|todo| todo.content.as_str()))
    }

    /// Sets the status of a todo.
    pub(crate) fn set(&mut self, step: &mut Step, position: i32, status: TodoStatus, notes: Option<String>) {
        if let Some(todo) = self.current.iter_mut().find(|todo| todo.position == position) {
            todo.status = status;
            todo.notes = notes.clone();
        }
        step.push(Change::TodoMoved { phase_number: self.phase, position, status, notes });
    }

    /// Closes a todo and makes the next one current.
    pub(crate) fn move_on(&mut self, step: &mut Step, position: i32, notes: Option<String>) {
        self.set(step, position, TodoStatus::Completed, notes);
        if let Some(next) = self.current().map(|todo| todo.position) {
            self.set(step, next, TodoStatus::InProgress, None);
        }
    }

    /// Abandons the open ones. Notes from before are kept.
    pub(crate) fn abandon_open(&mut self, step: &mut Step) {
        for todo in self.current.iter_mut().filter(|todo| todo.status.is_open()) {
            todo.status = TodoStatus::Abandoned;
            let (phase_number, position, status) = (self.phase, todo.position, todo.status);
            step.push(Change::TodoMoved { phase_number, position, status, notes: None });
        }
    }

    /// Writes the list of the next phase.
    pub(crate) fn stage(&mut self, step: &mut Step, todos: Vec<Todo>) {
        step.push(Change::TodosPut { phase_number: self.phase + 1, todos: todos.clone() });
        self.staged = todos;
    }

    /// The phase with this number begins, with the list written for it or with this one, which replaces it.
    pub(crate) fn begin(&mut self, step: &mut Step, phase: i32, own: Option<Vec<Todo>>) {
        let staged = std::mem::take(&mut self.staged);
        (self.phase, self.current) = (phase, own.unwrap_or(staged));
        if let Some(first) = self.current.first_mut() {
            first.status = TodoStatus::InProgress;
        }
        step.push(Change::TodosPut { phase_number: phase, todos: self.current.clone() });
    }
}
