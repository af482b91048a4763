//! Anthropic's messages.

use super::{called, list, reply, result, said, say, text};
use crate::server::wire::{ChatRequest, ChatResponse, Message, Role, Tool};
use serde_json::{Value, json};

/// Reads a request.
///
/// # Errors
/// A sentence on what a server would refuse.
pub(crate) fn request(body: &Value) -> Result<ChatRequest, String> {
    let parts = body["system"].as_array().into_iter().flatten().map(|part| &part["text"]);
    let system = parts.chain([&body["system"]]).filter_map(Value::as_str);
    let mut messages: Vec<Message> = system.map(|text| said(Role::System, text)).collect();
    for (index, turn) in list(body, "messages", "the request")?.iter().enumerate() {
        let place = format!("messages[{index}]");
        if text(turn, "role", &place)? != ["user", "assistant"][index % 2] {
            return Err(format!(
                "{place} has the role of the one before it; users and the model alternate, a user first"
            ));
        }
        if let Some(words) = turn["content"].as_str() {
            read_block(&json!({"type": "text", "text": words}), index % 2 == 1, &place, &mut messages)?;
            continue;
        }
        for block in list(turn, "content", &place)? {
            read_block(block, index % 2 == 1, &place, &mut messages)?;
        }
    }
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let max_tokens = body["max_tokens"].as_u64().ok_or("the request has no max_tokens; send a number")?;
    // Tools that are named for the conversation's sake alone: a summary is asked for.
    let tools = if body["tool_choice"]["type"] == "none" { Vec::new() } else { tools };
    Ok(ChatRequest {
        model: text(body, "model", "the request")?.to_owned(),
        messages,
        tools: tools.into_iter().map(|function| Tool { function }).collect(),
        tool_choice: None,
        max_tokens: Some(max_tokens),
        max_completion_tokens: None,
        stream: body["stream"] == true,
        stream_options: None,
    })
}

fn read_block(block: &Value, of_model: bool, place: &str, messages: &mut Vec<Message>) -> Result<(), String> {
    match (text(block, "type", place)?, of_model) {
        ("text", _) => {
            let words = text(block, "text", place)?;
            if words.trim().is_empty() {
                return Err(format!("{place} has a text without anything in it; leave it out"));
            }
            messages.push(said(if of_model { Role::Assistant } else { Role::User }, words));
        }
        ("tool_use", true) if block["input"].is_object() => {
            called(messages, text(block, "id", place)?, text(block, "name", place)?, block["input"].to_string());
        }
        ("tool_result", false) => {
            messages.push(result(text(block, "tool_use_id", place)?, block["content"].as_str().unwrap_or_default()));
        }
        ("thinking" | "redacted_thinking", true) => {}
        (other, _) => {
            return Err(format!("{place} has a block of type {other}, which cannot stand there; leave it out"));
        }
    }
    Ok(())
}

/// The answer as a message.
pub(crate) fn body(answer: &ChatResponse) -> Value {
    json!({
        "id": answer.id, "type": "message", "role": "assistant", "model": answer.model, "content": content(answer),
        "stop_reason": stop_reason(answer), "stop_sequence": null, "usage": usage(answer),
    })
}

fn usage(answer: &ChatResponse) -> Value {
    json!({"input_tokens": answer.usage.prompt_tokens, "output_tokens": answer.usage.completion_tokens,
           "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
}

fn stop_reason(answer: &ChatResponse) -> &'static str {
    match reply(answer) {
        Some(reply) if !reply.tool_calls.is_empty() => "tool_use",
        _ => "end_turn",
    }
}

fn content(answer: &ChatResponse) -> Vec<Value> {
    let Some(reply) = reply(answer) else { return Vec::new() };
    let said = reply.content.as_ref().map(|text| json!({"type": "text", "text": text}));
    let calls = reply.tool_calls.iter().map(|call| {
        let input: Value = serde_json::from_str(&call.function.arguments).unwrap_or_default();
        json!({"type": "tool_use", "id": call.id, "name": call.function.name, "input": input})
    });
    said.into_iter().chain(calls).collect()
}

/// The answer as a stream.
pub(crate) fn events(answer: &ChatResponse) -> String {
    let mut begun = body(answer);
    (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
    let mut events = String::new();
    say(&mut events, &json!({"type": "message_start", "message": begun}));
    for (index, mut block) in content(answer).into_iter().enumerate() {
        let delta = match block["input"].is_object() {
            true => {
                let input = std::mem::replace(&mut block["input"], json!({}));
                json!({"type": "input_json_delta", "partial_json": input.to_string()})
            }
            false => {
                let words = std::mem::replace(&mut block["text"], "".into());
                json!({"type": "text_delta", "text": words})
            }
        };
        say(&mut events, &json!({"type": "content_block_start", "index": index, "content_block": block}));
        say(&mut events, &json!({"type": "content_block_delta", "index": index, "delta": delta}));
        say(&mut events, &json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    say(&mut events, &json!({"type": "message_delta", "delta": end, "usage": usage(answer)}));
    say(&mut events, &json!({"type": "message_stop"}));
    events
}
