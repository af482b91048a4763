//! An embeddings endpoint that understands a few words: [`MEANINGS`] lists the synonyms.

use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// The name it goes by.
pub(crate) const MODEL: &str = "a-few-words";
/// Words of one meaning, a direction each.
const MEANINGS: [&[&str]; 4] = [
    &["invoice", "bill", "receipt"],
    &["backup", "restore", "copy"],
    &["visitor", "guest"],
    &["year", "decade", "retain", "kept"],
];
/// Texts with this word are answered by a failure.
pub(crate) const OUTAGE: &str = "outage";

/// The endpoint, for as long as this lives.
pub(crate) struct Embeddings {
    address: SocketAddr,
    texts: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Embeddings {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let texts = Arc::new(Mutex::default());
        let router = Router::new().route("/v1/embeddings", post(embed)).with_state(Arc::clone(&texts));
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, texts, task }
    }

    /// The value of `connections.embeddings`.
    pub(crate) fn connection(&self) -> Value {
        json!({"base_url": format!("http://{}/v1", self.address), "model": MODEL})
    }

    /// Every text that was embedded, in order.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Embeddings {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn embed(State(seen): State<Arc<Mutex<Vec<String>>>>, Json(body): Json<Value>) -> axum::response::Response {
    assert_eq!(body["model"], MODEL);
    let inputs = body["input"].as_array().expect("texts come as an array");
    let texts: Vec<String> = inputs.iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
    if texts.iter().any(|text| text.contains(OUTAGE)) {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let entry = |(index, text): (usize, &String)| json!({"index": index, "embedding": direction(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(entry).collect();
    seen.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
    Json(json!({"data": data})).into_response()
}

/// How often each meaning is mentioned, and a little of everything, so that no text points nowhere.
fn direction(text: &str) -> Vec<f64> {
    let mentions = |words: &&[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f64;
    MEANINGS.iter().map(mentions).map(|count| count + 0.01).collect()
}
