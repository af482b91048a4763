//! The calls that the engine answers itself: it decides in no time and begins no span, so theirs are made afterwards, from
//! what it decided.

use super::TARGET;
use plumbline_engine::{Change, Message, ToolCall, tools};
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};
use tracing::{Span, field::Empty, info_span};

static OWN: LazyLock<HashSet<String>> = LazyLock::new(|| tools::specs().into_iter().map(|spec| spec.name).collect());

/// Calls of the engine's tools that the model has made and that have no result yet. What a worker before this one has
/// committed is not among them.
#[derive(Debug, Default)]
pub(crate) struct Unanswered(HashMap<String, &'static str>);

impl Unanswered {
    /// Takes in what was decided, and makes a span of each call that it answers.
    pub(crate) fn follow(&mut self, step: &Span, changes: &[Change]) {
        for change in changes {
            let Change::Message(message) = change else { continue };
            if !message.tool_calls.is_empty() {
                // The calls of the answer before, if any are left, were never carried out.
                self.0 = message.tool_calls.iter().filter_map(own).collect();
            }
            if let Some((id, name)) = message.tool_call_id.as_ref().and_then(|id| self.0.remove_entry(id)) {
                tell(step, &id, name, message);
            }
        }
    }
}

fn own(call: &ToolCall) -> Option<(String, &'static str)> {
    OWN.get(&call.name).map(|name| (call.id.clone(), name.as_str()))
}

fn tell(step: &Span, id: &str, name: &'static str, result: &Message) {
    let span = info_span!(
        target: TARGET, parent: step, "tool", otel.name = format!("execute_tool {name}"),
        operation = "execute_tool", tool.name = name, tool.call_id = id, tool.r#type = "function",
        error.r#type = Empty, otel.status_code = Empty,
    );
    if result.content.starts_with("Error:") {
        span.record("error.type", "refused").record("otel.status_code", "ERROR");
    }
}
