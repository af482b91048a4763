//! Phases and todo lists of a step, as the arguments of a statement.

use super::batch::Batch;
use crate::rows::json;
use plumbline_engine::Todo;
use serde::Serialize;

/// Arrays of JSON objects, and how many there are in each.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) opened: Rows,
    pub(super) closed: Rows,
    pub(super) lengths: Rows,
    pub(super) todos: Rows,
}

/// Rows of one table.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) array: String,
    pub(super) count: usize,
}

/// How long a list that is put is; rows beyond belong to the list before.
#[derive(Serialize)]
struct ListLength {
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

impl Rows {
    fn of<T: Serialize>(rows: &[T]) -> Self {
        Self { array: json(&rows), count: rows.len() }
    }
}

impl Plan {
    pub(super) fn of(batch: &Batch<'_>) -> Self {
        let lists = || batch.lists.iter().map(|(&phase_number, list)| (phase_number, list));
        let todos: Vec<TodoRow<'_>> = lists()
            .flat_map(|(phase_number, list)| list.iter().map(move |todo| TodoRow { phase_number, todo }))
            .collect();
        let length = |list: &Vec<Todo>| list.iter().map(|todo| todo.position).max().unwrap_or(0);
        let lengths: Vec<ListLength> =
            lists().map(|(phase_number, list)| ListLength { phase_number, length: length(list) }).collect();
        Self {
            opened: Rows::of(&batch.opened),
            closed: Rows::of(&batch.closed),
            lengths: Rows::of(&lengths),
            todos: Rows::of(&todos),
        }
    }

    /// Whether there is anything to write.
    pub(super) fn is_in(batch: &Batch<'_>) -> bool {
        !(batch.opened.is_empty() && batch.closed.is_empty() && batch.lists.is_empty())
    }

    pub(super) fn bytes(&self) -> usize {
        [&self.opened, &self.closed, &self.lengths, &self.todos].iter().map(|rows| rows.array.len()).sum()
    }
}
