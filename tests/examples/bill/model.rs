//! The rehearsal model, with the share of each request that a provider's prefix cache would serve.

use axum::{Json, Router, body::Bytes, extract::State, routing::post};
use plumbline_rehearsal::{ChatRequest, answer};
use serde_json::{Value, json};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::TcpListener;

/// Bytes of a token, as the rehearsal model estimates.
const BYTES_A_TOKEN: usize = 4;

/// Providers serve at least so many tokens from their cache, and multiples of [`STEP`].
const LEAST: usize = 1024;
const STEP: usize = 128;

/// The requests so far, as a cache sees them: the tools first, then the messages.
type Known = Arc<Mutex<Vec<String>>>;

/// Starts it on a free port.
pub(crate) async fn start() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let router = Router::new().route("/v1/chat/completions", post(answered)).with_state(Known::default());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn answered(State(known): State<Known>, body: Bytes) -> Json<Value> {
    let request: Value = serde_json::from_slice(&body).expect("a request is JSON");
    let asked: ChatRequest = serde_json::from_slice(&body).expect("a chat-completions request");
    let mut reply = serde_json::to_value(answer(&asked)).expect("an answer is JSON");
    let sent = format!("{}{}", request["tools"], request["messages"]);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let cached = known.iter().map(|before| in_common(before, &sent)).max().unwrap_or(0) / BYTES_A_TOKEN;
    known.push(sent);
    reply["usage"]["prompt_tokens_details"] = json!({"cached_tokens": served(cached)});
    Json(reply)
}

/// Tokens that the cache serves, of those that two requests have in common.
fn served(tokens: usize) -> usize {
    if tokens < LEAST { 0 } else { tokens - tokens % STEP }
}

fn in_common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}
