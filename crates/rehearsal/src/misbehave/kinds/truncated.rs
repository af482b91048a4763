//! Answers truncated by their cap, reported or not.

use crate::misbehave::{Kind, Turn, bad};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    bad("cut_call", |turn| {
        turn.changed(|answer| {
            cut_last_call(answer);
            answer["choices"][0]["finish_reason"] = json!("length");
            use_up_the_cap(turn, answer);
        })
    }),
    // vLLM and others report `tool_calls` for a call that the cap truncated.
    bad("cut_call_untold", |turn| {
        turn.changed(|answer| {
            cut_last_call(answer);
            use_up_the_cap(turn, answer);
        })
    }),
    // Truncated arguments may still be valid JSON: half a file is written.
    bad("cut_call_valid", |turn| {
        turn.changed(|answer| {
            answer["choices"][0]["finish_reason"] = json!("length");
            use_up_the_cap(turn, answer);
        })
    }),
    bad("cut_text", |turn| {
        turn.changed(|answer| {
            let message = json!({"role": "assistant", "content": "Let me think about this step by step. ".repeat(200)});
            answer["choices"][0] = json!({"index": 0, "message": message, "finish_reason": "length"});
            use_up_the_cap(turn, answer);
        })
    }),
];

fn cut_last_call(answer: &mut Value) {
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array_mut();
    if let Some(arguments) = calls.and_then(|calls| calls.last_mut()).map(|call| &mut call["function"]["arguments"]) {
        let text = arguments.as_str().unwrap_or_default();
        let end = (0..text.len()).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        *arguments = json!(text[..end]);
    }
}

fn use_up_the_cap(turn: &Turn<'_>, answer: &mut Value) {
    answer["usage"]["completion_tokens"] = json!(turn.cap());
}
