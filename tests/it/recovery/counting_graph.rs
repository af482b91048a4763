//! A graph database that counts its requests: the test double for calls that must not be repeated.

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// Of the query that counts.
pub(super) const QUERY: &str = "MATCH (o:BusinessObject) RETURN count(o) AS made";

/// A graph that counts how often a query is run, may keep its answer to itself, and may be away.
pub(super) struct CountingGraph {
    pub(super) address: SocketAddr,
    pub(super) state: Arc<Counted>,
    task: JoinHandle<()>,
}

#[derive(Default)]
pub(super) struct Counted {
    runs: AtomicUsize,
    is_silent: watch::Sender<bool>,
    /// Whether it is away before it runs the query, or once it has.
    pub(super) is_away: AtomicBool,
    pub(super) goes_away: AtomicBool,
    arrived: watch::Sender<usize>,
    /// The parameters of the executed queries, in order.
    given: Mutex<Vec<Value>>,
}

impl CountingGraph {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(Counted::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, state, task }
    }

    pub(super) fn runs(&self) -> usize {
        self.state.runs.load(Ordering::SeqCst)
    }

    /// The parameters of the queries that were run.
    pub(super) fn given(&self) -> Vec<Value> {
        self.state.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on queries arrive and are not answered, or are, those that wait for it too.
    pub(super) fn keep_silent(&self, silent: bool) {
        self.state.is_silent.send_replace(silent);
    }

    pub(super) async fn arrived(&self, times: usize) {
        let mut arrived = self.state.arrived.subscribe();
        arrived.wait_for(|seen| *seen >= times).await.expect("the graph runs");
    }
}

impl Drop for CountingGraph {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(state): State<Arc<Counted>>, body: Bytes) -> Response {
    if state.is_away.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    if asked["statement"] != QUERY {
        // The server's plan of it.
        let plan = json!({"operatorType": "ProduceResults@neo4j", "arguments": {}, "children": []});
        let planned = json!({"data": {"fields": [], "values": []}, "queryPlan": plan, "bookmarks": []});
        return Json(planned).into_response();
    }
    state.given.lock().unwrap_or_else(PoisonError::into_inner).push(asked["parameters"].clone());
    let runs = state.runs.fetch_add(1, Ordering::SeqCst) + 1;
    state.arrived.send_replace(runs);
    let mut is_silent = state.is_silent.subscribe();
    is_silent.wait_for(|is_silent| !is_silent).await.expect("the graph runs");
    if state.goes_away.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    Json(json!({"data": {"fields": ["made"], "values": [[1]]}, "bookmarks": []})).into_response()
}
