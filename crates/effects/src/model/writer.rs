//! Writes requests: JSON into pieces, from borrowed data.

use super::config::ModelConfig;
use super::json;
use super::pieces::{PIECE, Piece};
use super::prefix::{Kept, Part};
use plumbline_engine::{MessageRef, ModelRequest, RequestMessage, Role, ToolCallRef, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value};

/// The key in [`MessageRef::extra`] under which a provider's own fields of single calls are kept, one object per call in
/// their order. It is the one key of `extra` that is not a field of the message itself.
pub(super) const CALL_EXTRAS: &str = "tool_calls";

/// Bytes of a message besides its texts: its role and the names of its fields.
const A_MESSAGE: usize = 128;

/// A request that is being written.
pub(super) struct Writer {
    /// Full pieces.
    pub(super) filled: Vec<Part>,
    pub(super) piece: Piece,
    /// How many are written.
    messages: usize,
    pub(super) reach: Reach,
}

/// How far the piece that is being written holds what the next request may have, too: up to the last message of the
/// history.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) bytes: usize,
    pub(super) messages: usize,
}

impl Writer {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { filled: Vec::new(), piece: Piece::with_room(PIECE), messages: 0, reach: Reach::default() }
    }

    /// Goes on behind what was kept, if anything was: that begins with the head.
    pub(super) fn go_on(&mut self, kept: &Kept) {
        if let Some(begun) = kept.begun() {
            self.piece.clear();
            self.piece.extend_from_slice(begun);
            self.messages = kept.messages();
            self.reach = Reach { bytes: begun.len(), messages: self.messages };
        }
    }

    /// Writes what comes before the messages.
    pub(super) fn head(&mut self, config: &ModelConfig, request: &ModelRequest<'_>) {
        self.piece.push(b'{');
        self.field("model", &config.model);
        // Servers refuse an empty list of tools, and parallel_tool_calls without tools.
        if !request.tools.is_empty() {
            self.tools(&request.tools);
            if let Some(parallel) = config.parallel_tool_calls {
                self.next_field("parallel_tool_calls", &parallel);
            }
        }
        self.raw(",\"messages\":[");
    }

    fn tools(&mut self, tools: &[&ToolSpec]) {
        self.raw(",\"tools\":[");
        for (place, tool) in tools.iter().enumerate() {
            if place > 0 {
                self.piece.push(b',');
            }
            self.raw("{\"type\":\"function\",\"function\":{\"name\":");
            json::string(&mut self.piece, tool.name);
            self.next_text("description", &tool.description);
            self.raw(",\"parameters\":");
            self.raw(tool.parameters.text());
            self.raw("}}");
        }
        self.piece.push(b']');
    }

    /// Writes what comes behind them.
    pub(super) fn tail(&mut self, config: &ModelConfig, request: &ModelRequest<'_>) {
        self.piece.push(b']');
        self.next_field(config.output_cap.name(), &request.max_output_tokens);
        if let Some(temperature) = config.temperature {
            self.next_field("temperature", &temperature);
        }
        if let Some(level) = &config.reasoning_level {
            self.next_field("reasoning_effort", level);
        }
        self.piece.push(b'}');
    }

    /// Writes the next message.
    pub(super) fn message(&mut self, message: &RequestMessage<'_>) {
        self.make_room(about(message));
        if self.messages > 0 {
            self.piece.push(b',');
        }
        self.messages += 1;
        match message {
            RequestMessage::Stored(message) => {
                self.stored(*message);
                self.reach = Reach { bytes: self.piece.len(), messages: self.messages };
            }
            RequestMessage::System(text) => self.made(Role::System, text),
            RequestMessage::User(text) => self.made(Role::User, text),
        }
    }

    /// Begins a new piece where the message would make this one grow.
    fn make_room(&mut self, about: usize) {
        if self.piece.len() + about > PIECE {
            let full = std::mem::replace(&mut self.piece, Piece::with_room(about));
            if !full.is_empty() {
                self.filled.push(Part::of(full, self.messages));
            }
            self.reach = Reach::default();
        }
    }

    fn made(&mut self, role: Role, content: &str) {
        self.piece.push(b'{');
        self.field("role", &role);
        self.next_text("content", content);
        self.piece.push(b'}');
    }

    fn stored(&mut self, message: MessageRef<'_>) {
        let content = message.visible_parts();
        self.piece.push(b'{');
        self.field("role", &message.role());
        if let Some(id) = message.tool_call_id() {
            self.next_text("tool_call_id", id);
        }
        // An assistant that only calls has null: some providers refuse an empty string beside calls, and all refuse
        // null without them.
        let calls = message.tool_calls().len() > 0;
        if content == [""; 2] && calls {
            self.next_field("content", &Value::Null);
        } else {
            self.piece.push(b',');
            self.key("content");
            json::string_of(&mut self.piece, &content);
        }
        if calls {
            self.calls(message);
        }
        for (key, value) in message.extra().filter(|(key, _)| !is_reserved(key)) {
            self.next_field(key, value);
        }
        self.piece.push(b'}');
    }

    fn calls(&mut self, message: MessageRef<'_>) {
        let extras = message.extra().find(|(key, _)| *key == CALL_EXTRAS).and_then(|(_, extras)| extras.as_array());
        self.raw(",\"tool_calls\":[");
        for (place, call) in message.tool_calls().enumerate() {
            if place > 0 {
                self.piece.push(b',');
            }
            self.call(call, extras.and_then(|extras| extras.get(place)).and_then(Value::as_object));
        }
        self.piece.push(b']');
    }

    fn call(&mut self, call: ToolCallRef<'_>, extra: Option<&Map<String, Value>>) {
        self.raw("{\"id\":");
        json::string(&mut self.piece, call.id);
        self.raw(",\"type\":\"function\",\"function\":{\"name\":");
        json::string(&mut self.piece, call.name);
        self.next_text("arguments", call.arguments);
        self.piece.push(b'}');
        for (key, value) in extra.into_iter().flatten() {
            self.next_field(key, value);
        }
        self.piece.push(b'}');
    }

    fn raw(&mut self, json: &str) {
        self.piece.extend_from_slice(json.as_bytes());
    }

    fn next_text(&mut self, key: &str, text: &str) {
        self.piece.push(b',');
        self.key(key);
        json::string(&mut self.piece, text);
    }

    fn next_field(&mut self, key: &str, value: &impl Serialize) {
        self.piece.push(b',');
        self.field(key, value);
    }

    fn field(&mut self, key: &str, value: &impl Serialize) {
        self.key(key);
        serde_json::to_writer(&mut *self.piece, value)
            .expect("writing JSON to memory: keys are strings and no value refuses to be written");
    }

    fn key(&mut self, key: &str) {
        json::string(&mut self.piece, key);
        self.piece.push(b':');
    }
}

/// Bytes that a message takes at most, in most cases.
fn about(message: &RequestMessage<'_>) -> usize {
    let texts = match message {
        RequestMessage::Stored(message) => {
            let calls = message.tool_calls().map(|call| A_MESSAGE + call.name.len() + call.arguments.len());
            message.visible_parts().map(str::len).iter().sum::<usize>() + calls.sum::<usize>()
        }
        RequestMessage::System(text) | RequestMessage::User(text) => text.len(),
    };
    // A sixteenth more for what JSON escapes, line breaks above all.
    A_MESSAGE + texts + texts / 16
}

fn is_reserved(key: &str) -> bool {
    matches!(key, "role" | "content" | "tool_call_id" | CALL_EXTRAS)
}
