//! Success status with an invalid body.

use crate::misbehave::{Kind, Reaction, bad};
use serde_json::json;

pub(super) const KINDS: &[Kind] = &[
    bad("html_with_200", |_| Reaction::page(200, "Welcome to the gateway")),
    bad("error_with_200", |_| {
        Reaction::json(200, &json!({"error": {"message": "Provider returned error", "code": 502}}))
    }),
    bad("empty_body", |_| Reaction::bytes(200, "application/json", Vec::new())),
    bad("no_choices", |turn| turn.changed(|answer| answer["choices"] = json!([]))),
    bad("no_message", |turn| turn.changed(|answer| answer["choices"] = json!([{"finish_reason": "stop"}]))),
    bad("calls_as_text", |turn| {
        turn.changed(|answer| answer["choices"][0]["message"]["tool_calls"] = json!("list_files()"))
    }),
    bad("invalid_utf8", |turn| {
        let mut body = turn.healthy.to_string().into_bytes();
        let middle = body.len() / 2;
        body.splice(middle..middle, [0xc3, 0x28, 0xff]);
        Reaction::bytes(200, "application/json", body)
    }),
];
