//! Todos: the unit of the inner loop. Rows are the state; `todos.yaml` and the frame are views of them.

use crate::phase::number_list::numbers_after;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The status of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// The one being worked on: always the first open one of the current phase.
    InProgress,
    /// Closed by `todo_complete`.
    Completed,
    /// Left open when its phase was abandoned.
    Abandoned,
}

impl TodoStatus {
    /// The word used in SQL.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether work on it is still expected.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => true,
            Self::Completed | Self::Abandoned => false,
        }
    }
}

/// One todo of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Place in its list, from 1; the number the model sees.
    pub position: i32,
    /// What to do.
    pub content: String,
    /// The passages that it covers, by number, in order.
    #[serde(default)]
    pub passages: Vec<i32>,
    /// Its status.
    pub status: TodoStatus,
    /// What the model noted when closing it.
    pub notes: Option<String>,
}

impl Todo {
    /// A todo that has not begun.
    pub fn pending(position: i32, content: impl Into<String>) -> Self {
        Self { position, content: content.into(), passages: Vec::new(), status: TodoStatus::Pending, notes: None }
    }
}

/// Todos written for the next phase: the content of `todos.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoPlan {
    /// Name of the phase.
    pub phase: String,
    /// The purpose of the phase.
    pub description: String,
    /// The todos, in order.
    pub todos: Vec<PlannedTodo>,
}

impl TodoPlan {
    /// The list of the phase.
    pub(crate) fn list(&self) -> Vec<Todo> {
        let todo = |(position, todo): (i32, &PlannedTodo)| Todo {
            passages: todo.passages.iter().copied().collect(),
            ..Todo::pending(position, todo.content.clone())
        };
        (1..).zip(&self.todos).map(todo).collect()
    }
}

/// One item of `todos.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTodo {
    /// Unique within the file.
    pub id: i64,
    /// What to do.
    pub content: String,
    /// The passages that it covers: those listed with it, and those that its text names ("chunks 7-9").
    pub passages: BTreeSet<i32>,
}

impl PlannedTodo {
    /// A todo with these passages and those that its text names.
    pub(crate) fn new(id: i64, content: String, passages: BTreeSet<i32>) -> Self {
        let named = numbers_after(&content, &["chunk", "passage"]);
        Self { id, content, passages: passages.into_iter().chain(named).collect() }
    }
}

impl From<&Todo> for PlannedTodo {
    fn from(todo: &Todo) -> Self {
        let Todo { position, content, passages, .. } = todo;
        Self { id: i64::from(*position), content: content.clone(), passages: passages.iter().copied().collect() }
    }
}
