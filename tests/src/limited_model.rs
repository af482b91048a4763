//! The rehearsal model behind a rate limit, counted over a sliding window as providers do; it records what arrives.

use crate::wait::LOOK;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Json, Response},
};
use plumbline_rehearsal::{ChatRequest, answer_by_todo};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{net::TcpListener, task::JoinHandle};

/// Its limits.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Tokens per minute.
    pub tokens_per_minute: f64,
    /// Requests per minute.
    pub requests_per_minute: f64,
    /// The length of the window; its limits are the corresponding share of a minute's.
    pub window: Duration,
    /// Whether its answers state the limits in headers.
    pub is_stated: bool,
    /// How long an answer takes.
    pub thinks: Duration,
    /// How many requests must be in flight at once before any is answered.
    pub company: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            tokens_per_minute: f64::INFINITY,
            requests_per_minute: f64::INFINITY,
            window: Duration::from_secs(10),
            is_stated: false,
            thinks: Duration::from_millis(30),
            company: 1,
        }
    }
}

/// The requests so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that were refused, and when.
    pub refused: Vec<Instant>,
    /// When the answered requests arrived.
    pub arrivals: Vec<Instant>,
    /// Maximum number in flight at once.
    pub most_at_once: u64,
}

impl Seen {
    /// Maximum number of requests within a span.
    pub fn most_within(&self, span: Duration) -> usize {
        let within = |from: &Instant| self.arrivals.iter().filter(|at| *at >= from && **at < *from + span).count();
        self.arrivals.iter().map(within).max().unwrap_or(0)
    }
}

#[derive(Debug)]
struct ServerState {
    allowance: Allowance,
    /// Within the window: when, and how many tokens.
    used: VecDeque<(Instant, f64)>,
    seen: Seen,
    under_way: u64,
}

/// The server; stopped when dropped.
#[derive(Debug)]
pub struct LimitedModel {
    address: SocketAddr,
    state: Arc<Mutex<ServerState>>,
    task: JoinHandle<()>,
}

impl LimitedModel {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start(allowance: Allowance) -> Self {
        let state = ServerState { allowance, used: VecDeque::new(), seen: Seen::default(), under_way: 0 };
        let state = Arc::new(Mutex::new(state));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let router = Router::new().fallback(route).with_state(state.clone());
        let task = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, state, task }
    }

    /// `llm.base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Seen {
        lock(&self.state).seen.clone()
    }

    /// Changes the limits from now on.
    pub fn allows(&self, change: impl FnOnce(&mut Allowance)) {
        change(&mut lock(&self.state).allowance);
    }
}

impl Drop for LimitedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(state: &Mutex<ServerState>) -> std::sync::MutexGuard<'_, ServerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServerState {
    fn has_company(&self) -> bool {
        self.seen.most_at_once >= self.allowance.company
    }

    /// Admits a request with this number of tokens, or returns how long to wait until there is room.
    fn admit(&mut self, tokens: f64, now: Instant) -> Result<(), Duration> {
        let Allowance { tokens_per_minute, requests_per_minute, window, .. } = self.allowance;
        while self.used.front().is_some_and(|(at, _)| now - *at >= window) {
            self.used.pop_front();
        }
        let share = window.as_secs_f64() / 60.0;
        let (most_tokens, most_requests) = (tokens_per_minute * share, requests_per_minute * share);
        let (mut sum, mut count) = (self.used.iter().map(|(_, tokens)| tokens).sum::<f64>(), self.used.len() as f64);
        if sum + tokens <= most_tokens && count < most_requests {
            self.used.push_back((now, tokens));
            self.seen.answered += 1;
            self.seen.arrivals.push(now);
            return Ok(());
        }
        self.seen.refused.push(now);
        for (at, of_one) in &self.used {
            (sum, count) = (sum - of_one, count - 1.0);
            if sum + tokens <= most_tokens && count < most_requests {
                return Err(*at + window - now);
            }
        }
        Err(window)
    }
}

/// Counts the request as in flight until dropped, however it ends.
struct UnderWay(Arc<Mutex<ServerState>>);

impl UnderWay {
    fn begin(state: &Arc<Mutex<ServerState>>) -> Self {
        let mut now = lock(state);
        now.under_way += 1;
        now.seen.most_at_once = now.seen.most_at_once.max(now.under_way);
        Self(state.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        lock(&self.0).under_way -= 1;
    }
}

async fn route(State(state): State<Arc<Mutex<ServerState>>>, body: Bytes) -> Response {
    let under_way = UnderWay::begin(&state);
    let answered = plumbline_bounds::blocking::unbounded(move || {
        let request: ChatRequest = serde_json::from_slice(&body).expect("workers send requests that can be read");
        serde_json::to_value(answer_by_todo(&request)).expect("an answer can be written")
    });
    let answered = answered.await.expect("the rehearsal model does not panic");
    let tokens = |key: &str| answered["usage"][key].as_f64().unwrap_or(0.0);
    let admitted = lock(&state).admit(tokens("prompt_tokens") + tokens("completion_tokens"), Instant::now());
    let allowance = lock(&state).allowance;
    let mut response = match admitted {
        Ok(()) => {
            tokio::time::sleep(allowance.thinks).await;
            while !lock(&state).has_company() {
                tokio::time::sleep(LOOK).await;
            }
            Json(answered).into_response()
        }
        Err(wait) => refusal(wait),
    };
    drop(under_way);
    if allowance.is_stated {
        let headers = response.headers_mut();
        headers.insert("x-ratelimit-limit-tokens", (allowance.tokens_per_minute as u64).into());
    }
    response
}

fn refusal(wait: Duration) -> Response {
    let error: Value =
        json!({"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}});
    let mut response = (StatusCode::TOO_MANY_REQUESTS, Json(error)).into_response();
    response.headers_mut().insert("retry-after", (wait.as_secs_f64().ceil() as u64).into());
    response
}
