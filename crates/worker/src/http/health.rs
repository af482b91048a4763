//! The probes and the metrics.
//!
//! `/healthz` asks whether a restart would help: only loops that stand still count. `/readyz` asks whether this worker
//! can work now: the database answers and takes what is written, its schema is known, and the worker is not on its way
//! out.

use super::server::Shared;
use crate::telemetry;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use std::time::Duration;

/// A database that takes longer than this to answer is not ready.
const ANSWER: Duration = Duration::from_secs(3);

/// `/healthz`.
pub(super) async fn alive(State(site): Shared) -> Response {
    let vitals = &site.vitals;
    let status = if vitals.is_alive() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let claim_loop = match (vitals.is_draining(), vitals.turns()) {
        (true, _) => "draining",
        (false, true) => "turning",
        (false, false) => "standing still",
    };
    let body = json!({
        "alive": vitals.is_alive(),
        "claim_loop": claim_loop,
        "since_turn_ms": u64::try_from(vitals.since_turn().as_millis()).unwrap_or(u64::MAX),
        "loop_delay_ms": u64::try_from(vitals.pulse.delay().as_millis()).unwrap_or(u64::MAX),
        "lease_keeper": if vitals.keeper_holds() { "holds the leases" } else { "leases lost, reconnecting" },
        "mirror": match vitals.behind.count() {
            0 => "shows everything".to_owned(),
            jobs => format!("{jobs} folders do not show everything, see the log; the jobs go on"),
        },
        "listener": if vitals.is_listening() { "listening" } else { "reconnecting, polling meanwhile" },
    });
    (status, Json(body)).into_response()
}

/// `/readyz`.
pub(super) async fn ready(State(site): Shared) -> Response {
    let (ready, reason) = match readiness(&site).await {
        Ok(()) => (true, None),
        Err(reason) => (false, Some(reason)),
    };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": ready, "reason": reason}))).into_response()
}

async fn readiness(site: &super::server::Site) -> Result<(), String> {
    if site.vitals.is_draining() {
        return Err("the worker is shutting down and claims no more jobs".into());
    }
    match tokio::time::timeout(ANSWER, site.store.check_schema()).await {
        Err(_) => Err(format!("the database did not answer within {} s", ANSWER.as_secs())),
        Ok(Ok(())) => site.vitals.trouble().map_or(Ok(()), Err),
        // The driver's words may name hosts and users, and nobody has to show a token here.
        Ok(Err(error @ plumbline_store::Error::Database { .. })) => {
            tracing::debug!(%error, "not ready");
            Err("the database cannot be reached".into())
        }
        Ok(Err(error)) => Err(error.to_string()),
    }
}

/// `/metrics`, in the text format of Prometheus. The queue is counted anew when the last count is old.
pub(super) async fn metrics(State(site): Shared) -> Response {
    if let Err(error) = telemetry::queue::refresh(&site.store).await {
        tracing::debug!(%error, "the queue could not be counted for the metrics");
    }
    match telemetry::render_prometheus() {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(reason) => super::failure::plain(StatusCode::INTERNAL_SERVER_ERROR, &reason, true),
    }
}
