//! A server with the shape of the Query API (`POST /db/{db}/query/v2`, `/tx`, `/tx/{id}`, `/tx/{id}/commit`,
//! `DELETE /tx/{id}`), over recorded answers or over an engine.

use super::bolt::{Answer, Bolt};
use super::engine::free_port;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Between two looks at whether anybody still speaks to a transaction.
const LOOK: Duration = Duration::from_millis(200);

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// `POST /db/neo4j/query/v2`
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// Where a request stands when the server falls silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It arrived, and nothing was done.
    Before,
    /// It was carried out, and its answer does not arrive.
    After,
}

#[derive(Default)]
struct Inner {
    seen: Mutex<Vec<Seen>>,
    recorded: Mutex<VecDeque<(u16, String)>>,
    engine: Option<u16>,
    transactions: Mutex<HashMap<String, Transaction>>,
    opened: AtomicUsize,
    /// The request that is never answered.
    silent_at: Mutex<Option<(usize, Moment)>>,
    fell_silent: watch::Sender<bool>,
    closed: watch::Sender<bool>,
    /// A transaction that nobody speaks to for so long is rolled back; none where nothing is said.
    patience: Mutex<Option<Duration>>,
}

struct Transaction {
    /// None while a statement of it runs.
    bolt: Option<Bolt>,
    used: Instant,
}

/// A running server; ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) uri: String,
    address: SocketAddr,
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

impl Server {
    /// Gives these answers, one a request.
    pub(crate) async fn recorded(answers: &[(u16, &str)]) -> Self {
        let recorded = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        Self::start(Inner { recorded: Mutex::new(recorded), ..Inner::default() }).await
    }

    /// Passes everything on to an engine.
    pub(crate) async fn over(port: u16) -> Self {
        Self::start(Inner { engine: Some(port), ..Inner::default() }).await
    }

    async fn start(inner: Inner) -> Self {
        let inner = Arc::new(inner);
        let (address, task) = serve(SocketAddr::from(([127, 0, 0, 1], free_port())), Arc::clone(&inner)).await;
        Self { uri: format!("http://{address}"), address, inner, task }
    }

    /// Goes away until [`Server::open`]: connections are refused, and those that are open get the answer of a proxy whose
    /// server is gone.
    pub(crate) fn close(&self) {
        self.task.abort();
        self.inner.closed.send_replace(true);
        self.inner.transactions.lock().unwrap().clear();
    }

    /// Comes back at the same address.
    pub(crate) async fn open(&mut self) {
        self.inner.closed.send_replace(false);
        // Its port is free when it has ended, which an aborted task does a moment later.
        let _ = (&mut self.task).await;
        (_, self.task) = serve(self.address, Arc::clone(&self.inner)).await;
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap().clone()
    }

    /// The request that comes `after` so many more, from 0, is not answered; all others are.
    pub(crate) fn fall_silent(&self, after: usize, moment: Moment) {
        self.inner.fell_silent.send_replace(false);
        let at = self.inner.seen.lock().unwrap().len() + 1 + after;
        *self.inner.silent_at.lock().unwrap() = Some((at, moment));
    }

    /// From now on a transaction that nobody speaks to for so long is rolled back; a Neo4j server is as strict, within a
    /// minute.
    pub(crate) fn forgets_after(&self, patience: Duration) {
        *self.inner.patience.lock().unwrap() = Some(patience);
    }

    /// Waits until the request has come that is not answered.
    pub(crate) async fn silence(&self) {
        self.inner.fell_silent.subscribe().wait_for(|silent| *silent).await.unwrap();
    }

    /// Runs a statement in the engine, past the server.
    pub(crate) async fn ask(&self, statement: &str) -> Vec<Value> {
        let port = self.inner.engine.expect("an engine is behind this server");
        Bolt::connect(port).await.unwrap().run(statement, &json!({})).await.unwrap().1
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
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = {
        let mut seen = inner.seen.lock().unwrap();
        seen.push(Seen { line: format!("{method} {uri}"), headers, body: body.clone() });
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
        Some(port) => inner.pass_on(port, &method, uri.path(), &body).await,
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

    /// Takes a transaction's connection, for a statement or for good.
    fn take(&self, id: &str, ends: bool) -> Option<Bolt> {
        let mut transactions = self.transactions.lock().unwrap();
        let transaction = transactions.get_mut(id)?;
        let bolt = transaction.bolt.take();
        if ends {
            transactions.remove(id);
        }
        bolt
    }

    fn put(&self, id: &str, bolt: Bolt) {
        let transaction = Transaction { bolt: Some(bolt), used: Instant::now() };
        self.transactions.lock().unwrap().insert(id.to_owned(), transaction);
    }

    async fn pass_on(self: &Arc<Self>, port: u16, method: &Method, path: &str, body: &Value) -> Response {
        let (_, rest) = path.split_once("/query/v2").unwrap();
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        match parts[..] {
            [] => said(Bolt::connect(port).await.unwrap().run(statement(body), &body["parameters"]).await),
            ["tx"] => self.begin(port, body).await,
            ["tx", id, ref rest @ ..] => match self.take(id, *method == Method::DELETE || !rest.is_empty()) {
                None => said(Err((
                    "Neo.ClientError.Request.Invalid".into(),
                    format!("Transaction with Id: {id} was not found."),
                ))),
                Some(mut bolt) if method == Method::DELETE => {
                    bolt.rollback().await;
                    (StatusCode::OK, "{}").into_response()
                }
                Some(mut bolt) if *rest == ["commit"] => said(bolt.commit().await.map(|()| (json!([]), Vec::new()))),
                Some(mut bolt) => {
                    let answered = bolt.run(statement(body), &body["parameters"]).await;
                    match answered {
                        Ok(_) => self.put(id, bolt),
                        // An error ends the transaction, as it does there.
                        Err(_) => drop(self.take(id, true)),
                    }
                    said(answered)
                }
            },
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    /// Opens a transaction with its first statement, and sees to it that it does not stay open for ever.
    async fn begin(self: &Arc<Self>, port: u16, body: &Value) -> Response {
        let mut bolt = Bolt::connect(port).await.unwrap();
        bolt.begin().await;
        let (fields, values) = match bolt.run(statement(body), &body["parameters"]).await {
            Ok(answer) => answer,
            error => return said(error),
        };
        let id = format!("t{}", self.opened.fetch_add(1, Ordering::SeqCst) + 1);
        self.put(&id, bolt);
        let (inner, watched) = (Arc::clone(self), id.clone());
        // Closing its connection is what rolls it back.
        let is_open = move || {
            let mut transactions = inner.transactions.lock().unwrap();
            let patience = *inner.patience.lock().unwrap();
            let idle = transactions.get(&watched).map(|transaction| transaction.used.elapsed());
            if patience.is_some_and(|patience| idle.is_some_and(|idle| idle >= patience)) {
                transactions.remove(&watched);
            }
            transactions.contains_key(&watched)
        };
        tokio::spawn(async move {
            while is_open() {
                tokio::time::sleep(LOOK).await;
            }
        });
        let body = json!({"data": {"fields": fields, "values": values}, "transaction": {"id": id}});
        (StatusCode::ACCEPTED, body.to_string()).into_response()
    }
}

fn gone() -> Response {
    (StatusCode::BAD_GATEWAY, "<html>Bad Gateway</html>").into_response()
}

fn statement(body: &Value) -> &str {
    body["statement"].as_str().unwrap()
}

fn said(answer: Answer) -> Response {
    match answer {
        Ok((fields, values)) => {
            let body = json!({"data": {"fields": fields, "values": values}, "bookmarks": []});
            (StatusCode::ACCEPTED, body.to_string()).into_response()
        }
        Err((code, message)) => {
            let body = json!({"errors": [{"code": code, "message": message}]});
            (StatusCode::BAD_REQUEST, body.to_string()).into_response()
        }
    }
}
