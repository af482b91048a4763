//! Constructors for outcomes.

use chrono::DateTime;
use plumbline_engine::{
    Failure, FailureClass, FileWrite, FinishReason, Intake, Outcome, Purpose, Reply, RequestRecord, Source, ToolCall,
};
use serde_json::{Map, Value};

/// A document of twelve pages, with instructions.
pub(crate) fn intake() -> Outcome {
    intake_of(vec![Source {
        path: "input/policy.pdf".into(),
        size: 40_000,
        pages: Some(12),
        text_path: None,
        ..Source::default()
    }])
}

/// A document of four lines, each a separate passage; two of them state an obligation.
const FOUR: &str = "Invoices must be kept for ten years, in the order of their dates, by whoever wrote them.\nThis \
                               policy was written in the spring of 2024 and speaks of invoices on paper and of others.\nThe \
                               auditor must be shown each of them on the day on which he asks for it, whoever he is.\nWords \
                               have the meaning that the law gives them, in this policy and in all that follows from it.";

/// The same as [`intake`] with that document.
pub(crate) fn intake_of_four() -> Outcome {
    let instructions = FileWrite::text("instructions.md", "Record each requirement with page and quote.\n");
    let files = vec![instructions, FileWrite::text("input/policy.pdf", FOUR)];
    let sources = vec![Source {
        path: "input/policy.pdf".into(),
        size: FOUR.len() as i64,
        pages: Some(4),
        text_path: None,
        ..Source::default()
    }];
    Outcome::IntakeDone(Intake { files, sources, ..Intake::default() })
}

/// These documents.
pub(crate) fn intake_of(sources: Vec<Source>) -> Outcome {
    let files = vec![
        FileWrite::text("instructions.md", "Record each requirement with page and quote.\n"),
        FileWrite::text("input/policy.pdf", "Invoices must be kept for ten years, in order."),
    ];
    Outcome::IntakeDone(Intake { files, sources, ..Intake::default() })
}

/// The model writes a text without a call.
pub(crate) fn says(text: &str) -> Reply {
    reply(text, Vec::new())
}

/// The model's answer.
pub(crate) fn reply(content: &str, tool_calls: Vec<ToolCall>) -> Reply {
    Reply {
        content: content.into(),
        tool_calls,
        finish: FinishReason::Done,
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
        suspicion: None,
        learnt: false,
        jitter: 1.0,
        record: record(0, 0, Some("no answer")),
    }
}

fn record(prompt_tokens: u32, completion_tokens: u32, error: Option<&str>) -> RequestRecord {
    RequestRecord {
        prompt_tokens,
        completion_tokens,
        estimated: error.is_some(),
        duration_ms: 10,
        error: error.map(ToString::to_string),
        ..RequestRecord::sent("test-model", Purpose::Strategic, 1, DateTime::UNIX_EPOCH)
    }
}
