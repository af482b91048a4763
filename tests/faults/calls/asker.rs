//! A job that makes calls which must not be repeated: its model, and a graph that counts the calls.

use axum::{Json, Router, extract::State};
use plumbline_system_tests::scripted::{Reply, Request, one_phase};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::TcpListener;

/// The tool of the calls, and their query.
const TOOL: &str = "execute_cypher_query";
const QUERY: &str = "MATCH (o:BusinessObject) RETURN count(o) AS made";

/// Calls of a job, all in one answer.
pub(super) const CALLS: usize = 3;

/// How often each call has arrived, by its name.
#[derive(Clone, Default)]
pub(super) struct Runs(Arc<Mutex<BTreeMap<String, usize>>>);

impl Runs {
    pub(super) fn of(&self, call: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(call).copied().unwrap_or_default()
    }

    fn count(&self, call: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(call.to_owned()).or_default() += 1;
    }
}

/// The prompt of a job, from which its calls get their names.
pub(super) fn prompt(job: usize) -> String {
    format!("Ask for job-{job}.")
}

/// The name of a job's call, from 0.
pub(super) fn call(job: impl std::fmt::Display, n: usize) -> String {
    format!("{job}-{n}")
}

/// The keys of a job type that makes the calls.
pub(super) fn keys(model: &str, graph: &str, approval: &[&str]) -> Value {
    json!({
        "$extends": "creator", "coverage": "off", "on_complete": null, "deliverables": [], "approval": approval,
        "llm": {"base_url": model, "prices": "free"},
        "tools": {"domain": [TOOL]}, "connections": {"neo4j": {"uri": graph}},
    })
}

/// A graph that counts the runs of a query; returns its address.
pub(super) async fn counting_graph(runs: Runs) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let router = Router::new().fallback(answer).with_state(runs);
    tokio::spawn(async move { axum::serve(listener, router).await.expect("the graph runs") });
    format!("http://{address}")
}

async fn answer(State(runs): State<Runs>, Json(asked): Json<Value>) -> Json<Value> {
    if asked["statement"] != QUERY {
        // The server's plan of it.
        let plan = json!({"operatorType": "ProduceResults@neo4j", "arguments": {}, "children": []});
        return Json(json!({"data": {"fields": [], "values": []}, "queryPlan": plan, "bookmarks": []}));
    }
    runs.count(asked["parameters"]["call"].as_str().unwrap_or_default());
    Json(json!({"data": {"fields": ["made"], "values": [[1]]}, "bookmarks": []}))
}

/// The model's answers: a phase of work with the calls, then the end.
pub(super) fn script(request: &Request) -> Reply {
    let job = job(request);
    let call = |n| (TOOL, json!({"query": QUERY, "params": {"call": call(job, n)}}));
    one_phase(request, &[(0..CALLS).map(call).collect()])
}

/// The job's number, which its prompt says.
fn job(request: &Request) -> &str {
    let said = request.texts().find_map(|text| text.split_once("Ask for job-")).map(|(_, after)| after);
    said.and_then(|after| after.split_once('.')).map(|(job, _)| job).expect("the model is shown the prompt")
}
