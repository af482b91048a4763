//! Answers without a call: no progress and no HTTP error.

use crate::misbehave::{Kind, bad};
use serde_json::{Value, json};

pub(super) const KINDS: &[Kind] = &[
    bad("prose", |turn| {
        turn.saying("Good progress so far! Next I will read the remaining chunks and then record what I find.")
    }),
    bad("question", |turn| turn.saying("Before I go on: shall I treat recitals as requirements, too?")),
    bad("claims_done", |turn| turn.saying("All tasks are complete. The deliverables are in output/. Job finished.")),
    bad("empty", |turn| turn.saying("")),
    bad("whitespace", |turn| turn.saying(" \n\n\t ")),
    bad("null_content", |turn| turn.saying(Value::Null)),
    bad("refusal", |turn| {
        let refusal = "I'm sorry, I can't help with that.";
        turn.with_message(json!({"role": "assistant", "content": null, "refusal": refusal}), "stop")
    }),
    bad("content_filter", |turn| turn.with_message(json!({"role": "assistant", "content": ""}), "content_filter")),
    bad("reasoning_only", |turn| {
        let thoughts = "The user wants the requirements. I should first look at the chunks, then decide.";
        turn.with_message(json!({"role": "assistant", "content": "", "reasoning_content": thoughts}), "stop")
    }),
];
