//! Well-formed calls without progress.

use crate::misbehave::{Kind, bad};
use serde_json::json;

pub(super) const KINDS: &[Kind] = &[
    bad("repeated_call", |turn| turn.calling_one("list_files", &json!({"path": "input"}))),
    bad("ping_pong", |turn| {
        let name = if turn.number % 2 == 0 { "read_plan" } else { "list_files" };
        turn.calling_one(name, &json!({}))
    }),
    // Its result counts the requests, so it differs each time.
    bad("polling", |turn| turn.calling_one("get_progress", &json!({}))),
    bad("wandering", |turn| turn.calling_one("search_files", &json!({"query": format!("clue {}", turn.number)}))),
    bad("rewinds", |turn| {
        let issue = "The chunks were cut in the wrong place, so the phase has to be planned anew.";
        turn.calling_one("todo_rewind", &json!({ "issue": issue }))
    }),
    bad("resets", |turn| match turn.is_strategic() {
        true => turn.calling_one("archive_and_reset", &json!({})),
        false => turn.calling_one("todo_rewind", &json!({"issue": format!("problem {} came up", turn.number)})),
    }),
    bad("notes_only", |turn| {
        turn.calling_one("add_note", &json!({"text": format!("Thought {}: the work is going well.", turn.number)}))
    }),
];
