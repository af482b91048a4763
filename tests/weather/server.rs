//! The rehearsal model behind a door that does to each job what its prompt names.

use crate::cases::{Case, CaseKind, Usage, all};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse, Json, Response},
};
use plumbline_rehearsal::{ChatRequest, MODEL, answer};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// A server that keeps 1,300 tokens of what it is sent, as Ollama does, and tells its window.
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
    let request: ChatRequest = serde_json::from_str(&text).expect("a request that can be read");
    let worked = plumbline_bounds::blocking::unbounded(move || answer(&request)).await.expect("the model answers");
    let mut answer = serde_json::to_value(worked).expect("an answer is JSON");
    if let Some(Case { kind: CaseKind::Usage(usage), .. }) = case {
        answer["usage"] = counted(*usage, number, own, before.min(own), &text);
    }
    if shared.cutting.is_some() {
        answer["usage"] =
            json!({"prompt_tokens": 1300.min(own), "completion_tokens": 20, "total_tokens": 1320.min(own + 20)});
    }
    Json(answer).into_response()
}

/// The word by which the job's prompt names what is done to it.
fn key_in(text: &str) -> Option<String> {
    let from = text.find("weather-")?;
    let rest = &text[from..];
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// The usage of a request of `own` tokens, of which `cached` were there a request ago.
fn counted(usage: Usage, number: u64, own: u64, cached: u64, request: &str) -> Value {
    let (new, answer) = (own - cached, 20);
    let said = |prompt: u64| json!({"prompt_tokens": prompt.max(1), "completion_tokens": answer});
    let with = |key: &str, value: Value| {
        let mut usage = said(new);
        usage[key] = value;
        usage
    };
    match usage {
        Usage::Whole => said(own),
        Usage::CachedInDetails => with("prompt_tokens_details", json!({"cached_tokens": cached})),
        Usage::CacheReadBeside => with("cache_read_input_tokens", json!(cached)),
        Usage::CacheHitBeside => with("prompt_cache_hit_tokens", json!(cached)),
        Usage::TotalAlone => with("total_tokens", json!(own + answer)),
        Usage::NothingOfTheCache | Usage::OnlyWhatWasNewlyRead => with("total_tokens", json!(new.max(1) + answer)),
        Usage::TextsAlone => said(texts(request)),
        Usage::HalfOfIt => said(texts(request) / 2),
        Usage::EachSecondAThird => said(if number.is_multiple_of(2) { own / 3 } else { own }),
        Usage::ToolsLeftOut => said(own - tools(request).min(own)),
    }
}

fn texts(request: &str) -> u64 {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().filter_map(|message| message["content"].as_str()).map(|text| text.len() as u64 / 4).sum()
}

fn tools(request: &str) -> u64 {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    request["tools"].to_string().len() as u64 / 4
}
