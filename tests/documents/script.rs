//! A model that follows a test's script in its single tactical phase, and stores the results.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// Todos of the tactical phase; fewer are not accepted.
const TODOS: usize = 5;

/// A tool's name and its arguments.
pub(crate) type Call = (&'static str, Value);

/// The model, for as long as this lives.
pub(crate) struct Script {
    address: SocketAddr,
    server: Arc<ServerState>,
    task: JoinHandle<()>,
}

struct ServerState {
    turns: Vec<Vec<Call>>,
    state: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    /// Tactical requests so far: the next one's place in the script.
    asked: usize,
    /// The tool results of each turn of the script.
    said: Vec<Vec<String>>,
}

impl Script {
    /// Serves a model that makes these calls, a turn after the other, and then completes the job.
    pub(crate) async fn start(turns: Vec<Vec<Call>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let server = Arc::new(ServerState { turns, state: Mutex::default() });
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(server.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, server, task }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The tool results in each turn of the script.
    pub(crate) fn said(&self) -> Vec<Vec<String>> {
        self.server.state.lock().unwrap_or_else(PoisonError::into_inner).said.clone()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(server): State<Arc<ServerState>>, body: Bytes) -> Json<Value> {
    let request: Value = serde_json::from_slice(&body).expect("requests are JSON");
    let mut state = server.state.lock().unwrap_or_else(PoisonError::into_inner);
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let strategic = tools.iter().any(|tool| tool["function"]["name"] == "todo_write");
    let message = if strategic { planning(&request, state.asked > 0) } else { working(&server, &mut state, &request) };
    let tokens = body.len() / 4;
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40});
    Json(json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}))
}

/// For any strategic todo: its tools and its closing.
fn planning(request: &Value, worked: bool) -> Value {
    let list = request["messages"].as_array().and_then(|messages| messages.last());
    let list = list.and_then(|message| message["content"].as_str()).unwrap_or_default();
    let current = list.lines().find(|line| line.contains("← CURRENT")).unwrap_or_default();
    let done = ("todo_complete", json!({"notes": "as the todo says"}));
    if current.contains("with write_plan") {
        return calls(&[("write_plan", json!({"content": "## Phase 1: The script\n- [ ] follow it\n"})), done]);
    }
    if !current.contains("todo_write") {
        return calls(&[("add_note", json!({"text": "All is well."})), done]);
    }
    if worked {
        let result =
            json!({"summary": "The script was followed.", "deliverables": ["output/notes.md"], "confidence": 0.9});
        let file = json!({"path": "output/notes.md", "content": "Every line of the script was followed to the end."});
        return calls(&[("write_file", file), ("job_complete", result)]);
    }
    let todos: Vec<Value> = (1..=TODOS).map(|id| json!({"id": id, "content": format!("Follow part {id}")})).collect();
    calls(&[("todo_write", json!({"phase": "The script", "description": "Follow it", "todos": todos})), done])
}

/// The next turn of the script; after its end, closing one todo per turn.
fn working(server: &ServerState, state: &mut Progress, request: &Value) -> Value {
    let at = state.asked;
    state.asked += 1;
    if (1..=server.turns.len()).contains(&at) {
        state.said.push(results(request));
    }
    match server.turns.get(at) {
        Some(turn) => calls(turn),
        None => calls(&[("todo_complete", json!({"notes": "this part was followed"}))]),
    }
}

/// The results of the last turn's calls.
fn results(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
    let tool = messages[last..].iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn calls(calls: &[Call]) -> Value {
    let calls = calls.iter().map(|(name, arguments)| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call_{}", plumbline_system_tests::Uuid::now_v7().simple()), "type": "function", "function": function})
    });
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}
