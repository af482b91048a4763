//! A tool over HTTP that counts its requests: the test double for `connections.http_tools`.

use super::{
    double::{Asked, Double, Served},
    scene::over,
};
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// A call as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// `/pay`.
    pub(super) path: String,
    pub(super) key: String,
    pub(super) traceparent: String,
    pub(super) authorization: String,
    pub(super) arguments: Value,
}

#[derive(Default)]
pub(super) struct CountingTool {
    arrived: Mutex<Vec<Arrived>>,
}

impl Served<CountingTool> {
    /// An entry of `connections.http_tools` that leads here.
    pub(super) fn entry(&self, path: &str, more: &Value) -> Value {
        let entry = json!({
            "description": "Pay an amount.", "url": format!("http://{}/{path}", self.address), "allow_private": true,
            "parameters": {
                "type": "object", "required": ["amount"], "additionalProperties": false,
                "properties": {"amount": {"type": "integer"}}
            },
        });
        over(entry, more)
    }
}

impl CountingTool {
    pub(super) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The amounts that were paid, in the order of their arrival.
    pub(super) fn amounts(&self) -> Vec<i64> {
        self.arrived().iter().filter_map(|call| call.arguments["amount"].as_i64()).collect()
    }
}

impl Double for CountingTool {
    async fn answer(&self, asked: Asked) -> Response {
        let arguments: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let response = match asked.path.as_str() {
            "/broken" => (StatusCode::UNPROCESSABLE_ENTITY, "this amount is not taken").into_response(),
            _ => json!({"paid": arguments["amount"]}).to_string().into_response(),
        };
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(Arrived {
            key: asked.header("idempotency-key"),
            traceparent: asked.header("traceparent"),
            authorization: asked.header("authorization"),
            path: asked.path,
            arguments,
        });
        response
    }
}
