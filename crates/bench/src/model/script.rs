//! The model's answers.
//!
//! The first turn plans one phase of five todos, the last one completes the job, and each turn between writes one part
//! (or reads a part of a document, or reads a passage and records the previous one); the last of these closes the todos. So a job of n turns makes exactly n model calls, plus
//! one for each summary.

use super::scan::{Facts, Stage, Tool};
use plumbline_bench::prose::prose;
use plumbline_documents::chunking::chunk_path;
use serde_json::{Value, json};

/// Todos of the one tactical phase.
const TODOS: usize = 5;

/// Lines of the document that one reading turn requests, of about 90 bytes each.
const LINES: u32 = 23;

/// Passages of the document of a job that records requirements.
pub(crate) const PASSAGES: u32 = 8;

/// Requirements recorded of a passage.
pub(crate) const ITEMS: u32 = 20;

/// Why the others are none.
const REASON: &str = "the other sentences say the same again";

/// The answer's body.
pub(super) fn answer(facts: &Facts, request_bytes: usize) -> Vec<u8> {
    let message = match facts.stage {
        Stage::Summary => summary(facts),
        Stage::Plan => calling(plan()),
        Stage::Work => calling(work(facts)),
        Stage::Close => calling(close(facts)),
    };
    let finish = if message.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    // Four bytes a token, as the rehearsal model estimates.
    let (prompt, completion) = (request_bytes / 4, 20 + facts.order.bytes / 4);
    let body = json!({
        "id": "bench",
        "object": "chat.completion",
        "created": 0,
        "model": "bench",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    });
    body.to_string().into_bytes()
}

/// Names the last part, because the conversation that contains it is about to be dropped.
fn summary(facts: &Facts) -> Value {
    let text = format!("The parts up to part_{:05} are written; go on with the next one.", facts.part);
    json!({"role": "assistant", "content": text})
}

fn calling(calls: Vec<(&'static str, Value)>) -> Value {
    let calls: Vec<Value> = calls
        .into_iter()
        .enumerate()
        .map(|(place, (name, arguments))| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"id": format!("call_{place}"), "type": "function", "function": function})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn plan() -> Vec<(&'static str, Value)> {
    let todos: Vec<Value> =
        (1..=TODOS).map(|id| json!({"id": id, "content": format!("Write the parts of section {id}")})).collect();
    let mut calls = vec![
        ("add_note", json!({"text": "The parts are written one after another."})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Parts\n- [ ] write all parts\n"})),
        ("todo_write", json!({"phase": "Parts", "description": "Write all parts", "todos": todos})),
    ];
    // The first strategic phase has four todos.
    calls.extend(closing(4));
    calls
}

fn work(facts: &Facts) -> Vec<(&'static str, Value)> {
    let part = facts.part + 1;
    let last = part >= facts.order.turns.saturating_sub(2);
    let mut calls = Vec::new();
    match facts.order.tool {
        Tool::Write => {
            let seed = facts
                .order
                .tag
                .bytes()
                .fold(u64::from(part), |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
            calls.push(("write_file", json!({"path": path(part), "content": prose(seed, facts.order.bytes)})));
        }
        Tool::Read => {
            let offset = (part - 1) * LINES + 1;
            calls.push(("read_file", json!({"path": "input/document.txt", "offset": offset, "limit": LINES})));
            calls.push(note(part));
        }
        Tool::Record => {
            calls.extend(recording(part, turns_per_passage(facts.order.turns)));
            calls.push(note(part));
        }
    }
    if last {
        calls.extend(closing(facts.open_todos));
    }
    calls
}

/// A short note: its path has the part's number, which determines the next answer, and the engine would replan a job
/// without any change.
fn note(part: u32) -> (&'static str, Value) {
    ("write_file", json!({"path": path(part), "content": prose(part.into(), 60)}))
}

/// Turns of a job that takes this many turns for each passage: each is read in the first turn of its own and recorded in
/// those of the next one; a turn for the last decision, planning and closing.
pub(crate) fn recording_turns(per_passage: u32) -> u32 {
    per_passage * (PASSAGES + 1) + 3
}

fn turns_per_passage(turns: u32) -> u32 {
    (turns.saturating_sub(3) / (PASSAGES + 1)).max(1)
}

/// The calls of a turn that read a passage, record one, and decide one.
fn recording(part: u32, per_passage: u32) -> Vec<(&'static str, Value)> {
    let (passage, turn) = ((part - 1) / per_passage + 1, (part - 1) % per_passage);
    let mut calls = Vec::new();
    calls.extend((turn == 0 && passage > 2).then(|| close_rest(passage - 2)));
    calls.extend((2..=PASSAGES + 1).contains(&passage).then(|| record(passage - 1, turn, per_passage)));
    calls.extend((turn == 0 && passage <= PASSAGES).then(|| ("read_file", json!({"path": chunk_path(passage)}))));
    calls
}

/// Every second sentence of a passage is a requirement; a turn records its share of them, the last one decides the passage.
fn record(passage: u32, turn: u32, turns: u32) -> (&'static str, Value) {
    let items = turn * ITEMS / turns + 1..=(turn + 1) * ITEMS / turns;
    let items: Vec<Value> = items.map(|item| json!({"s": (2 * item).to_string()})).collect();
    let mut arguments = json!({"passage": passage, "items": items});
    if turn + 1 == turns {
        arguments["rest"] = json!([{"why": REASON}]);
    }
    ("record_passage", arguments)
}

/// The other sentences are closed with one reason, a turn later: the first decision is answered with their names.
fn close_rest(passage: u32) -> (&'static str, Value) {
    ("close_passages", json!({"passages": [{"passage": passage, "reason": REASON}]}))
}

fn close(facts: &Facts) -> Vec<(&'static str, Value)> {
    let result = json!({"summary": "All parts are written.", "deliverables": [path(1)], "confidence": 1.0});
    let mut calls = closing(facts.open_todos.saturating_sub(1));
    calls.push(("job_complete", result));
    calls
}

fn closing(todos: usize) -> Vec<(&'static str, Value)> {
    (0..todos).map(|_| ("todo_complete", json!({}))).collect()
}

fn path(part: u32) -> String {
    format!("work/part_{part:05}.md")
}
