//! The rehearsal model behind an endpoint that injects the failure that the job's prompt names.

use crate::cases::{Api, Case, CaseKind, Usage, all};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse, Json, Response},
};
use plumbline_rehearsal::{MODEL, answering_by_todo};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// A server that truncates its input to 1,300 tokens, as Ollama does, and reports its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutting {
    pub(crate) window: u32,
}

struct Shared {
    cutting: Option<Cutting>,
    /// Requests of each job so far, and the size of the last.
    seen: Mutex<HashMap<String, (u64, u64)>>,
    cases: HashMap<String, Case>,
}

pub(crate) struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(cutting: Option<Cutting>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let cases = all().into_iter().map(|case| (case.key(), case)).collect();
        let shared = Arc::new(Shared { cutting, seen: Mutex::default(), cases });
        let router = Router::new().fallback(route).with_state(shared);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { address, task }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

async fn route(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, body: Bytes) -> Response {
    if method == Method::GET {
        return match (uri.path(), shared.cutting) {
            ("/api/ps", Some(cutting)) => {
                Json(json!({"models": [{"model": MODEL, "context_length": cutting.window}]})).into_response()
            }
            ("/v1/models", _) => Json(json!({"data": [{"id": MODEL}]})).into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        };
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let key = key_in(&text).unwrap_or_default();
    let own = text.len() as u64 / 4;
    let (number, before) = {
        let mut seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.entry(key.clone()).or_default();
        let before = seen.1;
        *seen = (seen.0 + 1, own);
        (seen.0, before)
    };
    let case = shared.cases.get(&key);
    if let Some(Case { kind: CaseKind::Status(status), lasts }) = case
        && (number == 3 || *lasts && number > 3)
    {
        let status = StatusCode::from_u16(*status).expect("a status");
        return (status, Json(json!({"error": {"message": "the test asked for it"}}))).into_response();
    }
    let think = answering_by_todo(uri.path()).expect("a path of a protocol");
    let mut request: Value = serde_json::from_str(&text).expect("a request that can be read");
    request["stream"] = json!(false);
    let request = Bytes::from(request.to_string());
    let worked = plumbline_bounds::blocking::unbounded(move || think(&request)).await.expect("the model answers");
    let worked = axum::body::to_bytes(worked.into_body(), usize::MAX).await.expect("the answer is there");
    let mut answer: Value = serde_json::from_slice(&worked).expect("an answer is JSON");
    if let Some(Case { kind: CaseKind::Usage(usage, api), .. }) = case {
        let counts = Counts { api: *api, own, cached: before.min(own) };
        answer["usage"] = counts.said(*usage, number, &text);
    }
    if shared.cutting.is_some() {
        answer["usage"] =
            json!({"prompt_tokens": 1300.min(own), "completion_tokens": 20, "total_tokens": 1320.min(own + 20)});
    }
    Json(answer).into_response()
}

/// The name of the failure in the job's prompt.
fn key_in(text: &str) -> Option<String> {
    let from = text.find("weather-")?;
    let rest = &text[from..];
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// The size of a request, and how much of it the previous request had.
struct Counts {
    api: Api,
    own: u64,
    cached: u64,
}

impl Counts {
    /// The usage object, in the names of the protocol.
    fn said(&self, usage: Usage, number: u64, request: &str) -> Value {
        let Self { own, cached, .. } = *self;
        let new = own - cached;
        match usage {
            Usage::Whole => self.of(own),
            Usage::CachedInDetails => self.with(self.details(), json!({"cached_tokens": cached})),
            Usage::CacheReadBeside => self.with("cache_read_input_tokens", json!(cached)),
            Usage::CacheHitBeside => self.with("prompt_cache_hit_tokens", json!(cached)),
            Usage::TotalAlone => self.with("total_tokens", json!(own + ANSWER)),
            Usage::NothingOfTheCache => self.of(new),
            Usage::OnlyWhatWasNewlyRead => self.with("total_tokens", json!(new.max(1) + ANSWER)),
            Usage::TextsAlone => self.of(texts(request)),
            Usage::HalfOfIt => self.of(texts(request) / 2),
            Usage::EachSecondAThird => self.of(if number.is_multiple_of(2) { own / 3 } else { own }),
            Usage::ToolsLeftOut => self.of(own - tools(request).min(own)),
            Usage::CacheReadNothing => self.with("cache_read_input_tokens", json!(0)),
            Usage::WritesInAnObject => {
                let mut usage = self.with("cache_creation", json!({"ephemeral_5m_input_tokens": new / 2}));
                usage[PROMPT[usize::from(self.api != Api::Chat)]] = json!((new / 2).max(1));
                usage["cache_read_input_tokens"] = json!(cached);
                usage
            }
        }
    }

    fn of(&self, prompt: u64) -> Value {
        let mut usage = json!({});
        let names = usize::from(self.api != Api::Chat);
        usage[PROMPT[names]] = json!(prompt.max(1));
        usage[COMPLETION[names]] = json!(ANSWER);
        usage
    }

    /// The usage of the uncached part, with an additional count.
    fn with(&self, key: &str, value: Value) -> Value {
        let mut usage = self.of(self.own - self.cached);
        usage[key] = value;
        usage
    }

    fn details(&self) -> &'static str {
        if self.api == Api::Chat { "prompt_tokens_details" } else { "input_tokens_details" }
    }
}

/// Names of the counts: those of chat, and of the other protocols.
const PROMPT: [&str; 2] = ["prompt_tokens", "input_tokens"];
const COMPLETION: [&str; 2] = ["completion_tokens", "output_tokens"];

/// Tokens of each answer.
const ANSWER: u64 = 20;

/// Tokens of the words of the conversation, without tools and calls.
fn texts(request: &str) -> u64 {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let said = ["messages", "input", "system", "instructions"].map(|key| words(&request[key]));
    said.iter().sum::<u64>() / 4
}

/// Bytes of texts, wherever they are.
fn words(value: &Value) -> u64 {
    match value {
        Value::Array(parts) => parts.iter().map(words).sum(),
        Value::Object(part) => {
            ["content", "text", "output"].into_iter().filter_map(|key| part.get(key)).map(words).sum()
        }
        Value::String(text) => text.len() as u64,
        _ => 0,
    }
}

fn tools(request: &str) -> u64 {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    request["tools"].to_string().len() as u64 / 4
}
