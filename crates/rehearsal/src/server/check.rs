//! Requests that a strict provider refuses.
//!
//! The engine guarantees that a tool call and its result are never separated. Hosted providers answer a violation with
//! a 400; this model does the same, so that every test and demo checks it.

use std::collections::BTreeSet;

use crate::server::wire::{ChatRequest, Message, Role};

/// Checks one request; the error is one sentence that names the offending message.
pub fn check(request: &ChatRequest) -> Result<(), String> {
    if request.messages.is_empty() {
        return Err("messages is empty; send at least one message".to_owned());
    }
    let mut waiting = BTreeSet::new();
    for (index, message) in request.messages.iter().enumerate() {
        check_message(index, message, &mut waiting)?;
    }
    nothing_waits(&waiting, "the conversation ends")
}

/// `waiting` contains the calls of the last assistant message without a result.
fn check_message<'a>(index: usize, message: &'a Message, waiting: &mut BTreeSet<&'a str>) -> Result<(), String> {
    if message.role == Role::Tool {
        let id = message
            .tool_call_id
            .as_deref()
            .ok_or_else(|| format!("messages[{index}] has role tool but no tool_call_id; name the call it answers"))?;
        return match waiting.remove(id) {
            true => Ok(()),
            false => Err(format!(
                "messages[{index}] is the result of tool call '{id}', but the assistant message before it has no such \
                 call without a result; a result must follow its call"
            )),
        };
    }
    nothing_waits(waiting, &format!("messages[{index}] begins"))?;
    if message.role != Role::Assistant {
        return match message.tool_calls.is_empty() {
            true => Ok(()),
            false => Err(format!("messages[{index}] has tool_calls, but only an assistant message may have them")),
        };
    }
    if message.tool_calls.is_empty() && message.content.is_empty() {
        return Err(format!("messages[{index}] is an assistant message with neither content nor tool_calls; drop it"));
    }
    for call in &message.tool_calls {
        if !waiting.insert(&call.id) {
            return Err(format!("messages[{index}] has two tool calls with the id '{}'; ids must be unique", call.id));
        }
    }
    Ok(())
}

fn nothing_waits(waiting: &BTreeSet<&str>, when: &str) -> Result<(), String> {
    match waiting.first() {
        None => Ok(()),
        Some(id) => Err(format!(
            "tool call '{id}' has no result when {when}; send a message with role tool for every call first"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::server::wire::ChatRequest;
    use serde_json::{Value, json};

    fn verdict(messages: Value) -> Result<(), String> {
        let request: ChatRequest = serde_json::from_value(json!({"model": "m", "messages": messages})).unwrap();
        check(&request)
    }

    fn call(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({"id": id, "type": "function", "function": {"name": "list_files", "arguments": "{}"}}))
            .collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "ok"})
    }

    fn user() -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": "go on"}]})
    }

    #[test]
    fn paired_calls_pass_in_any_order_of_results() {
        assert_eq!(verdict(json!([user(), call(&["a", "b"]), result("b"), result("a"), user()])), Ok(()));
    }

    #[test]
    fn unpaired_calls_and_results_are_refused() {
        for (messages, names) in [
            (json!([]), "messages is empty"),
            (json!([user(), call(&["a"])]), "'a' has no result when the conversation ends"),
            (json!([user(), call(&["a", "b"]), result("a"), user()]), "'b' has no result when messages[3] begins"),
            (json!([user(), result("a")]), "messages[1] is the result of tool call 'a'"),
            (json!([user(), call(&["a"]), result("a"), result("a")]), "messages[3] is the result"),
            (json!([user(), call(&["a", "a"])]), "two tool calls with the id 'a'"),
            (json!([user(), {"role": "tool", "content": "x"}]), "no tool_call_id"),
            (json!([user(), {"role": "assistant", "content": ""}]), "neither content nor tool_calls"),
        ] {
            let error = verdict(messages).unwrap_err();
            assert!(error.contains(names), "{error}");
        }
    }
}
