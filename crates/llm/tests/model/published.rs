//! The request bodies as the providers publish them, in JSON Schema; see `published/README.md`.

use jsonschema::Validator;
use plumbline_llm::Api;
use serde_json::{Value, json};
use std::sync::LazyLock;

static CHAT: LazyLock<Validator> = LazyLock::new(|| read(include_str!("published/chat.json")));
static RESPONSES: LazyLock<Validator> = LazyLock::new(|| read(include_str!("published/responses.json")));
static MESSAGES: LazyLock<Validator> = LazyLock::new(|| read(include_str!("published/messages.json")));

#[allow(clippy::disallowed_methods, reason = "a schema of the program or of a provider")]
fn read(schema: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

/// Whether a body satisfies the published schema of this protocol.
///
/// OpenAI's chat completions have no field for reasoning: servers that require it back accept `reasoning_content` in
/// addition.
pub(crate) fn check(api: Api, request: &Value) -> Result<(), String> {
    let mut request = request.clone();
    if api == Api::Chat {
        for message in request["messages"].as_array_mut().into_iter().flatten() {
            message.as_object_mut().map(|message| message.remove("reasoning_content"));
        }
    }
    let schema = match api {
        Api::Chat => &CHAT,
        Api::Responses => &RESPONSES,
        Api::Messages => &MESSAGES,
    };
    let faults: Vec<String> =
        schema.iter_errors(&request).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// A valid body, and changes that make it invalid.
#[test]
fn what_is_not_published_is_refused() {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let chat = json!({"model": "m", "max_completion_tokens": 9, "messages": [
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "r"}]});
    let responses = json!({"model": "m", "store": false, "max_output_tokens": 16, "input": [
        {"type": "message", "role": "user", "content": "u"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "r"}]});
    let messages = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "r"}]}]});
    for (api, right, wrong) in [
        (Api::Chat, &chat, [("/thinking", json!(true)), ("/messages/0/role", json!("robot"))]),
        (Api::Chat, &chat, [("/messages/1/tool_calls/0/index", json!(0)), ("/messages/2/tool_call_id", json!(7))]),
        (Api::Responses, &responses, [("/messages", json!([])), ("/input/1/arguments", json!({}))]),
        (Api::Responses, &responses, [("/input/0/name", json!("x")), ("/reasoning", json!({"effort": "boundless"}))]),
        (Api::Messages, &messages, [("/messages/1/content/0/input", json!("{}")), ("/max_tokens", json!("9"))]),
        (Api::Messages, &messages, [("/store", json!(false)), ("/messages/2/role", json!("tool"))]),
    ] {
        assert_eq!(check(api, right), Ok(()), "{api:?}");
        for (place, value) in wrong {
            let mut request = right.clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            request.pointer_mut(parent).unwrap()[key] = value;
            assert!(check(api, &request).is_err(), "{api:?}: {place}");
        }
    }
}
