//! OpenAI's responses.

use super::{called, joined, list, reply, result, said, say, text};
use crate::server::wire::{ChatRequest, ChatResponse, Message, Role, Tool};
use serde_json::{Value, json};

/// Reads a request.
///
/// # Errors
/// A sentence on what a server would refuse.
pub(crate) fn request(body: &Value) -> Result<ChatRequest, String> {
    if body["store"] != false {
        return Err("this model stores nothing; send store: false".to_owned());
    }
    let mut messages: Vec<Message> =
        body["instructions"].as_str().map(|text| said(Role::System, text)).into_iter().collect();
    match body["input"].as_str() {
        Some(words) => messages.push(said(Role::User, words)),
        None => {
            for (index, item) in list(body, "input", "the request")?.iter().enumerate() {
                read_item(item, &format!("input[{index}]"), &mut messages)?;
            }
        }
    }
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    Ok(ChatRequest {
        model: text(body, "model", "the request")?.to_owned(),
        messages,
        tools: tools.into_iter().map(|function| Tool { function }).collect(),
        tool_choice: body.get("tool_choice").cloned(),
        max_tokens: body["max_output_tokens"].as_u64(),
        max_completion_tokens: None,
        stream: body["stream"] == true,
        stream_options: None,
    })
}

fn read_item(item: &Value, place: &str, messages: &mut Vec<Message>) -> Result<(), String> {
    // A message need not say that it is one.
    let kind =
        if item["role"].is_string() { item["type"].as_str().unwrap_or("message") } else { text(item, "type", place)? };
    match kind {
        "message" => {
            let role = match text(item, "role", place)? {
                "system" | "developer" => Role::System,
                "assistant" => Role::Assistant,
                _ => Role::User,
            };
            messages.push(said(role, &joined(item, "content")));
        }
        "function_call" => {
            let arguments = text(item, "arguments", place)?.to_owned();
            called(messages, text(item, "call_id", place)?, text(item, "name", place)?, arguments);
        }
        "function_call_output" => messages.push(result(text(item, "call_id", place)?, text(item, "output", place)?)),
        "reasoning" if item["encrypted_content"].is_string() => {}
        other => return Err(format!("{place} is of type {other}, which cannot be read here; leave it out")),
    }
    Ok(())
}

/// The answer as a response.
pub(crate) fn body(answer: &ChatResponse) -> Value {
    let usage = answer.usage;
    json!({
        "id": answer.id, "object": "response", "created_at": answer.created, "model": answer.model,
        "status": "completed", "error": null, "incomplete_details": null, "store": false, "output": output(answer),
        "usage": {
            "input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens, "output_tokens_details": {"reasoning_tokens": 0},
            "input_tokens_details": {"cached_tokens": usage.prompt_tokens_details.cached_tokens},
        },
    })
}

fn output(answer: &ChatResponse) -> Vec<Value> {
    let Some(reply) = reply(answer) else { return Vec::new() };
    let phase = if reply.tool_calls.is_empty() { "final_answer" } else { "commentary" };
    let said = reply.content.as_ref().map(|text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!({"type": "message", "id": format!("msg_{}", answer.id), "role": "assistant", "status": "completed",
               "phase": phase, "content": content})
    });
    let calls = reply.tool_calls.iter().map(|call| {
        json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "status": "completed",
               "name": call.function.name, "arguments": call.function.arguments})
    });
    said.into_iter().chain(calls).collect()
}

/// The answer as a stream.
pub(crate) fn events(answer: &ChatResponse) -> String {
    let whole = body(answer);
    let mut begun = whole.clone();
    (begun["status"], begun["output"], begun["usage"]) = ("in_progress".into(), json!([]), Value::Null);
    let mut events = String::new();
    say(&mut events, &json!({"type": "response.created", "response": begun}));
    for (index, item) in output(answer).into_iter().enumerate() {
        say(&mut events, &json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        if let Some(text) = item["content"][0]["text"].as_str() {
            say(&mut events, &json!({"type": "response.output_text.delta", "output_index": index, "delta": text}));
        }
        if let Some(text) = item["arguments"].as_str() {
            let kind = "response.function_call_arguments.delta";
            say(&mut events, &json!({"type": kind, "output_index": index, "delta": text}));
        }
        say(&mut events, &json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    say(&mut events, &json!({"type": "response.completed", "response": whole}));
    events
}
