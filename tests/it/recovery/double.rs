//! The skeleton of the test doubles: a server on loopback whose answers a [`Double`] gives.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    ops::Deref,
    sync::Arc,
};
use tokio::{net::TcpListener, task::JoinHandle};

/// A request as it arrived.
pub(super) struct Asked {
    pub(super) path: String,
    headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> String {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    }
}

/// A service that calls arrive at, with what it counts.
pub(super) trait Double: Default + Send + Sync + 'static {
    fn answer(&self, asked: Asked) -> impl Future<Output = Response> + Send;
}

/// A double and its server, which ends with it.
pub(super) struct Served<D> {
    pub(super) address: SocketAddr,
    double: Arc<D>,
    task: JoinHandle<()>,
}

impl<D: Double> Served<D> {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let double = Arc::new(D::default());
        let router = Router::new().fallback(answer::<D>).with_state(double.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, double, task }
    }
}

async fn answer<D: Double>(State(double): State<Arc<D>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    double.answer(Asked { path: uri.path().to_owned(), headers, body }).await
}

impl<D> Deref for Served<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.double
    }
}

impl<D> Drop for Served<D> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
