//! Calls of the wrong tool, under a wrong name, with a wrong id, or far too many of them.

use crate::misbehave::turn::call;
use crate::misbehave::{Kind, Reaction, Turn, bad, odd};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    bad("wrong_phase", |turn| match turn.is_strategic() {
        true => turn.calling_one("add_requirement", &json!({"text": "Invoices must be kept for ten years."})),
        false => turn.calling_one("write_plan", &json!({"content": "# Plan\n\n## Phase 1: Everything at once\n"})),
    }),
    bad("unknown_tool", |turn| turn.calling_one("execute_shell", &json!({"command": "ls -la"}))),
    bad("misspelt_tool", |turn| turn.changing_calls(|_, call| call["function"]["name"] = json!(misspelt(name(call))))),
    bad("wrong_case", |turn| {
        turn.changing_calls(|_, call| call["function"]["name"] = json!(name(call).to_uppercase()))
    }),
    bad("prefixed_tool", |turn| {
        turn.changing_calls(|_, call| call["function"]["name"] = json!(format!("functions.{}", name(call))))
    }),
    bad("nameless_call", |turn| turn.changing_calls(|_, call| call["function"]["name"] = json!(""))),
    odd("same_ids", |turn| turn.changing_calls(|_, call| call["id"] = json!("call_0"))),
    odd("empty_ids", |turn| turn.changing_calls(|_, call| call["id"] = json!(""))),
    odd("missing_ids", |turn| turn.changing_calls(|_, call| call["id"] = Value::Null)),
    odd("no_wrapper", |turn| {
        turn.changing_calls(|_, call| {
            let function = call["function"].take();
            *call = json!({"id": call["id"], "name": function["name"], "arguments": function["arguments"]});
        })
    }),
    odd("doubled_calls", |turn| {
        turn.changed(|answer| {
            let calls = turn.calls();
            let doubled = calls.iter().filter(|call| reads(name(call))).chain(&calls).cloned().collect::<Vec<_>>();
            if !doubled.is_empty() {
                answer["choices"][0]["message"]["tool_calls"] = json!(doubled);
            }
        })
    }),
    bad("sixty_four_calls", |turn| many(turn, 64)),
    bad("two_hundred_calls", |turn| many(turn, 200)),
];

fn name(call: &Value) -> &str {
    call["function"]["name"].as_str().unwrap_or_default()
}

fn misspelt(name: &str) -> String {
    name.replace('_', "")
}

fn reads(name: &str) -> bool {
    matches!(name, "read_file" | "list_files" | "search_files")
}

/// This many reads of files that may or may not exist.
fn many(turn: &Turn<'_>, count: usize) -> Reaction {
    let read = |number| call(number, "read_file", &json!({"path": format!("chunks/chunk_{number:03}.md")}));
    turn.calling((1..=count).map(read).collect())
}
