//! A model whose answers a test writes, one by one, over the real protocol.

use axum::{Json, Router, body::Bytes, extract::DefaultBodyLimit, extract::State};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

mod one_phase;

pub use one_phase::{Call, one_phase, reads};

/// Computes the answer from the request and its number, from 1.
type Answers = dyn Fn(&Request, usize) -> Reply + Send + Sync;

/// A request as the model received it.
#[derive(Clone, Debug)]
pub struct Request(pub Value);

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    content: String,
    calls: Vec<(String, String)>,
    finish: &'static str,
    counted: Option<usize>,
}

/// The server; stopped when dropped.
pub struct Scripted {
    address: SocketAddr,
    server: Arc<ServerState>,
    task: JoinHandle<()>,
}

struct ServerState {
    answers: Box<Answers>,
    seen: Mutex<Vec<Request>>,
}

impl Request {
    /// The tools' results after the last answer, in order.
    pub fn new_results(&self) -> Vec<&str> {
        let messages = self.messages();
        let last = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(messages.len());
        messages[last..].iter().filter(|message| message["role"] == "tool").map(text).collect()
    }

    /// How many answers the conversation contains.
    pub fn answers(&self) -> usize {
        self.messages().iter().filter(|message| message["role"] == "assistant").count()
    }

    /// The texts of all messages.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages().iter().map(text)
    }

    /// Whether one of its messages has this text.
    pub fn has(&self, text: &str) -> bool {
        self.texts().any(|line| line.contains(text))
    }

    /// Whether it is a turn of a strategic phase.
    pub fn is_strategic(&self) -> bool {
        let tools = self.0["tools"].as_array();
        tools.is_some_and(|tools| tools.iter().any(|tool| tool["function"]["name"] == "todo_write"))
    }

    /// Whether it asks for a summary of the conversation.
    pub fn is_summary(&self) -> bool {
        self.0["tools"].as_array().is_none_or(Vec::is_empty)
    }

    fn messages(&self) -> &[Value] {
        self.0["messages"].as_array().map_or(&[], Vec::as_slice)
    }
}

fn text(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

impl Reply {
    /// Calls tools; complete.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.to_string())).collect();
        Self { content: String::new(), calls, finish: "tool_calls", counted: None }
    }

    /// Says something; complete.
    pub fn says(content: &str) -> Self {
        Self { content: content.to_owned(), calls: Vec::new(), finish: "stop", counted: None }
    }

    /// The same with this count of the prompt's tokens.
    #[must_use]
    pub fn counting(self, tokens: usize) -> Self {
        Self { counted: Some(tokens), ..self }
    }

    /// The same with one more call, cut off within its arguments.
    pub fn cut_off(calls: &[(&str, Value)], torn: (&str, &str)) -> Self {
        let mut reply = Self { finish: "length", ..Self::calls(calls) };
        reply.calls.push((torn.0.to_owned(), torn.1.to_owned()));
        reply
    }

    fn to_json(&self, request: &Request) -> Value {
        let calls: Vec<Value> = (1..)
            .zip(&self.calls)
            .map(|(n, (name, arguments))| {
                json!({"id": format!("c{n}"), "type": "function", "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        // Four bytes per token, as everywhere in these tests.
        let tokens = self.counted.unwrap_or_else(|| request.0.to_string().len() / 4);
        json!({
            "choices": [{"index": 0, "finish_reason": self.finish,
                         "message": {"role": "assistant", "content": self.content, "tool_calls": calls}}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 100, "total_tokens": tokens + 100},
        })
    }
}

impl Scripted {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start(answers: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let server = Arc::new(ServerState { answers: Box::new(answers), seen: Mutex::default() });
        let router = Router::new().fallback(route).layer(DefaultBodyLimit::disable()).with_state(server.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, server, task }
    }

    /// The value for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Request> {
        self.server.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn route(State(server): State<Arc<ServerState>>, body: Bytes) -> Json<Value> {
    let request = Request(serde_json::from_slice(&body).expect("requests are JSON"));
    let number = {
        let mut seen = server.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
        seen.len()
    };
    Json((server.answers)(&request, number).to_json(&request))
}
