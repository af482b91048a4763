//! Correct answers in an unusual form.

use crate::misbehave::{Kind, Reaction, Turn, odd};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    odd("no_usage", |turn| usage(turn, Value::Null)),
    odd("null_usage", |turn| {
        usage(turn, json!({"prompt_tokens": null, "completion_tokens": null, "prompt_tokens_details": null}))
    }),
    odd("usage_as_text", |turn| {
        usage(turn, json!({"prompt_tokens": "1200", "completion_tokens": "35", "total_tokens": "1235"}))
    }),
    odd("absurd_usage", |turn| {
        usage(turn, json!({"prompt_tokens": 4_000_000_000_u64, "completion_tokens": 12, "total_tokens": 12}))
    }),
    odd("negative_usage", |turn| usage(turn, json!({"prompt_tokens": -1, "completion_tokens": -1}))),
    odd("zero_usage", |turn| usage(turn, json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}))),
    odd("other_model_name", |turn| turn.changed(|answer| answer["model"] = json!("another-model-20260101"))),
    odd("content_blocks", |turn| {
        turn.changed(|answer| {
            let content = &mut answer["choices"][0]["message"]["content"];
            *content = json!([{"type": "thinking", "thinking": "…"}, {"type": "text", "text": content.take()}]);
        })
    }),
    odd("null_content_with_calls", |turn| {
        turn.changed(|answer| answer["choices"][0]["message"]["content"] = Value::Null)
    }),
    odd("nul_in_text", |turn| {
        turn.changed(|answer| answer["choices"][0]["message"]["content"] = json!("one\0two\u{0}"))
    }),
    odd("unknown_fields", |turn| {
        turn.changed(|answer| {
            answer["system_fingerprint"] = json!("fp_1");
            answer["provider"] = json!({"name": "edge", "latency": [1, 2]});
            answer["choices"][0]["logprobs"] = Value::Null;
            answer["choices"][0]["message"]["reasoning_details"] = json!([{"type": "encrypted", "data": "AAAA"}]);
        })
    }),
    odd("no_finish_reason", |turn| turn.changed(|answer| answer["choices"][0]["finish_reason"] = Value::Null)),
    odd("stop_with_calls", |turn| turn.changed(|answer| answer["choices"][0]["finish_reason"] = json!("stop"))),
];

fn usage(turn: &Turn<'_>, usage: Value) -> Reaction {
    turn.changed(|answer| answer["usage"] = usage)
}
