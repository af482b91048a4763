//! One request to the server and its answer, decoded.

use super::error::GraphError;
use super::statement::Rows;
use plumbline_llm::{body_within, values_in};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::time::Duration;

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Maximum values in it: each takes a hundred bytes of memory, regardless of its size on the wire.
const MAX_VALUES: usize = 200_000;

/// A successful answer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Answer {
    #[serde(default)]
    data: Data,
    transaction: Option<Opened>,
    /// The answer to EXPLAIN.
    #[serde(rename = "queryPlan")]
    pub(super) query_plan: Option<Box<RawValue>>,
    #[serde(default)]
    errors: Vec<ServerError>,
}

/// The transaction of an answer.
#[derive(Debug, Deserialize)]
pub(super) struct Opened {
    pub(super) id: String,
}

#[derive(Debug, Default, Deserialize)]
struct Data {
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    values: Vec<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
struct ServerError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

impl Answer {
    pub(super) fn into_rows(self) -> Rows {
        self.into_parts().0
    }

    pub(super) fn into_parts(self) -> (Rows, Option<Opened>) {
        (Rows { fields: self.data.fields, values: self.data.values }, self.transaction)
    }
}

/// An answer that has arrived.
pub(super) struct Reply {
    status: u16,
    body: Vec<u8>,
    /// The header that binds a transaction to one member of a cluster.
    pub(super) affinity: Option<String>,
}

/// Sends a request and reads its answer.
pub(super) async fn exchange(
    request: reqwest::RequestBuilder,
    place: &str,
    limit: Duration,
) -> Result<Reply, GraphError> {
    let answered = tokio::time::timeout(limit, async {
        let response = request.send().await.map_err(|error| unreachable(&error, place))?;
        let affinity = response.headers().get(AFFINITY).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let status = response.status().as_u16();
        let body = body_within(response, MAX_ANSWER_BYTES).await.map_err(|error| unreachable(&error, place))?;
        let body = body.ok_or_else(|| too_large(format_args!("{} MB", MAX_ANSWER_BYTES >> 20)))?;
        if values_in(&body) > MAX_VALUES {
            return Err(too_large(format_args!("{MAX_VALUES} values")));
        }
        Ok(Reply { status, body, affinity })
    });
    answered.await.unwrap_or_else(|_| Err(GraphError::TimedOut { place: place.to_string(), limit_s: limit.as_secs() }))
}

fn too_large(limit: std::fmt::Arguments<'_>) -> GraphError {
    GraphError::TooLarge { limit: limit.to_string() }
}

/// Set by a cluster when a transaction opens, to be sent back with each of its requests.
pub(super) const AFFINITY: &str = "neo4j-cluster-affinity";

impl Reply {
    /// Whether it is a success without a body, as the answer to a rollback may be.
    pub(super) fn is_bare_success(&self) -> bool {
        self.is_success() && self.body.is_empty()
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Errors are in the body with any status, and a status alone says little: the body is decoded first.
    pub(super) fn decode(&self, place: &str) -> Result<Answer, GraphError> {
        let status = self.status;
        let malformed = |what| GraphError::Malformed { place: place.to_string(), what };
        let answer: Answer = match serde_json::from_slice(&self.body) {
            Ok(answer) => answer,
            Err(error) if self.is_success() && error.is_eof() => {
                let reason = "the connection closed in the middle of its answer".to_string();
                return Err(GraphError::Unreachable { place: place.to_string(), reason });
            }
            Err(_) if matches!(status, 401 | 403) => {
                let message = format!("HTTP {status}");
                return Err(GraphError::Unauthorized { place: place.to_string(), message });
            }
            Err(_) if is_away(status) => return Err(away(status, place)),
            Err(_) => return Err(malformed(format!("HTTP {status}"))),
        };
        if let Some(error) = answer.errors.first() {
            return Err(GraphError::of_code(&error.code, &error.message, place));
        }
        if is_away(status) {
            return Err(away(status, place));
        }
        if !self.is_success() {
            return Err(malformed(format!("HTTP {status} without an error")));
        }
        Ok(answer)
    }
}

/// Statuses of a proxy in front of the server while the server is down.
fn is_away(status: u16) -> bool {
    matches!(status, 429 | 502..=504)
}

fn away(status: u16, place: &str) -> GraphError {
    GraphError::Unreachable { place: place.to_string(), reason: format!("HTTP {status}") }
}

/// The innermost cause says what happened; the outer ones repeat the address.
fn unreachable(error: &reqwest::Error, place: &str) -> GraphError {
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    GraphError::Unreachable { place: place.to_string(), reason: reason.to_string() }
}
