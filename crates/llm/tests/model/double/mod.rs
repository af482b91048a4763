//! A provider controlled by a test, in each of the three protocols: it sends the test's answers, plainly or streamed as
//! requested, and refuses every request that its protocol's published description does not allow.

mod chat;
mod messages;
mod responses;
mod strict;

use crate::published;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use plumbline_llm::{Api, ApiKey, ModelConfig};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The provider's answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// Reasoning that only the provider can read; it wants it back.
    pub(crate) secret: Option<&'static str>,
    pub(crate) text: &'static str,
    /// Id, name, arguments.
    pub(crate) calls: Vec<(&'static str, &'static str, &'static str)>,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    Done,
    Refused,
    /// By the cap.
    Cut,
}

/// All protocols.
pub(crate) const APIS: [Api; 3] = [Api::Chat, Api::Responses, Api::Messages];

/// The answer as a body.
pub(crate) fn body(api: Api, said: &Said) -> Value {
    match api {
        Api::Chat => chat::body(said),
        Api::Responses => responses::body(said),
        Api::Messages => messages::body(said),
    }
}

/// The answer as a stream.
pub(crate) fn events(api: Api, said: &Said) -> String {
    match api {
        Api::Chat => chat::events(said),
        Api::Responses => responses::events(said),
        Api::Messages => messages::events(said),
    }
}

/// An error in the middle of a stream.
pub(crate) fn error_event(api: Api) -> String {
    match api {
        Api::Chat => event(None, &json!({"error": {"code": 502, "message": "upstream broke"}, "choices": []})),
        Api::Responses => {
            event(Some("error"), &json!({"type": "error", "code": "server_error", "message": "upstream broke"}))
        }
        Api::Messages => event(
            Some("error"),
            &json!({"type": "error", "error": {"type": "overloaded_error", "message": "upstream broke"}}),
        ),
    }
}

fn event(name: Option<&str>, data: &Value) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

/// A text in two pieces, as streams have it; never in the middle of a character.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (one, other) = text.split_at(middle);
    [one, other]
}

/// The provider, for as long as the test's runtime lives.
pub(crate) struct Double {
    pub(crate) api: Api,
    pub(crate) base_url: String,
    state: Arc<ServerState>,
}

struct ServerState {
    api: Api,
    script: Mutex<Vec<Said>>,
    seen: Mutex<Vec<String>>,
}

impl Double {
    /// Says these, one after another; the last again and again.
    pub(crate) async fn saying(api: Api, script: impl IntoIterator<Item = Said>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut script: Vec<Said> = script.into_iter().collect();
        script.reverse();
        let state = Arc::new(ServerState { api, script: Mutex::new(script), seen: Mutex::default() });
        let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { api, base_url, state }
    }

    /// A client's configuration for it.
    pub(crate) fn config(&self) -> ModelConfig {
        let mut config = ModelConfig::new(&self.base_url, "test-model");
        config.api = Some(self.api);
        config.api_key = ApiKey::new("sk-test");
        config
    }

    /// The bodies of the requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().clone()
    }
}

/// Whether the protocol's published description allows this request.
pub(crate) fn check(api: Api, path: &str, headers: &HeaderMap, request: &Value) -> Result<(), String> {
    strict::object(request)?;
    match api {
        Api::Chat => chat::check(path, headers, request),
        Api::Responses => responses::check(path, headers, request),
        Api::Messages => messages::check(path, headers, request),
    }?;
    published::check(api, request)
}

async fn answer(State(state): State<Arc<ServerState>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    state.seen.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
    if let Err(fault) = check(state.api, uri.path(), &headers, &request) {
        let error =
            json!({"error": {"message": format!("not as published: {fault}"), "type": "invalid_request_error"}});
        return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    }
    let said = {
        let mut script = state.script.lock().unwrap();
        if script.len() > 1 { script.pop() } else { script.last().cloned() }.unwrap_or_default()
    };
    match request["stream"] == true {
        true => ([(CONTENT_TYPE, "text/event-stream")], events(state.api, &said)).into_response(),
        false => self::body(state.api, &said).to_string().into_response(),
    }
}
