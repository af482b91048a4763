//! Invalid todo lists.

use crate::misbehave::{Kind, Reaction, Turn, bad};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    bad("three_todos", |turn| writing(turn, listed(3))),
    bad("sixty_todos", |turn| writing(turn, listed(60))),
    bad("duplicate_ids", |turn| {
        writing(turn, (0..8).map(|_| json!({"id": 1, "content": "Process the next section"})).collect())
    }),
    bad("empty_todos", |turn| writing(turn, (1..=6).map(|id| json!({"id": id, "content": "  "})).collect())),
    bad("todos_as_text", |turn| {
        let arguments = json!({"phase": "Work", "description": "", "todos": "1. read\n2. extract\n3. write"});
        turn.calling_one("todo_write", &arguments)
    }),
    bad("broken_yaml", |turn| {
        let content = "phase: \"Work\ntodos:\n  - id: 1\n content: read\n\t- {id: 2, content\n";
        turn.calling_one("write_file", &json!({"path": "todos.yaml", "content": content}))
    }),
    bad("closes_unknown_todo", |turn| turn.calling_one("complete_task", &json!({"task_number": 99}))),
];

fn listed(count: usize) -> Vec<Value> {
    (1..=count).map(|id| json!({"id": id, "content": format!("Process section {id} of the document")})).collect()
}

fn writing(turn: &Turn<'_>, todos: Vec<Value>) -> Reaction {
    turn.calling_one("todo_write", &json!({"phase": "Work", "description": "All of it", "todos": todos}))
}
