//! The request body, written from borrowed data: no copy of the conversation is made.
//!
//! The order of fields is fixed: `model`, `tools`, `messages`, then caps and sampling. What stays the same between two
//! turns comes first and what is appended comes last, and equal requests give equal bytes.

use super::config::ModelConfig;
use plumbline_engine::{Message, ModelRequest, RequestMessage, Role, ToolCall, ToolSpec};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

/// The key in [`Message::extra`] under which a provider's own fields of single calls are kept, one object per call in
/// their order. It is the one key of `extra` that is not a field of the message itself.
pub(super) const CALL_EXTRAS: &str = "tool_calls";

/// The body of one request, as it is sent.
pub fn render(config: &ModelConfig, request: &ModelRequest<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(about(request));
    serde_json::to_writer(&mut bytes, &Body { config, request })
        .expect("writing JSON to memory: keys are strings and no value refuses to be written");
    bytes
}

/// Bytes that will do for most bodies. A buffer that grows by doubling copies a long conversation several times, and takes
/// up to twice the room that it needs for as long as the model is asked.
fn about(request: &ModelRequest<'_>) -> usize {
    /// Of a tool: its name, description and parameters.
    const A_TOOL: usize = 1024;
    /// Of a message: its role, calls and ids.
    const A_MESSAGE: usize = 256;
    let texts: usize = request.messages.iter().map(|message| A_MESSAGE + text_of(message).len()).sum();
    // A sixteenth more for what JSON escapes, line breaks above all.
    request.tools.len() * A_TOOL + texts + texts / 16
}

fn text_of<'a>(message: &'a RequestMessage<'_>) -> &'a str {
    match message {
        RequestMessage::Stored(message) => message.visible_content(),
        RequestMessage::System(text) | RequestMessage::User(text) => text,
    }
}

struct Body<'a> {
    config: &'a ModelConfig,
    request: &'a ModelRequest<'a>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { config, request } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &config.model)?;
        // Servers refuse an empty list of tools, and parallel_tool_calls without tools.
        if !request.tools.is_empty() {
            map.serialize_entry("tools", &Tools(&request.tools))?;
            if let Some(parallel) = config.parallel_tool_calls {
                map.serialize_entry("parallel_tool_calls", &parallel)?;
            }
        }
        map.serialize_entry("messages", &Messages(&request.messages))?;
        map.serialize_entry(config.output_cap.name(), &request.max_output_tokens)?;
        if let Some(temperature) = config.temperature {
            map.serialize_entry("temperature", &temperature)?;
        }
        if let Some(level) = &config.reasoning_level {
            map.serialize_entry("reasoning_effort", level)?;
        }
        map.end()
    }
}

struct Tools<'a>(&'a [&'a ToolSpec]);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|spec| Tagged {
            function: Function { name: spec.name, description: &spec.description, parameters: &spec.parameters },
            kind: "function",
        }))
    }
}

#[derive(Serialize)]
struct Tagged<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

struct Messages<'a>(&'a [RequestMessage<'a>]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for message in self.0.iter().filter(|message| !is_void(message)) {
            match message {
                RequestMessage::Stored(message) => seq.serialize_element(&Stored(message))?,
                RequestMessage::System(text) => seq.serialize_element(&Made { role: Role::System, content: text })?,
                RequestMessage::User(text) => seq.serialize_element(&Made { role: Role::User, content: text })?,
            }
        }
        seq.end()
    }
}

/// An answer that neither said nor called anything. It stays in the history, but providers refuse it in a request.
fn is_void(message: &RequestMessage<'_>) -> bool {
    match message {
        RequestMessage::Stored(message) => {
            message.role == Role::Assistant
                && message.tool_calls.is_empty()
                && message.visible_content().trim().is_empty()
        }
        RequestMessage::System(_) | RequestMessage::User(_) => false,
    }
}

#[derive(Serialize)]
struct Made<'a> {
    role: Role,
    content: &'a str,
}

struct Stored<'a>(&'a Message);

impl Serialize for Stored<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let content = message.visible_content();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &message.role)?;
        if let Some(id) = &message.tool_call_id {
            map.serialize_entry("tool_call_id", id)?;
        }
        // An assistant that only calls has null: some providers refuse an empty string beside calls, and all refuse
        // null without them.
        let only_calls = content.is_empty() && !message.tool_calls.is_empty();
        map.serialize_entry("content", &(!only_calls).then_some(content))?;
        if !message.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &Calls(message))?;
        }
        for (key, value) in message.extra.iter().filter(|(key, _)| !is_reserved(key)) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

fn is_reserved(key: &str) -> bool {
    matches!(key, "role" | "content" | "tool_call_id" | CALL_EXTRAS)
}

struct Calls<'a>(&'a Message);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let extras = self.0.extra.get(CALL_EXTRAS).and_then(Value::as_array);
        serializer.collect_seq(self.0.tool_calls.iter().enumerate().map(|(place, call)| Call {
            call,
            extra: extras.and_then(|extras| extras.get(place)).and_then(Value::as_object),
        }))
    }
}

struct Call<'a> {
    call: &'a ToolCall,
    extra: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.call.id)?;
        map.serialize_entry("type", "function")?;
        let function = Arguments { name: &self.call.name, arguments: &self.call.arguments };
        map.serialize_entry("function", &function)?;
        for (key, value) in self.extra.into_iter().flatten() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
