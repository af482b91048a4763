//! An answer as server-sent events, for requests with `stream: true`.
//!
//! The whole answer is known before its first event, so all events are sent at once: a client sees the format of a
//! stream, not its pace.

use serde_json::{Value, json};

use crate::server::wire::{ChatResponse, Reply};

/// The events of an answer, the closing `[DONE]` included; with `usage` the counts come in an event of their own.
pub(crate) fn events(answer: &ChatResponse, usage: bool) -> String {
    let mut events = String::new();
    for choice in &answer.choices {
        for delta in deltas(&choice.message) {
            say(&mut events, &chunk(answer, json!([{"index": choice.index, "delta": delta, "finish_reason": null}])));
        }
        let end = json!([{"index": choice.index, "delta": {}, "finish_reason": choice.finish_reason}]);
        say(&mut events, &chunk(answer, end));
    }
    if usage {
        let mut counts = chunk(answer, json!([]));
        counts["usage"] = json!(answer.usage);
        say(&mut events, &counts);
    }
    events.push_str("data: [DONE]\n\n");
    events
}

/// The text, then each call: first its name, then its arguments.
fn deltas(message: &Reply) -> Vec<Value> {
    let mut deltas = vec![json!({"role": message.role, "content": message.content})];
    for (index, call) in message.tool_calls.iter().enumerate() {
        let named = json!({"index": index, "id": call.id, "type": call.kind,
                           "function": {"name": call.function.name, "arguments": ""}});
        let argued = json!({"index": index, "function": {"arguments": call.function.arguments}});
        deltas.extend([named, argued].map(|call| json!({"tool_calls": [call]})));
    }
    deltas
}

fn chunk(answer: &ChatResponse, choices: Value) -> Value {
    json!({
        "id": answer.id,
        "object": "chat.completion.chunk",
        "created": answer.created,
        "model": answer.model,
        "choices": choices,
    })
}

fn say(events: &mut String, chunk: &Value) {
    events.push_str(&format!("data: {chunk}\n\n"));
}
