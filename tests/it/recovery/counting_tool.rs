//! A tool over HTTP that counts its requests: the test double for `connections.http_tools`.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// A call as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// `/pay`.
    pub(super) path: String,
    pub(super) key: String,
    pub(super) traceparent: String,
    pub(super) authorization: String,
    pub(super) arguments: Value,
}

/// The server.
pub(super) struct CountingTool {
    pub(super) address: SocketAddr,
    state: Arc<Counted>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Counted {
    arrived: Mutex<Vec<Arrived>>,
}

impl CountingTool {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(Counted::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, state, task }
    }

    /// An entry of `connections.http_tools` that leads here.
    pub(super) fn entry(&self, path: &str, more: &Value) -> Value {
        let mut entry = json!({
            "description": "Pay an amount.", "url": format!("http://{}/{path}", self.address), "allow_private": true,
            "parameters": {
                "type": "object", "required": ["amount"], "additionalProperties": false,
                "properties": {"amount": {"type": "integer"}}
            },
        });
        entry.as_object_mut().expect("keys").extend(more.as_object().expect("keys").clone());
        entry
    }

    pub(super) fn arrived(&self) -> Vec<Arrived> {
        self.state.arrived.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The amounts that were paid, in the order of their arrival.
    pub(super) fn amounts(&self) -> Vec<i64> {
        self.arrived().iter().filter_map(|call| call.arguments["amount"].as_i64()).collect()
    }
}

impl Drop for CountingTool {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(state): State<Arc<Counted>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let path = uri.path().to_owned();
    let arguments: Value = serde_json::from_slice(&body).unwrap_or_default();
    let arrived = Arrived {
        path: path.clone(),
        key: header("idempotency-key"),
        traceparent: header("traceparent"),
        authorization: header("authorization"),
        arguments: arguments.clone(),
    };
    state.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(arrived);
    match path.as_str() {
        "/broken" => (StatusCode::UNPROCESSABLE_ENTITY, "this amount is not taken").into_response(),
        _ => json!({"paid": arguments["amount"]}).to_string().into_response(),
    }
}
