//! The other protocols: requests are converted to chat completions, and answers converted back.
//!
//! The model logic knows only chat completions. Requests that a protocol's server would refuse are refused while
//! parsing; the pairing of calls and results is checked afterwards, for all protocols, in [`crate::server::check`].

pub(crate) mod messages;
pub(crate) mod responses;

use crate::server::wire::{ChatResponse, FunctionCall, Message, Reply, Role, ToolCall};
use serde_json::Value;

/// A message of a conversation without calls.
fn said(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned(), tool_calls: Vec::new(), tool_call_id: None }
}

/// Adds a call to the answer that it belongs to, which is the one before it or one of its own.
fn called(messages: &mut Vec<Message>, id: &str, name: &str, arguments: String) {
    let function = FunctionCall { name: name.to_owned(), arguments };
    let call = ToolCall { id: id.to_owned(), kind: "function".to_owned(), function };
    match messages.last_mut() {
        Some(last) if last.role == Role::Assistant => last.tool_calls.push(call),
        _ => messages.push(Message { tool_calls: vec![call], ..said(Role::Assistant, "") }),
    }
}

fn result(id: &str, content: &str) -> Message {
    Message { tool_call_id: Some(id.to_owned()), ..said(Role::Tool, content) }
}

/// The text under a key, which must be there.
fn text<'a>(value: &'a Value, key: &str, place: &str) -> Result<&'a str, String> {
    value[key].as_str().ok_or_else(|| format!("{place} has no text `{key}`; send one"))
}

/// The text under a key, where it may be one text or parts that have texts.
fn joined(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    }
}

/// The items under a key, which must be there.
fn list<'a>(value: &'a Value, key: &str, place: &str) -> Result<&'a [Value], String> {
    value[key].as_array().map(Vec::as_slice).ok_or_else(|| format!("{place} has no list `{key}`; send one"))
}

/// The one message of an answer.
fn reply(answer: &ChatResponse) -> Option<&Reply> {
    answer.choices.first().map(|choice| &choice.message)
}

/// One event of a stream, named by the type of its data.
fn say(events: &mut String, data: &Value) {
    let name = data["type"].as_str().unwrap_or_default();
    events.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}
