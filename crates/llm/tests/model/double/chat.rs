//! Chat completions as published by OpenAI (`CreateChatCompletionRequest`), with the `reasoning_content` of servers
//! that require it back.

use super::strict::{Waiting, arguments, keys, list, name, text};
use super::{End, Said, event, halves};
use axum::http::HeaderMap;
use serde_json::{Value, json};

fn finish(said: &Said) -> &'static str {
    match said.end {
        End::Cut => "length",
        End::Refused => "content_filter",
        End::Done if said.calls.is_empty() => "stop",
        End::Done => "tool_calls",
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, "prompt_tokens_details": {"cached_tokens": 12}})
}

pub(super) fn body(said: &Said) -> Value {
    let calls: Vec<Value> = said
        .calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": said.text, "refusal": null});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    if let Some(secret) = said.secret {
        message["reasoning_content"] = secret.into();
    }
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "test-model", "usage": usage(),
           "choices": [{"index": 0, "message": message, "finish_reason": finish(said)}]})
}

pub(super) fn events(said: &Said) -> String {
    let chunk = |choices: Value, usage: Value| {
        event(
            None,
            &json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
                            "choices": choices, "usage": usage}),
        )
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null);
    let mut events = delta(json!({"role": "assistant", "content": ""}));
    for piece in said.secret.iter().flat_map(|secret| halves(secret)) {
        events += &delta(json!({"reasoning_content": piece}));
    }
    for piece in halves(said.text) {
        events += &delta(json!({"content": piece}));
    }
    for (index, (id, name, arguments)) in said.calls.iter().enumerate() {
        let function = json!({"name": name, "arguments": ""});
        events += &delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}));
        for piece in halves(arguments) {
            events += &delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
        }
    }
    events += &chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish(said)}]), Value::Null);
    events + &chunk(json!([]), usage()) + "data: [DONE]\n\n"
}

pub(super) fn check(path: &str, headers: &HeaderMap, request: &Value) -> Result<(), String> {
    if path != "/v1/chat/completions" || headers["authorization"] != "Bearer sk-test" {
        return Err(format!("not the path or the key: {path}"));
    }
    let optional =
        ["tools", "tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens", "temperature"];
    let optional = [&optional[..], &["reasoning_effort", "stream", "stream_options"]].concat();
    keys(request, &["model", "messages"], &optional)?;
    if request.get("tools").is_none()
        && (request.get("tool_choice").is_some() || request.get("parallel_tool_calls").is_some())
    {
        return Err("a choice without tools".into());
    }
    if request.get("stream_options").is_some() {
        keys(&request["stream_options"], &["include_usage"], &[])?;
        if request["stream"] != true {
            return Err("options of a stream without one".into());
        }
    }
    for tool in request.get("tools").map(list).transpose()?.unwrap_or_default() {
        keys(tool, &["type", "function"], &[])?;
        keys(&tool["function"], &["name", "parameters"], &["description", "strict"])?;
        name(&tool["function"]["name"])?;
    }
    let mut waiting = Waiting::default();
    for message in list(&request["messages"])? {
        check_message(message, &mut waiting)?;
    }
    waiting.none()
}

fn check_message(message: &Value, waiting: &mut Waiting) -> Result<(), String> {
    match text(&message["role"])? {
        "tool" => {
            keys(message, &["role", "tool_call_id", "content"], &[])?;
            text(&message["content"])?;
            waiting.result(text(&message["tool_call_id"])?)
        }
        "assistant" => {
            waiting.none()?;
            keys(message, &["role"], &["content?", "tool_calls", "reasoning_content"])?;
            let calls = message.get("tool_calls").map(list).transpose()?.unwrap_or_default();
            if message["content"].is_null() && calls.is_empty() {
                return Err("an answer of nothing".into());
            }
            for call in calls {
                keys(call, &["id", "type", "function"], &[])?;
                keys(&call["function"], &["name", "arguments"], &[])?;
                name(&call["function"]["name"])?;
                arguments(&call["function"]["arguments"])?;
                waiting.call(text(&call["id"])?)?;
            }
            Ok(())
        }
        "system" | "user" => {
            waiting.none()?;
            keys(message, &["role", "content"], &[])?;
            text(&message["content"]).map(drop)
        }
        other => Err(format!("an unknown role: {other}")),
    }
}
