//! A job of a few steps with everything that a fork, a trace and a prune must handle: a list written twice, a file
//! overwritten and one deleted, a result cleared, a phase closed, a requirement recorded.

use crate::support::{self, message};
use chrono::{TimeZone, Utc};
use plumbline_engine::{
    AnsweredPassage, Block, Candidate, Change, Citation, FileMeta, FileWrite, Message, MessageKind, Passage,
    PassageState, PhaseKind, PhaseOutcome, Product, Progress, Purpose, RequestRecord, Requirement, Role, SharedFile,
    SharedFiles, Snapshot, Source, State, Todo, TodoStatus, ToolCall, Totals,
};
use plumbline_store::{Commit, Lease, Store, StoredSettings};
use serde_json::json;
use std::sync::Arc;

/// The number of steps.
pub(crate) const STEPS: i64 = 4;

/// Commits the steps and returns the loaded job after each.
pub(crate) async fn tell(store: &Store, lease: Lease) -> Vec<Snapshot> {
    let mut loaded = Vec::new();
    for step in 0..STEPS {
        commit(store, lease, step).await;
        loaded.push(store.load(&lease).await.unwrap());
    }
    loaded
}

/// Commits the story's step that follows `after`.
pub(crate) async fn commit(store: &Store, lease: Lease, after: i64) {
    let (changes, state, progress) = match after {
        0 => (first(), state(1, 3, 0), progress(1, 0, 2, "Explore")),
        1 => (second(), state(1, 5, 1), progress(1, 1, 2, "Plan")),
        2 => (third(), state(1, 5, 2), progress(1, 1, 2, "Plan")),
        _ => (fourth(), state(2, 7, 3), progress(2, 0, 1, "Extract")),
    };
    let settings = StoredSettings::from(&json!({"config": {}}));
    let commit = Commit {
        lease,
        expected_step: after,
        changes: &changes,
        state: &state,
        progress: &progress,
        settings: (after == 0).then_some(&settings),
        enqueue_next: None,
    };
    store.commit(&commit).await.unwrap();
}

/// Files shared by all jobs.
pub(crate) fn documentation() -> Arc<SharedFiles> {
    let file = |path: &str, text: &str, sha256: [u8; 32]| SharedFile {
        path: path.to_owned(),
        content: text.as_bytes().into(),
        sha256,
        facts: FileMeta::of(text.as_bytes()),
    };
    let cite = [
        0x01, 0x75, 0xec, 0x51, 0xda, 0x49, 0xfd, 0xe5, 0xf7, 0xbf, 0x50, 0xfa, 0x58, 0x03, 0xd4, 0xfd, 0x50, 0x29,
        0x2a, 0x89, 0x34, 0x32, 0x1d, 0x9d, 0x16, 0x53, 0x4a, 0xa5, 0xd8, 0x26, 0xd7, 0x12,
    ];
    let read = [
        0x4f, 0x65, 0x85, 0x55, 0xed, 0x8e, 0x1a, 0x10, 0xbc, 0x5f, 0xc2, 0x56, 0x7e, 0xfd, 0x14, 0x65, 0x48, 0x05,
        0x99, 0x7f, 0xcc, 0xeb, 0x3c, 0xc7, 0xa0, 0x50, 0xd0, 0x10, 0xb1, 0x43, 0xdb, 0x0f,
    ];
    let files =
        vec![file("tools/cite.md", "How to cite.", cite), file("tools/read_file.md", "How to read a file.", read)];
    Arc::new(SharedFiles { id: [7; 32], files })
}

fn first() -> Vec<Change> {
    vec![
        write("input/policy.md", "Invoices must be kept."),
        source(None),
        Change::Product(Product::ShareFiles(documentation())),
        Change::PhaseOpened { number: 1, kind: PhaseKind::Strategic, name: "Planning".into() },
        put(1, &["Explore", "Plan"], true),
        Change::Message(message(1, Role::System, MessageKind::System, "You plan.")),
        Change::Message(message(2, Role::User, MessageKind::Opening, "Begin.")),
    ]
}

/// A passage of the policy that was cut in one step, read in another and answered in a third.
pub(crate) fn passage(number: i32, cut: i64, read: Option<i64>, answered: Option<i64>) -> Passage {
    let blocks = vec![Block { words: 4, hash: 0xfedc_ba98_7654_3210 }];
    Passage {
        number,
        document: "input/policy.md".into(),
        ordinal: number,
        pages: Some((1, 2)),
        sha256: [7; 32],
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        cut_step: cut,
        unseen: if read.is_some() { Vec::new() } else { blocks.clone() },
        blocks,
        candidates: vec![Candidate {
            sentence: 1,
            text: "Invoices must be kept.".into(),
            cited_step: answered,
            ..Candidate::default()
        }],
        n_sentences: 3,
        n_not_judged: i32::from(number == 2),
        n_requirements: 0,
        decisions: Vec::new(),
        carried_from: None,
        decided_step: answered,
        asked_step: read,
        judged: number != 2,
        state: match (read, answered) {
            (None, _) => PassageState::Unread,
            (Some(_), None) => PassageState::Read,
            (Some(_), Some(_)) => PassageState::Answered,
        },
        answered_by: answered.map(|_| AnsweredPassage::Citation),
        read_step: read,
        answered_step: answered,
        reason: None,
    }
}

fn second() -> Vec<Change> {
    let moved = |position, status, notes: Option<&str>| Change::TodoMoved {
        phase_number: 1,
        position,
        status,
        notes: notes.map(str::to_owned),
    };
    vec![
        Change::Request(request()),
        Change::Message(Message {
            tool_calls: vec![ToolCall {
                id: "c3_1".into(),
                name: "todo_complete".into(),
                arguments: r#"{"notes":"read it"}"#.into(),
            }],
            ..message(3, Role::Assistant, MessageKind::Reply, "I have read it.")
        }),
        Change::Message(Message {
            tool_call_id: Some("c3_1".into()),
            ..message(4, Role::Tool, MessageKind::ToolResult, "Task 1 marked complete.")
        }),
        moved(1, TodoStatus::Completed, Some("read it")),
        moved(2, TodoStatus::InProgress, None),
        put(2, &["Draft one", "Draft two"], false),
        write("output/report.md", "first version"),
        write("workspace.md", "memory of step 2"),
        Change::PassagesPut(vec![passage(1, 2, None, None)]),
    ]
}

fn third() -> Vec<Change> {
    vec![
        Change::Request(request()),
        put(2, &["Extract"], false),
        write("output/report.md", "second version"),
        write("output/gone.md", "not for long"),
        write("chunks/policy.txt", "Invoices must be kept."),
        source(Some("chunks/policy.txt")),
        Change::ResultsCleared(vec![4]),
        Change::Product(Product::AddCitation(citation())),
        requirement(1, "Invoices must be kept for ten years."),
        requirement(2, "Receipts must be kept for six years."),
        Change::PassagesPut(vec![passage(1, 2, Some(3), None)]),
    ]
}

fn fourth() -> Vec<Change> {
    vec![
        Change::Request(request()),
        Change::TodoMoved { phase_number: 1, position: 2, status: TodoStatus::Completed, notes: None },
        Change::PhaseClosed { number: 1, outcome: PhaseOutcome::Completed },
        Change::PhaseOpened { number: 2, kind: PhaseKind::Tactical, name: "Extraction".into() },
        put(2, &["Extract"], true),
        Change::Product(Product::DeleteFile { path: "output/gone.md".into() }),
        Change::Message(message(5, Role::System, MessageKind::System, "You extract.")),
        Change::Message(message(6, Role::User, MessageKind::Opening, "Go on.")),
        Change::TodoUnevidenced { phase_number: 1, position: 2 },
        Change::PassagesPut(vec![passage(1, 2, Some(3), Some(4))]),
    ]
}

fn state(phase: i32, next_seq: i64, requests: i64) -> State {
    let mut state = support::state();
    state.phase.number = phase;
    state.context.system_seq = if phase == 1 { 1 } else { 5 };
    state.context.tail_from = state.context.system_seq + 1;
    state.next_seq = next_seq;
    state.totals = Totals { requests, tokens: requests * 110, cached_tokens: requests * 90, cost_microusd: requests };
    state.retry.failures = 2;
    state.retry.last_error = Some("status 503".into());
    if phase == 2 {
        state.phase.kind = PhaseKind::Tactical;
        state.phase.name = "Extraction".into();
    }
    state
}

fn progress(phase_number: i32, todos_done: i32, todos_total: i32, current: &str) -> Progress {
    let (kind, name) =
        if phase_number == 1 { (PhaseKind::Strategic, "Planning") } else { (PhaseKind::Tactical, "Extraction") };
    Progress {
        phase_number,
        phase: Some(kind),
        phase_name: Some(name.into()),
        todos_done,
        todos_total,
        current_todo: Some(current.into()),
        plan: None,
    }
}

fn put(phase_number: i32, texts: &[&str], begun: bool) -> Change {
    let mut todos: Vec<Todo> = texts.iter().zip(1..).map(|(text, position)| Todo::pending(position, *text)).collect();
    todos[0].passages = vec![7, 8, 12];
    if begun {
        todos[0].status = TodoStatus::InProgress;
    }
    Change::TodosPut { phase_number, todos }
}

fn write(path: &str, content: &str) -> Change {
    Change::Product(Product::WriteFile(FileWrite::text(path, content)))
}

fn source(text_path: Option<&str>) -> Change {
    let text_path = text_path.map(str::to_owned);
    Change::Product(Product::AddSource(Source {
        path: "input/policy.md".into(),
        size: 22,
        pages: None,
        text_path,
        ..Source::default()
    }))
}

fn citation() -> Citation {
    Citation {
        id: "cit_00000001".into(),
        source: "input/policy.md".into(),
        page: Some(1),
        page_to: None,
        quote: "must be kept".into(),
        verified: true,
        place: None,
        continues: Vec::new(),
        again: Vec::new(),
    }
}

fn requirement(key: u8, text: &str) -> Change {
    let requirement =
        Requirement { name: format!("Retention {key}"), citations: json!([]), ..support::requirement(key, text) };
    Change::Product(Product::AddRequirement(Box::new(requirement)))
}

fn request() -> RequestRecord {
    let sent_at = Utc.with_ymd_and_hms(2026, 11, 21, 9, 0, 0).unwrap();
    RequestRecord {
        prompt_tokens: 100,
        cached_tokens: 90,
        completion_tokens: 10,
        duration_ms: 1234,
        ..RequestRecord::sent("gpt-x", Purpose::Strategic, 1, sent_at)
    }
}
