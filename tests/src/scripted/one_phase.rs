//! A job of one phase: its plan, its work, its end.

use super::{Reply, Request};
use serde_json::{Value, json};

/// A tool call: the tool and its arguments.
pub type Call = (&'static str, Value);

/// The turn that plans one phase and opens it.
pub fn reads() -> Reply {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Read part {id}")})).collect();
    let note = json!({"path": "workspace.md", "content": "- All of it is read.\n", "append": true});
    let mut calls = vec![
        ("write_file", note),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Reading\n- [ ] read\n"})),
        ("todo_write", json!({"phase": "Reading", "description": "All of it", "todos": todos})),
    ];
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 4));
    Reply::calls(&calls)
}

/// One phase of work with these answers, one after the other, then the end.
pub fn one_phase(request: &Request, answers: &[Vec<Call>]) -> Reply {
    match (request.is_strategic(), request.has("Phase 1: Reading")) {
        (true, false) => reads(),
        (true, true) => Reply::calls(&[(
            "job_complete",
            json!({"summary": "Done.", "deliverables": ["output/answer.md"], "undelivered": [], "confidence": 0.9}),
        )]),
        (false, _) => match answers.get(request.answers()) {
            Some(answer) => Reply::calls(answer),
            None => {
                let content = "What the calls have given is in the books of the server.";
                let mut calls = vec![("write_file", json!({"path": "output/answer.md", "content": content}))];
                calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
                Reply::calls(&calls)
            }
        },
    }
}
