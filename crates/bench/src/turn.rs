//! One turn as the store receives it, for figure P5 and the micro-benchmark of the commit.

use crate::{dialogue, prose::prose};
use chrono::Utc;
use plumbline_engine::{
    Change, FileWrite, Message, MessageKind, PhaseKind, Product, Progress, Purpose, RequestRecord, Role, State,
    TodoStatus, ToolCall,
};
use serde_json::Map;

/// The checkpoint of a job in its first tactical phase.
pub fn state() -> State {
    dialogue::after_turns(3).state().clone()
}

/// The progress columns that go with it.
pub fn progress() -> Progress {
    Progress {
        phase_number: 2,
        phase: Some(PhaseKind::Tactical),
        phase_name: Some("Requirement extraction".into()),
        todos_done: 1,
        todos_total: 5,
        current_todo: Some("Process section 4-6".into()),
        plan: Some((1, 3)),
    }
}

/// A turn with a call of `bytes` bytes and its result, one file, one todo, one request record. `seq` is the index of
/// its first message in the history.
pub fn changes(seq: i64, bytes: usize) -> Vec<Change> {
    let content = prose(seq.unsigned_abs(), bytes);
    let path = format!("work/part_{seq:05}.md");
    let arguments = serde_json::json!({"path": path, "content": content}).to_string();
    let id = format!("call_{seq}_0");
    let mut reply = message(seq, Role::Assistant, MessageKind::Reply, String::new());
    reply.tool_calls = vec![ToolCall { id: id.clone(), name: "write_file".into(), arguments }];
    let mut result = message(seq + 1, Role::Tool, MessageKind::ToolResult, prose(seq.unsigned_abs() + 1, bytes));
    result.tool_call_id = Some(id);
    let position = i32::try_from(seq / 2 % 5).expect("a remainder of 5 fits") + 1;
    vec![
        Change::Request(record()),
        Change::Message(reply),
        Change::Message(result),
        Change::Product(Product::WriteFile(FileWrite::text(path, content))),
        Change::TodoMoved { phase_number: 2, position, status: TodoStatus::Completed, notes: None },
    ]
}

fn message(seq: i64, role: Role, kind: MessageKind, content: String) -> Message {
    Message {
        seq,
        role,
        kind,
        content,
        tool_calls: Vec::new(),
        tool_call_id: None,
        extra: Map::new(),
        tokens: 60,
        step: 0,
        cleared: false,
    }
}

fn record() -> RequestRecord {
    RequestRecord {
        prompt_tokens: 4000,
        cached_tokens: 3500,
        completion_tokens: 60,
        duration_ms: 900,
        ..RequestRecord::sent("bench", Purpose::Tactical, 1, Utc::now())
    }
}
