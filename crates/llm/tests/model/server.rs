//! A scripted chat-completions server that records its requests.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, Mutex};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

type Script = Arc<dyn Fn(&str) -> Response + Send + Sync>;

#[derive(Clone)]
struct Shared {
    script: Script,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A running server; ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) base_url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Answers every request with the script's result.
    pub(crate) async fn start(script: impl Fn() -> Response + Send + Sync + 'static) -> Self {
        Self::judging(move |_| script()).await
    }

    /// Answers every request by its body.
    pub(crate) async fn judging(script: impl Fn(&str) -> Response + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared { script: Arc::new(script), seen: Arc::clone(&seen) };
        let router = axum::Router::new().fallback(answer).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, seen }
    }

    /// Answers with a status and a body.
    pub(crate) async fn saying(status: u16, body: impl Into<String>) -> Self {
        let body: String = body.into();
        Self::start(move || (StatusCode::from_u16(status).unwrap(), body.clone()).into_response()).await
    }

    /// Answers 200 with a body of these pieces, with the stream's timing and end.
    pub(crate) async fn streaming<S>(pieces: impl Fn() -> S + Send + Sync + 'static) -> Self
    where
        S: futures_util::Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
    {
        Self::start(move || Body::from_stream(pieces()).into_response()).await
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answer(State(shared): State<Shared>, uri: Uri, headers: HeaderMap, body: String) -> Response {
    let answer = (shared.script)(&body);
    shared.seen.lock().unwrap().push(Seen { path: uri.to_string(), headers, body });
    answer
}
