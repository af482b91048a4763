//! Lives of a job in the engine, each with a different model behaviour: requests, actions and the end, as text.

use chrono::{DateTime, TimeDelta, Utc};
use plumbline_engine::{
    Candidate, CutDocument, Effect, Failure, FailureClass, FileWrite, FinishReason, Intake, JobInfo, ModelRequest,
    Opening, Outcome, Passage, PhaseKind, Prepared, Product, Purpose, Reply, RequestMessage, RequestRecord, Run,
    Settings, Snapshot, ToolCall, ToolReturn, blocks,
};
use serde_json::{Map, Value, json};
use std::{
    fmt::Write,
    hash::{DefaultHasher, Hash, Hasher},
};
use uuid::Uuid;

/// Steps after which a life is ended: more than each bound of the table needs.
const STEPS: usize = 170;

/// Turns of the tactical phase that read; together more than a quarter of the usual threshold.
const READS: i64 = 36;

/// A model's behaviour: its answer to a turn.
type Behaviour = fn(&Run, Purpose) -> Outcome;

/// Whether any of the lives differs under the other settings.
pub(super) fn differ(one: &Settings, other: &Settings) -> bool {
    let behaviours: [Behaviour; 10] = [
        covers,
        |_, purpose| answer(purpose, "Good progress so far.", &[]),
        |_, purpose| cut(purpose),
        |_, purpose| failure(purpose),
        |run, purpose| if purpose == Purpose::Tactical { failure(purpose) } else { works(run, purpose) },
        |run, purpose| in_phase(run, purpose, |_| vec![("read_file", json!({"path": "input/a.md"}))]),
        |run, purpose| in_phase(run, purpose, |n| vec![("read_file", json!({"path": "a", "offset": n}))]),
        works,
        |run, purpose| if purpose == Purpose::Summary { failure(purpose) } else { talks(run, purpose) },
        talks,
    ];
    behaviours.into_iter().any(|behaviour| life(one, behaviour) != life(other, behaviour))
}

fn life(settings: &Settings, behaviour: Behaviour) -> String {
    let mut run = Run::load(snapshot(), settings.clone().into()).expect("a job that never ran can be loaded");
    let mut now = start();
    let mut seen = String::new();
    for _ in 0..STEPS {
        // Writing to a String cannot fail.
        let outcome = match run.next() {
            Effect::Intake => Outcome::IntakeDone(Intake { files: vec![document()], ..Intake::default() }),
            Effect::Carry { .. } => Outcome::Carried(plumbline_engine::Carried::default()),
            Effect::Prepare { document } => Outcome::Prepared(prepared(document)),
            Effect::CallModel(request) => {
                let _ = writeln!(seen, "{}", shown(&request));
                behaviour(&run, request.purpose)
            }
            Effect::RunTools { calls, .. } => Outcome::ToolsReturned(calls.iter().map(|call| done(call)).collect()),
            Effect::Wait { until } => {
                let _ = writeln!(seen, "wait for {} s", (until - now).num_seconds());
                now = until;
                Outcome::Woken
            }
            Effect::Exit(leave) => {
                let _ = writeln!(seen, "{leave:?}");
                break;
            }
        };
        now += TimeDelta::seconds(1);
        run.apply(outcome, now).expect("the outcome answers the effect");
    }
    let files: Vec<&String> = run.workspace().files().keys().collect();
    let _ = writeln!(seen, "{:?} {files:?}", run.state().totals);
    seen
}

fn start() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn snapshot() -> Snapshot {
    let job = JobInfo {
        id: Uuid::nil(),
        job_type: "creator".into(),
        prompt: "Extract the requirements.".into(),
        step: 0,
        started_at: start(),
    };
    Snapshot::unstarted(job)
}

/// A request: its purpose, caps and tools, and a fingerprint of its messages.
fn shown(request: &ModelRequest<'_>) -> String {
    let mut hash = DefaultHasher::new();
    for message in &request.messages {
        match message {
            RequestMessage::Stored(message) => message.visible_content().hash(&mut hash),
            RequestMessage::System(text) => ("system", text).hash(&mut hash),
            RequestMessage::User(text) => ("user", text).hash(&mut hash),
        }
    }
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let (purpose, cap) = (request.purpose.as_str(), request.max_output_tokens);
    format!("{purpose} {cap} {} messages {:x} {tools:?}", request.messages.len(), hash.finish())
}

/// Plans one phase, reads much in it, and completes the job.
fn works(run: &Run, purpose: Purpose) -> Outcome {
    in_phase(run, purpose, |n| match n {
        0..READS => vec![
            ("read_file", json!({"path": "input/a.md", "offset": n})),
            ("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years.", "n": n})),
        ],
        _ => vec![("todo_complete", json!({}))],
    })
}

/// The same, and processes the document: closes the passage that the results have shown, and names the other.
fn covers(run: &Run, purpose: Purpose) -> Outcome {
    let phase = &run.state().phase;
    if (phase.kind, phase.opening) == (PhaseKind::Strategic, Opening::Final) {
        let undelivered = json!([{"passages": [2], "reason": "it was never shown to anybody"}]);
        let claim =
            json!({"summary": "Read.", "deliverables": ["output/a.md"], "undelivered": undelivered, "confidence": 1});
        return answer(purpose, "", &[("job_complete", claim)]);
    }
    in_phase(run, purpose, |n| match n {
        0 => vec![
            ("read_file", json!({"path": "input/a.md"})),
            ("write_file", json!({"path": "output/a.md", "content": "Invoices must be kept for ten years."})),
        ],
        1 => vec![(
            "close_passages",
            json!({"passages": [{"passage": 1, "reason": "it repeats one sentence again and again"}]}),
        )],
        _ => vec![("read_file", json!({"path": "input/a.md", "offset": n})), ("todo_complete", json!({}))],
    })
}

/// The job's document, of two passages: one that results show, and one that they do not.
fn document() -> FileWrite {
    FileWrite::text(
        "input/a.md",
        "must be kept. must be kept. must be kept.\n\nInvoices must be shown to whoever asks for them.\n",
    )
}

fn prepared(document: &str) -> Prepared {
    let texts = ["must be kept. must be kept. must be kept.", "Invoices must be shown to whoever asks for them."];
    let passage = |(number, text): (i32, &str)| Passage {
        sha256: [u8::try_from(number).unwrap_or_default(); 32],
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        blocks: blocks(text),
        unseen: blocks(text),
        candidates: vec![Candidate { sentence: 1, text: text.to_owned(), ..Candidate::default() }],
        ..Passage::unread(number, document, number)
    };
    let passages = (1..).zip(texts).map(passage).collect();
    let cut = Product::CutDocument(Box::new(CutDocument { document: document.to_owned(), passages }));
    Prepared { document: document.to_owned(), note: "two passages".to_owned(), products: vec![cut] }
}

/// Writes long texts between small calls.
fn talks(run: &Run, purpose: Purpose) -> Outcome {
    match purpose {
        Purpose::Summary => answer(purpose, "The policy was thought about.", &[]),
        Purpose::Strategic => works(run, purpose),
        Purpose::Tactical => {
            let note = ("add_note", json!({"text": format!("thought {}", run.state().totals.requests)}));
            answer(purpose, &"The policy says more on this. ".repeat(1_000), &[note])
        }
    }
}

/// Ordinary planning; in the tactical phase, the calls of `work` for its nth request.
fn in_phase(run: &Run, purpose: Purpose, work: fn(i64) -> Vec<(&'static str, Value)>) -> Outcome {
    if purpose == Purpose::Summary {
        return answer(purpose, "The policy was read.", &[]);
    }
    let calls = match (run.state().phase.kind, run.state().phase.opening) {
        (PhaseKind::Tactical, _) => work(run.state().totals.requests - 1),
        (PhaseKind::Strategic, Opening::Final) => {
            vec![("job_complete", json!({"summary": "Read.", "deliverables": ["output/a.md"], "confidence": 1}))]
        }
        (PhaseKind::Strategic, _) => {
            let todos: Vec<Value> =
                (1..=5).map(|id| json!({"id": id, "content": format!("Read part {id} of the policy")})).collect();
            let mut calls = vec![
                ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Reading\n- [ ] read\n"})),
                ("todo_write", json!({"phase": "Reading", "description": "All of it.", "todos": todos})),
            ];
            calls.extend((0..4).map(|_| ("todo_complete", json!({}))));
            calls
        }
    };
    answer(purpose, "", &calls)
}

fn answer(purpose: Purpose, content: &str, calls: &[(&str, Value)]) -> Outcome {
    let call = |(place, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: place.to_string(),
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    };
    Outcome::ModelReplied(Reply {
        content: content.to_owned(),
        tool_calls: calls.iter().enumerate().map(call).collect(),
        finish: FinishReason::Done,
        extra: Map::new(),
        record: record(purpose, None),
    })
}

fn cut(purpose: Purpose) -> Outcome {
    match answer(purpose, "It was a long", &[]) {
        Outcome::ModelReplied(reply) => Outcome::ModelReplied(Reply { finish: FinishReason::Truncated, ..reply }),
        other => other,
    }
}

fn failure(purpose: Purpose) -> Outcome {
    let message = "no answer".to_owned();
    let record = record(purpose, Some(message.clone()));
    let class = FailureClass::Transient;
    Outcome::ModelFailed(Failure {
        class,
        message,
        retry_after_s: None,
        hint: None,
        suspicion: None,
        learnt: false,
        jitter: 1.0,
        record,
    })
}

/// The token counts are the model's; because they are marked as estimated, the engine uses its own count.
fn record(purpose: Purpose, error: Option<String>) -> RequestRecord {
    RequestRecord {
        prompt_tokens: 1_000,
        cached_tokens: 500,
        completion_tokens: 100,
        estimated: true,
        duration_ms: 1,
        error,
        ..RequestRecord::sent("m", purpose, 1, start())
    }
}

fn done(call: &ToolCall) -> ToolReturn {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let path = arguments["path"].as_str().unwrap_or_default();
    match call.name.as_str() {
        "write_file" => {
            let file = FileWrite::text(path, arguments["content"].as_str().unwrap_or_default());
            ToolReturn::ok(&call.id, "written", vec![Product::WriteFile(file)])
        }
        _ => ToolReturn::ok(&call.id, format!("{} {}", arguments, "must be kept. ".repeat(220)), Vec::new()),
    }
}
