//! Constructors for what the outside answers.

use chrono::DateTime;
use plumbline_engine::{
    Failure, FailureClass, FileWrite, Finish, Intake, Outcome, Purpose, Reply, RequestRecord, Source, ToolCall,
};
use serde_json::{Map, Value};

/// A document of twelve pages and the instructions.
pub(crate) fn intake() -> Outcome {
    intake_of(vec![Source { path: "input/policy.pdf".into(), size: 40_000, pages: Some(12), text_path: None }])
}

/// The given documents.
pub(crate) fn intake_of(sources: Vec<Source>) -> Outcome {
    let files = vec![
        FileWrite::text("instructions.md", "Record each requirement with page and quote.\n"),
        FileWrite::text("input/policy.pdf", "Invoices must be kept for ten years, in order."),
    ];
    Outcome::TakenIn(Intake { files, sources, ..Intake::default() })
}

/// The model says something and calls nothing.
pub(crate) fn says(text: &str) -> Reply {
    reply(text, Vec::new())
}

/// The model's answer.
pub(crate) fn reply(content: &str, tool_calls: Vec<ToolCall>) -> Reply {
    Reply {
        content: content.into(),
        tool_calls,
        finish: Finish::Done,
        extra: Map::new(),
        record: record(100, 10, None),
    }
}

/// A call as a provider sends it: all with the same id, as some do.
pub(crate) fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: "call_0".into(), name: name.into(), arguments: arguments.to_string() }
}

/// A failed request.
pub(crate) fn failure(class: FailureClass) -> Failure {
    Failure {
        class,
        message: format!("the provider says {class:?}"),
        retry_after_s: None,
        hint: None,
        jitter: 1.0,
        record: record(0, 0, Some("no answer")),
    }
}

fn record(prompt_tokens: u32, completion_tokens: u32, error: Option<&str>) -> RequestRecord {
    RequestRecord {
        model: "test-model".into(),
        purpose: Purpose::Strategic,
        prompt_tokens,
        cached_tokens: 0,
        completion_tokens,
        estimated: error.is_some(),
        duration_ms: 10,
        attempt: 1,
        error: error.map(ToString::to_string),
        raw_usage: None,
        created_at: DateTime::UNIX_EPOCH,
    }
}
