//! Prompts and answers in the form of the conventions; sent only if enabled, because they may contain anything.

use plumbline_engine::{FinishReason, ModelRequest, Reply, RequestMessage};
use serde_json::{Value, json};

/// The messages of a request.
pub(crate) fn input_messages(request: &ModelRequest<'_>) -> Value {
    let message = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let messages = request.messages.iter().map(|entry| match entry {
        RequestMessage::Stored(stored) => {
            message(&format!("{:?}", stored.role()).to_lowercase(), &stored.visible_content())
        }
        RequestMessage::System(text) => message("system", text),
        RequestMessage::User(text) => message("user", text),
    });
    messages.collect()
}

/// The answer.
pub(crate) fn output_messages(reply: &Reply) -> Value {
    let mut parts = vec![json!({"type": "text", "content": reply.content})];
    parts.extend(
        reply
            .tool_calls
            .iter()
            .map(|call| json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})),
    );
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish(reply)}])
}

/// Why an answer ended, in the conventions' words.
pub(crate) fn finish(reply: &Reply) -> &'static str {
    match (&reply.finish, reply.tool_calls.is_empty()) {
        (FinishReason::Truncated, _) => "length",
        (_, false) => "tool_call",
        (_, true) => "stop",
    }
}
