//! False findings.

use crate::misbehave::{Kind, Reaction, Turn, bad};
use serde_json::{Value, json};

const TEXT: &str = "The auditor must be invited to every meeting of the works council.";

pub(super) const KINDS: &[Kind] = &[
    bad("invented_quote", |turn| recording(turn, json!({"text": TEXT, "citations": [quote(TEXT)]}))),
    bad("invented_source", |turn| {
        recording(turn, json!({"text": TEXT, "citations": [{"source": "input/law.pdf", "quote": TEXT}]}))
    }),
    bad("invented_citation", |turn| recording(turn, json!({"text": TEXT, "citations": ["cit_00000000"]}))),
    bad("five_characters", |turn| recording(turn, json!({"text": "must."}))),
    bad("twenty_thousand_characters", |turn| recording(turn, json!({"text": "must be kept ".repeat(1_540)}))),
    bad("confidence_seven", |turn| recording(turn, json!({"text": TEXT, "confidence": 7}))),
    bad("unknown_type", |turn| recording(turn, json!({"text": TEXT, "type": "legal"}))),
];

fn quote(text: &str) -> Value {
    json!({"source": "input/policy.md", "page": 1, "quote": text})
}

fn recording(turn: &Turn<'_>, arguments: Value) -> Reaction {
    turn.calling_one("add_requirement", &arguments)
}
