//! A server with the interface of the Query API (`POST /db/{db}/query/v2`, `/tx`, `/tx/{id}`, `/tx/{id}/commit`,
//! `DELETE /tx/{id}`), with recorded answers or in front of a Neo4j.

use super::engine::{Engine, ask, exchange, free_port};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `POST /db/neo4j/query/v2`
    pub line: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, as JSON.
    pub body: Value,
}

/// The state of a request when the server falls silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It was received, and not executed.
    Before,
    /// It was executed, and its answer is lost.
    After,
}

#[derive(Debug, Default)]
struct Inner {
    seen: Mutex<Vec<Seen>>,
    recorded: Mutex<VecDeque<(u16, String)>>,
    engine: Option<SocketAddr>,
    /// The request that is never answered.
    silent_at: Mutex<Option<(usize, Moment)>>,
    fell_silent: watch::Sender<bool>,
    closed: watch::Sender<bool>,
}

/// A running server; ends with the test's runtime.
#[derive(Debug)]
pub struct Server {
    /// The base URL for clients, e.g. `http://127.0.0.1:15012`.
    pub uri: String,
    address: SocketAddr,
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

impl Server {
    /// Returns these answers, one per request.
    pub async fn recorded(answers: &[(u16, &str)]) -> Self {
        let recorded = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        Self::start(Inner { recorded: Mutex::new(recorded), ..Inner::default() }).await
    }

    /// Forwards everything to Neo4j.
    pub async fn over(engine: &Engine) -> Self {
        Self::start(Inner { engine: Some(engine.address), ..Inner::default() }).await
    }

    async fn start(inner: Inner) -> Self {
        let inner = Arc::new(inner);
        let (address, task) = serve(SocketAddr::from(([127, 0, 0, 1], free_port())), Arc::clone(&inner)).await;
        Self { uri: format!("http://{address}"), address, inner, task }
    }

    /// Becomes unavailable until [`Server::open`]: connections are refused, and open ones get the answer of a proxy
    /// whose server is down.
    pub fn close(&self) {
        self.task.abort();
        self.inner.closed.send_replace(true);
    }

    /// Becomes available again at the same address.
    pub async fn open(&mut self) {
        self.inner.closed.send_replace(false);
        // Its port is free when the task has ended, a moment after it is aborted.
        let _ = (&mut self.task).await;
        (_, self.task) = serve(self.address, Arc::clone(&self.inner)).await;
    }

    /// All requests so far, in order.
    ///
    /// # Panics
    /// When a task of the server has panicked.
    pub fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap().clone()
    }

    /// Does not answer the request after `after` further ones, counted from 0; answers all others.
    pub fn fall_silent(&self, after: usize, moment: Moment) {
        self.inner.fell_silent.send_replace(false);
        let at = self.inner.seen.lock().unwrap().len() + 1 + after;
        *self.inner.silent_at.lock().unwrap() = Some((at, moment));
    }

    /// Waits until the unanswered request has arrived.
    pub async fn silence(&self) {
        self.inner.fell_silent.subscribe().wait_for(|silent| *silent).await.unwrap();
    }

    /// Runs a statement in the engine, bypassing the server.
    pub async fn ask(&self, statement: &str) -> Vec<Value> {
        ask(self.inner.engine.expect("an engine is behind this server"), statement).await
    }
}

async fn serve(address: SocketAddr, inner: Arc<Inner>) -> (SocketAddr, JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(answer).with_state(inner);
    (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let number = {
        let mut seen = inner.seen.lock().unwrap();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        seen.push(Seen { line: format!("{method} {uri}"), headers, body });
        seen.len()
    };
    if *inner.closed.borrow() {
        return gone();
    }
    let silent = inner.silent_at.lock().unwrap().filter(|(at, _)| *at == number).map(|(_, moment)| moment);
    if silent == Some(Moment::Before) {
        return inner.say_nothing().await;
    }
    let answer = match inner.engine {
        Some(engine) => {
            let (status, answer) = exchange(engine, method.as_str(), uri.path(), &body).await;
            (StatusCode::from_u16(status).unwrap(), answer).into_response()
        }
        None => {
            let recorded = inner.recorded.lock().unwrap().pop_front();
            let (status, text) = recorded.expect("the test recorded an answer for each request");
            (StatusCode::from_u16(status).unwrap(), [("neo4j-cluster-affinity", "member-2")], text).into_response()
        }
    };
    if silent == Some(Moment::After) { inner.say_nothing().await } else { answer }
}

impl Inner {
    async fn say_nothing(&self) -> Response {
        self.fell_silent.send_replace(true);
        self.closed.subscribe().wait_for(|closed| *closed).await.unwrap();
        gone()
    }
}

fn gone() -> Response {
    (StatusCode::BAD_GATEWAY, "<html>Bad Gateway</html>").into_response()
}
