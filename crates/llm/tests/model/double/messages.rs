//! Messages, as Anthropic publishes them.

use super::strict::{Waiting, keys, list, name, object, text};
use super::{End, Said, event, halves};
use axum::http::HeaderMap;
use serde_json::{Value, json};

fn stop_reason(said: &Said) -> &'static str {
    match said.end {
        End::Cut => "max_tokens",
        End::Refused => "refusal",
        End::Done if said.calls.is_empty() => "end_turn",
        End::Done => "tool_use",
    }
}

fn blocks(said: &Said) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(secret) = said.secret {
        blocks.push(json!({"type": "thinking", "thinking": "Let me see.", "signature": secret}));
    }
    if !said.text.is_empty() {
        blocks.push(json!({"type": "text", "text": said.text}));
    }
    for (id, name, arguments) in &said.calls {
        let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    blocks
}

fn usage() -> Value {
    json!({"input_tokens": 8, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 12, "output_tokens": 7})
}

pub(super) fn body(said: &Said) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model", "content": blocks(said),
           "stop_reason": stop_reason(said), "stop_sequence": null, "usage": usage()})
}

pub(super) fn events(said: &Said) -> String {
    let typed = |mut data: Value, kind: &str| {
        data["type"] = kind.into();
        event(Some(kind), &data)
    };
    let mut begun = body(said);
    (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
    begun["usage"]["output_tokens"] = 1.into();
    let mut events = typed(json!({"message": begun}), "message_start") + &typed(json!({}), "ping");
    let mut calls = said.calls.iter();
    for (index, mut block) in blocks(said).into_iter().enumerate() {
        let deltas: Vec<Value> = match block["type"].as_str().unwrap() {
            "thinking" => {
                let signature = block["signature"].take();
                let thought = block["thinking"].take();
                (block["thinking"], block["signature"]) = ("".into(), "".into());
                let thoughts =
                    halves(thought.as_str().unwrap()).map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                thoughts.into_iter().chain([json!({"type": "signature_delta", "signature": signature})]).collect()
            }
            "text" => {
                block["text"] = "".into();
                halves(said.text).map(|piece| json!({"type": "text_delta", "text": piece})).into()
            }
            _ => {
                block["input"] = json!({});
                let arguments = calls.next().unwrap().2;
                halves(arguments).map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).into()
            }
        };
        events += &typed(json!({"index": index, "content_block": block}), "content_block_start");
        for delta in deltas {
            events += &typed(json!({"index": index, "delta": delta}), "content_block_delta");
        }
        events += &typed(json!({"index": index}), "content_block_stop");
    }
    let end =
        json!({"delta": {"stop_reason": stop_reason(said), "stop_sequence": null}, "usage": {"output_tokens": 7}});
    events + &typed(end, "message_delta") + &typed(json!({}), "message_stop")
}

pub(super) fn check(path: &str, headers: &HeaderMap, request: &Value) -> Result<(), String> {
    if path != "/v1/messages" || headers["x-api-key"] != "sk-test" || headers["anthropic-version"] != "2023-06-01" {
        return Err(format!("not the path, the key or the version: {path}"));
    }
    if headers.contains_key("authorization") {
        return Err("the key stands in a second header".into());
    }
    let optional = ["system", "tools", "tool_choice", "temperature", "thinking", "output_config", "stream"];
    keys(request, &["model", "messages", "max_tokens"], &optional)?;
    let system = request.get("system").map(list).transpose()?.unwrap_or_default();
    system.iter().try_for_each(text_block)?;
    let tools = request.get("tools").map(list).transpose()?.unwrap_or_default();
    for tool in tools {
        keys(tool, &["name", "input_schema"], &["description"])?;
        name(&tool["name"])?;
        if tool["input_schema"]["type"] != "object" {
            return Err(format!("the schema is no object's: {tool}"));
        }
    }
    if request.to_string().matches("\"cache_control\"").count() > 4 {
        return Err("more than four marks".into());
    }
    let forced = matches!(request["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    if forced && request.get("thinking").is_some() {
        return Err("thinking may not be enabled when tool_choice forces tool use".into());
    }
    check_budget(request)?;
    check_turns(list(&request["messages"])?, !tools.is_empty())
}

fn check_budget(request: &Value) -> Result<(), String> {
    let Some(budget) = request["thinking"]["budget_tokens"].as_u64() else { return Ok(()) };
    if request["max_tokens"].as_u64() <= Some(budget) {
        return Err("`max_tokens` must be greater than `thinking.budget_tokens`".into());
    }
    let last = list(&request["messages"])?.iter().rfind(|turn| turn["role"] == "assistant");
    let blocks = last.map(|turn| list(&turn["content"])).transpose()?.unwrap_or_default();
    let calls = blocks.iter().any(|block| block["type"] == "tool_use");
    if calls && blocks[0]["type"] != "thinking" {
        return Err("Expected `thinking` or `redacted_thinking`, but found `tool_use`".into());
    }
    Ok(())
}

fn check_turns(turns: &[Value], has_tools: bool) -> Result<(), String> {
    let mut waiting = Waiting::default();
    for (place, turn) in turns.iter().enumerate() {
        keys(turn, &["role", "content"], &[])?;
        if turn["role"] != ["user", "assistant"][place % 2] {
            return Err(format!("roles do not alternate at {place}"));
        }
        let blocks = list(&turn["content"])?;
        if blocks.is_empty() {
            return Err(format!("an empty turn at {place}"));
        }
        for block in blocks {
            check_block(block, place % 2 == 1, has_tools, &mut waiting)?;
        }
        if place % 2 == 0 {
            waiting.none()?;
        }
    }
    if turns.len() % 2 == 1 { Ok(()) } else { Err("the last turn is the model's".into()) }
}

fn check_block(block: &Value, of_model: bool, has_tools: bool, waiting: &mut Waiting) -> Result<(), String> {
    match (text(&block["type"])?, of_model) {
        ("text", true) => text_block(block),
        ("text", false) => {
            // Results come first in the turn after their calls.
            waiting.none()?;
            text_block(block)
        }
        ("thinking", true) => {
            keys(block, &["type", "thinking", "signature"], &[])?;
            if text(&block["signature"])?.is_empty() { Err("thinking without its signature".into()) } else { Ok(()) }
        }
        ("tool_use", true) if has_tools => {
            keys(block, &["type", "id", "name", "input"], &["cache_control"])?;
            object(&block["input"])?;
            name(&block["name"])?;
            name(&block["id"])?;
            waiting.call(text(&block["id"])?)
        }
        ("tool_result", false) => {
            keys(block, &["type", "tool_use_id"], &["content", "is_error", "cache_control"])?;
            waiting.result(text(&block["tool_use_id"])?)
        }
        (other, _) => Err(format!("a block that may not stand here: {other}")),
    }
}

fn text_block(block: &Value) -> Result<(), String> {
    keys(block, &["type", "text"], &["cache_control"])?;
    if text(&block["text"])?.trim().is_empty() { Err("a text without anything in it".into()) } else { Ok(()) }
}
