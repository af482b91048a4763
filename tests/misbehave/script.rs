//! A scripted model that works for a given number of turns and inspects each request.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
};
use serde_json::{Value, json};
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// Turns of one todo, the closing one included.
const TURNS_A_TODO: u64 = 8;
/// Todos of a phase.
const TODOS: u64 = 20;

/// Bytes of a kind, and how many of them are a common prefix with the previous request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shared {
    bytes: u64,
    shared: u64,
}

impl Shared {
    pub(crate) fn share(self) -> f64 {
        self.shared as f64 / self.bytes.max(1) as f64
    }

    fn add(&mut self, bytes: usize, shared: usize) {
        self.bytes += bytes as u64;
        self.shared += shared as u64;
    }
}

/// Statistics of the requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) turns: u64,
    pub(crate) phases: u64,
    pub(crate) summaries: u64,
    pub(crate) summaries_in_row: u64,
    pub(crate) clearings: u64,
    /// Tokens of the largest request, counted as for the reported usage.
    pub(crate) largest: u64,
    /// Content that was missing from a request.
    pub(crate) missing: Vec<String>,
    pub(crate) all: Shared,
    /// Without the requests after a phase boundary, a compaction or a clearing.
    pub(crate) within: Shared,
    /// The tools of each turn, by name.
    pub(crate) tools: Vec<Vec<String>>,
    /// Turns outside boundaries whose request does not begin with the whole previous request except its todo list.
    pub(crate) moved: Vec<u64>,
    in_row: u64,
    cleared: usize,
    system: String,
    before: Vec<u8>,
}

/// The model's misbehaviour in a turn of a tactical phase, if any.
pub(crate) type Aside = fn(&Seen) -> Option<Value>;

/// The model; stopped when dropped.
pub(crate) struct Script {
    address: std::net::SocketAddr,
    server: Arc<ServerState>,
    task: JoinHandle<()>,
}

struct ServerState {
    turns: u64,
    aside: Aside,
    seen: Mutex<Seen>,
}

impl Script {
    /// Serves a model that works for this number of turns and then completes the job at the next opportunity.
    pub(crate) async fn start(turns: u64) -> Self {
        Self::with(turns, |_| None).await
    }

    /// The same, with additional behaviour.
    pub(crate) async fn with(turns: u64, aside: Aside) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let server = Arc::new(ServerState { turns, aside, seen: Mutex::default() });
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(server.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, server, task }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn seen(&self) -> Seen {
        self.server.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(server): State<Arc<ServerState>>, body: Bytes) -> Json<Value> {
    let request: Value = serde_json::from_slice(&body).expect("requests are JSON");
    let mut seen = server.seen.lock().unwrap_or_else(PoisonError::into_inner);
    // Four bytes per token, as everywhere in these tests; the engine calibrates its own estimate with the reported
    // figure.
    let tokens = body.len() as u64 / 4;
    seen.largest = seen.largest.max(tokens);
    let message = match request["tools"].as_array() {
        None => seen.summary(),
        Some(tools) => {
            seen.look(&request, &body);
            let strategic = tools.iter().any(|tool| tool["function"]["name"] == "todo_write");
            match strategic {
                true => planning(&seen, &request, server.turns),
                false => (server.aside)(&seen).unwrap_or_else(|| working(&seen)),
            }
        }
    };
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40});
    Json(json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}))
}

impl Seen {
    fn summary(&mut self) -> Value {
        self.summaries += 1;
        self.in_row += 1;
        self.summaries_in_row = self.summaries_in_row.max(self.in_row);
        json!({"role": "assistant", "content": "Lines of the policy were read one after another; the notes are in notes/."})
    }

    fn look(&mut self, request: &Value, body: &[u8]) {
        self.turns += 1;
        let messages = request["messages"].as_array().expect("a request has messages");
        let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        let (system, last) = (text(&messages[0]), messages.last().map(text).unwrap_or_default());
        for (what, there) in [
            ("the instructions", system.contains("## Instructions")),
            ("the prompt", system.contains("Extract the requirements")),
            ("the open todos", last.contains("ACTIVE TODO LIST") && last.contains("← CURRENT")),
        ] {
            if !there {
                self.missing.push(format!("{what} in turn {}", self.turns));
            }
        }
        let cleared = messages.iter().filter(|message| text(message).starts_with("[result cleared")).count();
        let boundary = system != self.system || cleared > self.cleared || self.in_row > 0;
        self.phases += u64::from(system != self.system && self.in_row == 0);
        self.clearings += u64::from(cleared > self.cleared);
        let shared = self.before.iter().zip(body).take_while(|(a, b)| a == b).count();
        self.all.add(body.len(), shared);
        if !boundary {
            self.within.add(body.len(), shared);
            if shared < last_message(&self.before) {
                self.moved.push(self.turns);
            }
        }
        self.tools.push(names_of_tools(request));
        (self.system, self.cleared, self.in_row, self.before) = (system, cleared, 0, body.to_vec());
    }
}

fn names_of_tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

/// Where the last message of a request begins: its todo list.
fn last_message(body: &[u8]) -> usize {
    let (mark, title) = (b"{\"role\":\"user\"", "ACTIVE TODO LIST".as_bytes());
    let list = body.windows(title.len()).rposition(|window| window == title).unwrap_or(0);
    body[..list].windows(mark.len()).rposition(|window| window == mark).unwrap_or(0)
}

/// For any strategic todo: its tools and its completion.
fn planning(seen: &Seen, request: &Value, turns: u64) -> Value {
    let list = request["messages"].as_array().and_then(|messages| messages.last());
    let list = list.and_then(|message| message["content"].as_str()).unwrap_or_default();
    let current = list.lines().find(|line| line.contains("← CURRENT")).unwrap_or_default();
    let done = ("todo_complete", json!({"notes": "as the todo says"}));
    if current.contains("with write_plan") {
        let phases: Vec<String> =
            (1..=100).map(|n| format!("## Phase {n}: Lines, part {n}\n- [ ] read them\n")).collect();
        return calls(seen.turns, &[("write_plan", json!({"content": phases.join("\n")})), done]);
    }
    if !current.contains("todo_write") {
        return calls(seen.turns, &[("add_note", json!({"text": format!("Turn {} went well.", seen.turns)})), done]);
    }
    if seen.turns >= turns {
        let undelivered = ["phases 2-100: the job was to be as long as it was, and no longer"];
        let result = json!({"summary": "All lines were read.", "deliverables": ["output/notes.md"], "undelivered": undelivered,
                            "confidence": 0.9});
        let file = json!({"path": "output/notes.md", "content": "Every line of the policy was read and noted."});
        return calls(seen.turns, &[("write_file", file), ("job_complete", result)]);
    }
    let todos: Vec<Value> = (1..=TODOS)
        .map(|id| json!({"id": id, "content": format!("Read part {id} from turn {} on", seen.turns)}))
        .collect();
    let list = json!({"phase": "Lines", "description": "Read on", "todos": todos});
    calls(seen.turns, &[("todo_write", list), done])
}

/// Reads another part of the document, writes a note, and closes the todo when due.
fn working(seen: &Seen) -> Value {
    let turn = seen.turns;
    match turn % TURNS_A_TODO {
        0 => calls(turn, &[("todo_complete", json!({"notes": "the part was read and noted"}))]),
        part if part % 2 == 1 => {
            let read = json!({"path": "input/policy.md", "offset": 1 + turn * 7 % 300, "limit": 60});
            calls(turn, &[("read_file", read)])
        }
        _ => {
            let note = format!("In turn {turn} the lines from {} on were read. ", 1 + turn * 7 % 300).repeat(8);
            calls(turn, &[("write_file", json!({"path": format!("notes/{}.md", turn % 40), "content": note}))])
        }
    }
}

/// A message with these calls.
pub(crate) fn calls(turn: u64, calls: &[(&str, Value)]) -> Value {
    let calls = calls.iter().enumerate().map(|(at, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("c{turn}_{at}"), "type": "function", "function": function})
    });
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}
