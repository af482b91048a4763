//! The model's HTTP side.

use super::{ledger::Ledger, scan, script};
use crate::error::{During, Error};
use axum::{
    Json, Router,
    body::{Body, Bytes, to_bytes},
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use tokio::net::TcpListener;

/// Far above the longest conversation of any figure.
const LARGEST_REQUEST: usize = 256 << 20;

/// The scripted model, as the benchmarks start it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Address and port; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Time before each answer, in milliseconds
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
}

#[derive(Clone)]
struct ServerState {
    delay: Duration,
    ledger: Arc<Ledger>,
}

/// Serves until the process ends. Prints the address on a separate line.
pub(crate) async fn serve(arguments: Arguments) -> Result<(), Error> {
    let server = ServerState { delay: Duration::from_millis(arguments.delay_ms), ledger: Arc::default() };
    let listener = TcpListener::bind(arguments.listen).await.during("listen for the worker")?;
    println!("{}", listener.local_addr()?);
    let router = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/models", get(async || Json(serde_json::json!({"object": "list", "data": [{"id": "bench"}]}))))
        .route("/trace/{tag}", get(trace))
        .with_state(server);
    axum::serve(listener, router).await.during("serve the model")
}

async fn trace(State(server): State<ServerState>, Path(tag): Path<String>) -> Response {
    match server.ledger.trace(&tag) {
        Some(trace) => Json(trace).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn complete(State(server): State<ServerState>, body: Body) -> Response {
    let arrived = SystemTime::now();
    let Ok(body) = to_bytes(body, LARGEST_REQUEST).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let started = Instant::now();
    let Some((tag, answer)) = think(&server.ledger, arrived, &body) else {
        return (StatusCode::BAD_REQUEST, "this is no job of the benchmarks: its prompt holds no order")
            .into_response();
    };
    server.ledger.answered(&tag, started.elapsed());
    if !server.delay.is_zero() {
        tokio::time::sleep_until((started + server.delay).into()).await;
    }
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

/// The job's tag and the answer.
fn think(ledger: &Ledger, arrived: SystemTime, body: &Bytes) -> Option<(String, Vec<u8>)> {
    let facts = scan::facts(body)?;
    ledger.arrived(&facts, arrived, body);
    let answer = script::answer(&facts, body.len());
    Some((facts.order.tag, answer))
}
