//! Short constructors for conversations.

use chrono::{DateTime, TimeZone, Utc};
use plumbline_engine::{
    Failure, Handler, History, Message, MessageKind, ModelRequest, Phases, Purpose, Replay, Reply, RequestMessage,
    Role, ToolCall, ToolSpec,
};
use plumbline_llm::{Learnt, ModelClient, ModelConfig};
use serde_json::{Map, Value, json};

pub(crate) fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 1, 12, 0, 0).unwrap()
}

pub(crate) fn message(seq: i64, role: Role, content: &str) -> Message {
    let kind = match role {
        Role::System => MessageKind::System,
        Role::User => MessageKind::Opening,
        Role::Assistant => MessageKind::Reply,
        Role::Tool => MessageKind::ToolResult,
    };
    Message {
        seq,
        role,
        kind,
        content: content.into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
        extra: Map::new(),
        tokens: 0,
        step: 0,
        cleared: false,
    }
}

pub(crate) fn calling(seq: i64, content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    Message { tool_calls: calls.iter().map(call).collect(), ..message(seq, Role::Assistant, content) }
}

pub(crate) fn result(seq: i64, call_id: &str, content: &str) -> Message {
    Message { tool_call_id: Some(call_id.into()), ..message(seq, Role::Tool, content) }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        phases: Phases::Both,
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        documentation: "never sent".into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

/// A request for an answer of at most 100 tokens.
pub(crate) fn request<'a>(messages: &[Message], tools: &'a [ToolSpec]) -> ModelRequest<'a> {
    let history: &History = Box::leak(Box::new(messages.iter().collect()));
    ModelRequest {
        purpose: Purpose::Tactical,
        messages: history.iter().map(RequestMessage::Stored).collect(),
        tools: tools.iter().collect(),
        max_output_tokens: 100,
        attempt: 1,
    }
}

/// Asks a server for the answer to "hello".
pub(crate) async fn ask(config: ModelConfig) -> Result<Reply, Box<Failure>> {
    let messages = [message(1, Role::User, "hello")];
    let asked = || request(&messages, &[]);
    ModelClient::new(config).unwrap().call(asked(), asked, now, &Learnt::default()).await
}

/// A well-formed answer with this message and finish reason.
pub(crate) fn completion(message: Value, finish: &str) -> Value {
    json!({
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    })
}
