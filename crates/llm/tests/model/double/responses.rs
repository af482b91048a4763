//! Responses, as OpenAI publishes them (`CreateResponse`, `InputItem`), with nothing stored.

use super::strict::{Waiting, arguments, keys, list, name, text};
use super::{End, Said, event, halves};
use axum::http::HeaderMap;
use serde_json::{Value, json};

fn status(said: &Said) -> &'static str {
    if said.end == End::Cut { "incomplete" } else { "completed" }
}

fn output(said: &Said) -> Vec<Value> {
    let mut output = Vec::new();
    if let Some(secret) = said.secret {
        output.push(
            json!({"type": "reasoning", "id": format!("rs_{secret}"), "summary": [], "encrypted_content": secret, "content": null, "status": null}),
        );
    }
    if said.end == End::Refused {
        output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                           "content": [{"type": "refusal", "refusal": said.text}]}));
    } else if !said.text.is_empty() {
        let phase = if said.calls.is_empty() { "final_answer" } else { "commentary" };
        let content = json!([{"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}]);
        output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "status": status(said),
                           "phase": phase, "content": content}));
    }
    for (id, name, arguments) in &said.calls {
        output.push(json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                           "arguments": arguments, "status": status(said)}));
    }
    output
}

pub(super) fn body(said: &Said) -> Value {
    let details = (said.end == End::Cut).then(|| json!({"reason": "max_output_tokens"}));
    json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "test-model", "status": status(said),
           "error": null, "incomplete_details": details, "output": output(said), "store": false,
           "usage": {"input_tokens": 20, "input_tokens_details": {"cached_tokens": 12}, "output_tokens": 7,
                     "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 27}})
}

pub(super) fn events(said: &Said) -> String {
    let typed = |mut data: Value, kind: &str| {
        data["type"] = kind.into();
        event(Some(kind), &data)
    };
    let begun = json!({"response": {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}});
    let mut events = typed(begun.clone(), "response.created") + &typed(begun, "response.in_progress");
    for (index, item) in output(said).into_iter().enumerate() {
        events += &typed(json!({"output_index": index, "item": {"type": item["type"]}}), "response.output_item.added");
        let words = item["content"][0]["text"].as_str().or(item["arguments"].as_str()).unwrap_or_default().to_owned();
        for piece in halves(&words) {
            events += &typed(json!({"output_index": index, "delta": piece}), "response.output_text.delta");
        }
        events += &typed(json!({"output_index": index, "item": item}), "response.output_item.done");
    }
    events + &typed(json!({"response": body(said)}), &format!("response.{}", status(said)))
}

pub(super) fn check(path: &str, headers: &HeaderMap, request: &Value) -> Result<(), String> {
    if path != "/v1/responses" || headers["authorization"] != "Bearer sk-test" {
        return Err(format!("not the path or the key: {path}"));
    }
    let optional = ["instructions", "tools", "tool_choice", "parallel_tool_calls", "include", "temperature"];
    let optional = [&optional[..], &["reasoning", "stream"]].concat();
    keys(request, &["model", "input", "store", "max_output_tokens"], &optional)?;
    if request["store"] != false || request["include"] != json!(["reasoning.encrypted_content"]) {
        return Err("something would be stored, or reasoning be lost".into());
    }
    for tool in request.get("tools").map(list).transpose()?.unwrap_or_default() {
        keys(tool, &["type", "name", "parameters", "strict"], &["description"])?;
        name(&tool["name"])?;
    }
    let mut waiting = Waiting::default();
    let input = list(&request["input"])?;
    for (place, item) in input.iter().enumerate() {
        check_item(item, input.get(place + 1), &mut waiting)?;
    }
    waiting.none()
}

fn check_item(item: &Value, next: Option<&Value>, waiting: &mut Waiting) -> Result<(), String> {
    match text(&item["type"])? {
        // Without its encrypted content it cannot be found again, and by itself it is refused.
        "reasoning" => {
            keys(item, &["type", "id", "summary", "encrypted_content"], &["status"])?;
            match next.map(|next| &next["type"]).is_some_and(|kind| kind == "message" || kind == "function_call") {
                true => Ok(()),
                false => Err("reasoning without what followed it".into()),
            }
        }
        "function_call" => {
            keys(item, &["type", "call_id", "name", "arguments"], &["id", "status"])?;
            name(&item["name"])?;
            arguments(&item["arguments"])?;
            waiting.call(text(&item["call_id"])?)
        }
        "function_call_output" => {
            keys(item, &["type", "call_id", "output"], &["id", "status"])?;
            text(&item["output"])?;
            waiting.result(text(&item["call_id"])?)
        }
        "message" if item.get("id").is_some() => {
            keys(item, &["type", "id", "role", "content", "status"], &["phase"])?;
            for part in list(&item["content"])? {
                keys(part, &["type", "text", "annotations"], &["logprobs"])?;
            }
            Ok(())
        }
        "message" => {
            keys(item, &["type", "role", "content"], &["phase"])?;
            text(&item["content"]).map(drop)
        }
        other => Err(format!("an unknown item: {other}")),
    }
}
