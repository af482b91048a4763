//! The probes and the metrics.
//!
//! `/healthz` fails if a restart would help: only for stalled loops. `/readyz` tells whether this worker can work now:
//! the database answers and accepts writes, its schema is known, and the worker is not shutting down.

use super::server::Shared;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use std::time::Duration;

/// The worker's state for the probes.
pub trait WorkerHealth: Send + Sync {
    /// Whether all required loops make progress.
    fn is_alive(&self) -> bool;
    /// Whether the worker is shutting down.
    fn is_draining(&self) -> bool;
    /// Whether the claim loop makes progress, or no longer needs to.
    fn turns(&self) -> bool;
    /// Time since the last iteration of the claim loop.
    fn since_tick(&self) -> Duration;
    /// Delay of the event loop.
    fn loop_delay(&self) -> Duration;
    /// Whether the leases are trusted.
    fn leases_are_valid(&self) -> bool;
    /// Whether notifications arrive.
    fn is_listening(&self) -> bool;
    /// Number of incomplete folders.
    fn folders_behind(&self) -> usize;
    /// Errors in configuration files: file, line and reason.
    fn wrong_with_files(&self) -> Option<String>;
    /// Why this worker cannot work, as a sentence without the driver's message.
    fn not_ready_reason(&self) -> Option<String>;
}

/// A database that takes longer than this to answer is not ready.
const ANSWER: Duration = Duration::from_secs(3);

/// `/healthz`.
pub(crate) async fn alive(State(state): Shared) -> Response {
    let health = &state.health;
    let status = if health.is_alive() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let claim_loop = match (health.is_draining(), health.turns()) {
        (true, _) => "draining",
        (false, true) => "turning",
        (false, false) => "standing still",
    };
    let body = json!({
        "alive": health.is_alive(),
        "claim_loop": claim_loop,
        "since_turn_ms": u64::try_from(health.since_tick().as_millis()).unwrap_or(u64::MAX),
        "loop_delay_ms": u64::try_from(health.loop_delay().as_millis()).unwrap_or(u64::MAX),
        "lease_keeper": if health.leases_are_valid() { "holds the leases" } else { "leases lost, reconnecting" },
        "mirror": match health.folders_behind() {
            0 => "shows everything".to_owned(),
            jobs => format!("{jobs} folders are incomplete, see the log; the jobs continue"),
        },
        "listener": if health.is_listening() { "listening" } else { "reconnecting; polling in the meantime" },
    });
    (status, Json(body)).into_response()
}

/// `/readyz`.
pub(crate) async fn ready(State(state): Shared) -> Response {
    let (ready, reason) = match readiness(&state).await {
        Ok(()) => (true, None),
        Err(reason) => (false, Some(reason)),
    };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // The other job types run, so the worker is ready.
    let note = state.health.wrong_with_files();
    (status, Json(json!({"ready": ready, "reason": reason, "note": note}))).into_response()
}

async fn readiness(state: &super::server::AppState) -> Result<(), String> {
    if state.health.is_draining() {
        return Err("the worker is shutting down and claims no more jobs".into());
    }
    if !state.health.is_alive() {
        return Err("the worker's loops are stalled".into());
    }
    match tokio::time::timeout(ANSWER, state.store.check_schema()).await {
        Err(_) => Err(format!("the database did not answer within {} s", ANSWER.as_secs())),
        Ok(Ok(())) => state.health.not_ready_reason().map_or(Ok(()), Err),
        // The driver's message may name hosts and users, and this path needs no token.
        Ok(Err(error @ plumbline_store::Error::Database { .. })) => {
            tracing::debug!(%error, "not ready");
            Err("the database cannot be reached".into())
        }
        Ok(Err(error)) => Err(error.to_string()),
    }
}

/// `/metrics`, in the text format of Prometheus. The queue is recounted if the last count is old.
pub(crate) async fn metrics(State(state): Shared) -> Response {
    if let Err(error) = plumbline_telemetry::queue::refresh(&state.store).await {
        tracing::debug!(%error, "could not count the queue for /metrics");
    }
    match plumbline_telemetry::render_prometheus() {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(reason) => crate::pages::error::plain(StatusCode::INTERNAL_SERVER_ERROR, &reason, true),
    }
}
