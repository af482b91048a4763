//! A graph database that counts its requests: the test double for calls that must not be repeated.

use super::double::{Asked, Double, Served};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
use tokio::sync::watch;

/// Of the query that counts.
pub(super) const QUERY: &str = "MATCH (o:BusinessObject) RETURN count(o) AS made";

/// A graph that counts how often a query is run, may keep its answer to itself, and may be away.
#[derive(Default)]
pub(super) struct CountingGraph {
    runs: AtomicUsize,
    is_silent: watch::Sender<bool>,
    /// Whether it is away before it runs the query, or once it has.
    pub(super) is_away: AtomicBool,
    pub(super) goes_away: AtomicBool,
    arrived: watch::Sender<usize>,
    /// The parameters of the executed queries, in order.
    given: Mutex<Vec<Value>>,
}

impl Served<CountingGraph> {
    /// The keys of a job type whose model may query it.
    pub(super) fn keys(&self) -> Value {
        json!({
            "tools": {"domain": ["execute_cypher_query"]},
            "connections": {"neo4j": {"uri": format!("http://{}", self.address), "user": "neo4j", "password_env": "SERVER_KEY"}},
        })
    }
}

impl CountingGraph {
    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// The parameters of the queries that were run.
    pub(super) fn given(&self) -> Vec<Value> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on queries arrive and are not answered, or are, those that wait for it too.
    pub(super) fn keep_silent(&self, silent: bool) {
        self.is_silent.send_replace(silent);
    }

    pub(super) async fn arrived(&self, times: usize) {
        let mut arrived = self.arrived.subscribe();
        arrived.wait_for(|seen| *seen >= times).await.expect("the graph runs");
    }
}

impl Double for CountingGraph {
    async fn answer(&self, asked: Asked) -> Response {
        if self.is_away.load(Ordering::SeqCst) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let asked: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if asked["statement"] != QUERY {
            // The server's plan of it.
            let plan = json!({"operatorType": "ProduceResults@neo4j", "arguments": {}, "children": []});
            let planned = json!({"data": {"fields": [], "values": []}, "queryPlan": plan, "bookmarks": []});
            return Json(planned).into_response();
        }
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push(asked["parameters"].clone());
        let runs = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        self.arrived.send_replace(runs);
        let mut is_silent = self.is_silent.subscribe();
        is_silent.wait_for(|is_silent| !is_silent).await.expect("the graph runs");
        if self.goes_away.load(Ordering::SeqCst) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        Json(json!({"data": {"fields": ["made"], "values": [[1]]}, "bookmarks": []})).into_response()
    }
}
