//! The traffic of a configuration: one request of each kind to a server that records what it receives.

use crate::clients::{
    graph::{Graphs, JobGraph},
    model::Models,
    web::Services,
};
use axum::response::{IntoResponse, Response};
use axum::{Router, body::Body, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, http::Uri};
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use plumbline_config::{Resolved, Secrets};
use plumbline_engine::{ModelRequest, Purpose, RequestMessage, Settings, TodoListPosition};
use plumbline_llm::Learnt;
use plumbline_tools::graph::{Access, Statement};
use plumbline_tools::web::SearchAccess;
use serde_json::json;
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// All services of a test in one.
pub(super) struct Stub {
    port: u16,
    received: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Stub {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let router = Router::new().fallback(receive).with_state(received.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { port, received, task }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The received requests, in an order that does not depend on their speed.
    fn received(&self) -> String {
        let mut received = self.received.lock().unwrap_or_else(PoisonError::into_inner).clone();
        received.sort();
        received.join("\n")
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn receive(
    State(received): State<Arc<Mutex<Vec<String>>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // Not recorded: whether it arrives before its sender's timeout is a matter of speed.
    if uri.path().starts_with("/stall") {
        std::future::pending::<()>().await;
    }
    if uri.path().starts_with("/halt") {
        let begun = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from_static(b" "))]);
        return Body::from_stream(begun.chain(futures_util::stream::pending())).into_response();
    }
    let secrets = ["authorization", "x-subscription-token"].map(|name| headers.get(name).cloned());
    let line = format!("{uri} {secrets:?} {}", String::from_utf8_lossy(&body));
    received.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    (StatusCode::NOT_FOUND, "{\"error\": {\"message\": \"a stub\"}}").into_response()
}

/// All outgoing traffic under this configuration, and the responses to it.
pub(super) async fn all(stub: &Stub, resolved: &Resolved, settings: &Settings) -> String {
    let secrets = Secrets::default();
    secrets.learn(&resolved.config, |_| true, None);
    let secrets = Arc::new(secrets);
    let (models, services, graphs) =
        (Models::new(secrets.clone()), Services::new(secrets.clone()), Graphs::new(secrets));
    let [strategic, tactical, summary] = [Purpose::Strategic, Purpose::Tactical, Purpose::Summary];
    let asked = tokio::join!(
        ask(&models, resolved, settings, strategic),
        ask(&models, resolved, settings, tactical),
        ask(&models, resolved, settings, summary)
    );
    let services = services.of(&resolved.config.connections);
    let searched = match services.web().search {
        SearchAccess::On(service) => format!("{:?}", service.search("invoices", 3).await),
        SearchAccess::Off => "off".into(),
        SearchAccess::Unusable(reason) => reason.to_owned(),
    };
    let embedded = match services.embedder() {
        Some(embedder) => format!("{:?}", embedder.embed(&["invoices"]).await),
        None => "off".into(),
    };
    let graph = match graphs.of(resolved.config.connections.neo4j.as_ref()) {
        JobGraph::On(client) => {
            let rows = client.run(&Statement::new("RETURN 1", json!({})), Access::Read).await;
            format!("{rows:?}, writes: {}", client.allows_write())
        }
        JobGraph::Off => "off".into(),
        JobGraph::Unusable(reason) => reason.to_string(),
    };
    format!("{asked:?}\n{searched}\n{embedded}\n{graph}\n{}", stub.received())
}

/// The failure's message: the stub has no model.
async fn ask(models: &Models, resolved: &Resolved, settings: &Settings, purpose: Purpose) -> String {
    let model = settings.model_for(purpose);
    let list = || match model.todo_list_position {
        TodoListPosition::Last => RequestMessage::User("todos".into()),
        TodoListPosition::AfterSystem => RequestMessage::System("todos".into()),
    };
    let request = || ModelRequest {
        purpose,
        messages: vec![list()],
        tools: settings.tools.iter().take(usize::from(purpose != Purpose::Summary)).collect(),
        max_output_tokens: model.max_output_tokens,
        attempt: 1,
    };
    let now: fn() -> DateTime<Utc> = || DateTime::UNIX_EPOCH;
    match models.client(&resolved.llm(purpose)) {
        Ok(client) => {
            let answer = client.call(request(), request, now, &Learnt::default()).await;
            answer.map_or_else(|failure| failure.message, |reply| reply.content)
        }
        Err(unusable) => unusable.to_string(),
    }
}
