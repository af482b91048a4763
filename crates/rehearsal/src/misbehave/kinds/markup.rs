//! Calls leaked into the text, in the forms of several model families.

use crate::misbehave::{Kind, Reaction, Turn, bad, odd};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    // Hermes and Qwen.
    odd("tool_call_tags", |turn| {
        leaked(turn, |name, arguments| {
            format!("<tool_call>\n{}\n</tool_call>", json!({"name": name, "arguments": arguments}))
        })
    }),
    odd("fenced_json", |turn| {
        leaked(turn, |name, arguments| format!("```json\n{}\n```", json!({"name": name, "arguments": arguments})))
    }),
    // Llama 3.
    odd("function_tags", |turn| leaked(turn, |name, arguments| format!("<function={name}>{arguments}</function>"))),
    // Not a form that can be distinguished from text.
    bad("python_calls", |turn| {
        leaked(turn, |name, arguments| {
            let pairs: Vec<String> =
                arguments.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{name}({})", pairs.join(", "))
        })
    }),
    bad("broken_tags", |turn| {
        leaked(turn, |name, arguments| {
            let text = json!({"name": name, "arguments": arguments}).to_string();
            let end = (0..text.len()).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            format!("<tool_call>\n{}\n</tool_call>", &text[..end])
        })
    }),
];

/// The healthy calls as text after the healthy text.
fn leaked(turn: &Turn<'_>, write: impl Fn(&str, &Value) -> String) -> Reaction {
    let mut text = turn.message()["content"].as_str().unwrap_or_default().to_owned();
    for call in turn.calls() {
        let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        text.push_str("\n\n");
        text.push_str(&write(call["function"]["name"].as_str().unwrap_or_default(), &arguments));
    }
    turn.saying(text)
}
