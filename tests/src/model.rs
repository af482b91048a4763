//! A model server controlled by a test: the rehearsal model behind an endpoint that can be slow, broken or closed.
//!
//! Requests are numbered from 1 in the order of arrival. A test that must act at a known moment makes the server hold a
//! request: while it is held, the worker waits for exactly this answer.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{Method, StatusCode, Uri},
    response::{IntoResponse, Json, Response},
};
use plumbline_rehearsal::{ChatRequest, answer_by_todo, check};
use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::watch,
    time::timeout,
};

use crate::{port, wait::CEILING};

/// How the server answers from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As the rehearsal model.
    Work,
    /// As the rehearsal model, after a delay.
    Slowly(Duration),
    /// With this status and this `Retry-After` in seconds.
    Fail(u16, Option<u64>),
}

#[derive(Clone, Copy, Debug)]
struct Orders {
    answer: Answer,
    /// Requests from this number on wait for a new instruction.
    hold_from: u64,
}

#[derive(Debug)]
struct ServerState {
    orders: watch::Sender<Orders>,
    arrived: watch::Sender<u64>,
    answered: watch::Sender<u64>,
}

/// The server; stopped when dropped.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    server: Arc<ServerState>,
    /// The server runs here: dropping it closes all connections, including kept-alive ones.
    runtime: Option<Runtime>,
}

impl Model {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        let server = ServerState {
            orders: watch::Sender::new(Orders { answer: Answer::Work, hold_from: u64::MAX }),
            arrived: watch::Sender::new(0),
            answered: watch::Sender::new(0),
        };
        let mut model =
            Self { address: (Ipv4Addr::LOCALHOST, port::free()).into(), server: Arc::new(server), runtime: None };
        model.open().await;
        model
    }

    /// The value for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Answers this way from now on, held requests included.
    pub fn answers(&self, answer: Answer) {
        self.server.orders.send_replace(Orders { answer, hold_from: u64::MAX });
    }

    /// Answers the requests before this number this way; holds this one and all later ones until [`Model::answers`]
    /// says how to answer them.
    pub fn answers_before(&self, number: u64, answer: Answer) {
        self.server.orders.send_replace(Orders { answer, hold_from: number });
    }

    /// Holds the request with this number and all later ones until [`Model::answers`] says how to answer them.
    pub fn hold_from(&self, number: u64) {
        self.server.orders.send_modify(|orders| orders.hold_from = number);
    }

    /// Waits until this many requests have arrived.
    ///
    /// # Panics
    /// When they do not arrive.
    pub async fn arrived(&self, number: u64) {
        at_least(&self.server.arrived, number, "arrived").await;
    }

    /// Waits until this many requests have been answered.
    ///
    /// # Panics
    /// When they are not answered.
    pub async fn answered(&self, number: u64) {
        at_least(&self.server.answered, number, "been answered").await;
    }

    /// How many requests have arrived so far.
    pub fn requests(&self) -> u64 {
        *self.server.arrived.borrow()
    }

    /// Closes the endpoint until [`Model::open`]: new connections are refused, and open ones end.
    ///
    /// # Panics
    /// When the thread that ends it panics.
    pub async fn close(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            let gone = plumbline_bounds::blocking::unbounded(move || runtime.shutdown_timeout(CEILING));
            gone.await.expect("a runtime can be ended");
        }
    }

    /// Reopens at the same address.
    ///
    /// # Panics
    /// When the address was taken meanwhile.
    pub async fn open(&mut self) {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread can be started");
        let (address, server) = (self.address, self.server.clone());
        let listening = runtime.spawn(async move { TcpListener::bind(address).await });
        let listener = listening.await.expect("binding does not panic").expect("the model's port on loopback is free");
        let router = Router::new().fallback(route).with_state(server);
        runtime.spawn(async move { axum::serve(listener, router).await });
        self.runtime = Some(runtime);
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn at_least(count: &watch::Sender<u64>, number: u64, what: &str) {
    let mut count = count.subscribe();
    if timeout(CEILING, count.wait_for(|now| *now >= number)).await.is_err() {
        panic!("waited in vain until {number} model requests had {what}; there were {}", *count.borrow());
    }
}

async fn route(State(server): State<Arc<ServerState>>, method: Method, uri: Uri, body: Bytes) -> Response {
    if method == Method::GET && uri.path().ends_with("/models") {
        return Json(json!({"object": "list", "data": [{"id": plumbline_rehearsal::MODEL}]})).into_response();
    }
    let mut number = 0;
    server.arrived.send_modify(|count| {
        *count += 1;
        number = *count;
    });
    let mut orders = server.orders.subscribe();
    let answer = orders.wait_for(|orders| number < orders.hold_from).await.map(|orders| orders.answer);
    let response = match answer.expect("the server outlives its requests") {
        Answer::Work => work(body).await,
        Answer::Slowly(time) => {
            tokio::time::sleep(time).await;
            work(body).await
        }
        Answer::Fail(status, retry_after) => failure(status, retry_after),
    };
    server.answered.send_modify(|count| *count += 1);
    response
}

/// A request that violates the protocol gets a 400, which fails its job: so every test checks the protocol.
async fn work(body: Bytes) -> Response {
    let done = plumbline_bounds::blocking::unbounded(move || {
        let request: ChatRequest = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        check::check(&request)?;
        Ok::<_, String>(answer_by_todo(&request))
    });
    match done.await.expect("the rehearsal model does not panic") {
        Ok(response) => Json(response).into_response(),
        Err(reason) => error(StatusCode::BAD_REQUEST, &reason),
    }
}

fn failure(status: u16, retry_after: Option<u64>) -> Response {
    let status = StatusCode::from_u16(status).expect("tests name real status codes");
    let mut response = error(status, "the test asked for this");
    if let Some(seconds) = retry_after {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": {"message": message, "type": "test", "param": null, "code": null}}))).into_response()
}
