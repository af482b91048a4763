//! An answer and its results as plain text, for an endpoint that refuses them in their own form.
//!
//! A provider that rejects an earlier turn would reject it in each request and each retry of the job. As text, nothing
//! of the turn can be rejected, and the model still knows what it did.

use super::turn::{Answer, Turn};
use plumbline_engine::{MessageRef, Role};

/// The answer of `caller`, or one of its results, as text.
pub(crate) fn told<'a>(message: MessageRef<'a>, caller: MessageRef<'a>) -> Turn<'a> {
    if message.role() == Role::Assistant {
        return Turn::Answer(Answer { seq: None, text: answer(message).into(), ..Answer::default() });
    }
    let id = message.tool_call_id().unwrap_or_default();
    let name = caller.tool_calls().find(|call| call.id == id).map_or("a call", |call| call.name);
    Turn::User(format!("[result of {name}]\n{}", message.visible_content()).into())
}

fn answer(message: MessageRef<'_>) -> String {
    let text = message.visible_content();
    let calls = message.tool_calls().map(|call| format!("[called {} with {}]", call.name, call.arguments));
    let said = (!text.trim().is_empty()).then(|| text.into_owned());
    said.into_iter().chain(calls).collect::<Vec<String>>().join("\n")
}
