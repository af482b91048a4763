//! A server with the shape of the Query API (`POST /db/{db}/query/v2`, `/tx`, `/tx/{id}`, `/tx/{id}/commit`,
//! `DELETE /tx/{id}`), over recorded answers or over an engine.

use crate::bolt::{Answer, Bolt};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use plumbline_effects::graph::{GraphClient, GraphConfig};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::Mutex;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// `POST /db/neo4j/query/v2`
    pub(crate) line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

#[derive(Default)]
struct Inner {
    seen: Vec<Seen>,
    recorded: VecDeque<(u16, String)>,
    engine: Option<u16>,
    transactions: HashMap<String, Bolt>,
    opened: usize,
}

/// A running server; ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) uri: String,
    inner: Arc<Mutex<Inner>>,
}

impl Server {
    /// Gives these answers, one a request.
    pub(crate) async fn recorded(answers: &[(u16, &str)]) -> Self {
        let recorded = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        Self::start(Inner { recorded, ..Inner::default() }).await
    }

    /// Passes everything on to an engine.
    pub(crate) async fn over(port: u16) -> Self {
        Self::start(Inner { engine: Some(port), ..Inner::default() }).await
    }

    async fn start(inner: Inner) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Mutex::new(inner));
        let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&inner));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { uri, inner }
    }

    pub(crate) fn client(&self) -> GraphClient {
        GraphClient::new(GraphConfig::new(self.uri.clone())).unwrap()
    }

    pub(crate) async fn seen(&self) -> Vec<Seen> {
        self.inner.lock().await.seen.clone()
    }
}

async fn answer(
    State(inner): State<Arc<Mutex<Inner>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut inner = inner.lock().await;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    inner.seen.push(Seen { line: format!("{method} {uri}"), headers, body: body.clone() });
    if let Some(port) = inner.engine {
        return inner.pass_on(port, &method, uri.path(), &body).await;
    }
    let (status, text) = inner.recorded.pop_front().expect("the test recorded an answer for each request");
    (StatusCode::from_u16(status).unwrap(), [("neo4j-cluster-affinity", "member-2")], text).into_response()
}

impl Inner {
    async fn pass_on(&mut self, port: u16, method: &Method, path: &str, body: &Value) -> Response {
        let (_, rest) = path.split_once("/query/v2").unwrap();
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        match parts[..] {
            [] => said(Bolt::connect(port).await.unwrap().run(statement(body), &body["parameters"]).await),
            ["tx"] => {
                let mut bolt = Bolt::connect(port).await.unwrap();
                bolt.begin().await;
                self.opened += 1;
                let id = format!("t{}", self.opened);
                self.transactions.insert(id.clone(), bolt);
                (StatusCode::ACCEPTED, json!({"transaction": {"id": id}}).to_string()).into_response()
            }
            ["tx", id] if method == Method::DELETE => {
                match self.transactions.remove(id) {
                    Some(mut bolt) => bolt.rollback().await,
                    None => return said(Err(("Neo.ClientError.Transaction.TransactionNotFound".into(), id.into()))),
                }
                (StatusCode::OK, "{}").into_response()
            }
            ["tx", id] => {
                let answered = self.transactions.get_mut(id).unwrap().run(statement(body), &body["parameters"]).await;
                if answered.is_err() {
                    // An error ends the transaction, as it does there.
                    self.transactions.remove(id);
                }
                said(answered)
            }
            ["tx", id, "commit"] => {
                let committed = self.transactions.remove(id).unwrap().commit().await;
                said(committed.map(|()| (json!([]), Vec::new())))
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
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
