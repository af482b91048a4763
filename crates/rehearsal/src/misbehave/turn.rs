//! The healthy turn, and short ways to spoil it.

use super::Reaction;
use crate::server::wire::ChatRequest;
use serde_json::{Value, json};

/// One turn: what was asked, and what the rehearsal model answers.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The request.
    pub request: &'a ChatRequest,
    /// The rehearsal model's answer to it, as JSON.
    pub healthy: Value,
    /// The number of the turn within its job, from 1.
    pub number: u64,
}

impl Turn<'_> {
    /// Whether this is a turn of a strategic phase.
    pub(super) fn is_strategic(&self) -> bool {
        self.request.tools.iter().any(|tool| tool.name() == "todo_write")
    }

    /// The calls of the healthy answer.
    pub(super) fn calls(&self) -> Vec<Value> {
        self.message()["tool_calls"].as_array().cloned().unwrap_or_default()
    }

    /// The message of the healthy answer.
    pub(super) fn message(&self) -> &Value {
        &self.healthy["choices"][0]["message"]
    }

    /// The cap of the answer, as the request gives it.
    pub(super) fn cap(&self) -> u64 {
        self.request.max_tokens.into_iter().chain(self.request.max_completion_tokens).min().unwrap_or(8192)
    }

    /// The healthy answer with another message and finish reason.
    pub(super) fn with_message(&self, message: Value, finish: &str) -> Reaction {
        let mut answer = self.healthy.clone();
        answer["choices"][0]["message"] = message;
        answer["choices"][0]["finish_reason"] = json!(finish);
        Reaction::answer(&answer)
    }

    /// An answer that says this and calls nothing.
    pub(super) fn saying(&self, content: impl Into<Value>) -> Reaction {
        self.with_message(json!({"role": "assistant", "content": content.into()}), "stop")
    }

    /// An answer that makes these calls instead of the healthy ones.
    pub(super) fn calling(&self, calls: Vec<Value>) -> Reaction {
        self.with_message(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
    }

    /// An answer with one call.
    pub(super) fn calling_one(&self, name: &str, arguments: &Value) -> Reaction {
        self.calling(vec![call(1, name, arguments)])
    }

    /// The healthy answer with each of its calls changed. Without any call it is the healthy answer.
    pub(super) fn changing_calls(&self, change: impl Fn(usize, &mut Value)) -> Reaction {
        let mut answer = self.healthy.clone();
        if let Some(calls) = answer["choices"][0]["message"]["tool_calls"].as_array_mut() {
            calls.iter_mut().enumerate().for_each(|(place, call)| change(place, call));
        }
        Reaction::answer(&answer)
    }

    /// The healthy answer with the text of each call's arguments changed.
    pub(super) fn changing_arguments(&self, change: impl Fn(&str) -> Value) -> Reaction {
        self.changing_calls(|_, call| {
            let arguments = &mut call["function"]["arguments"];
            *arguments = change(arguments.as_str().unwrap_or("{}"));
        })
    }

    /// The healthy answer with something changed in it.
    pub(super) fn changed(&self, change: impl FnOnce(&mut Value)) -> Reaction {
        let mut answer = self.healthy.clone();
        change(&mut answer);
        Reaction::answer(&answer)
    }
}

/// A call with an id of its own.
pub(super) fn call(number: usize, name: &str, arguments: &Value) -> Value {
    json!({
        "id": format!("call_misbehaving_{number}"),
        "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()},
    })
}
