//! One HTTP exchange under four time limits and a size limit.

use super::config::Timeouts;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Most bytes of an answer of so many tokens, far beyond any real one: a token has four bytes as a rule, six times as many
/// where each is escaped, and what surrounds it is small. A server cannot fill memory with more.
pub(super) fn most_bytes(max_output_tokens: u32) -> usize {
    const AROUND: usize = 1 << 20;
    const A_TOKEN: usize = 64;
    const MOST: usize = 32 << 20;
    (AROUND + A_TOKEN * max_output_tokens as usize).min(MOST)
}

/// What came back, complete.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The `Retry-After` header as it came.
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Why nothing complete came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// No connection: refused, unreachable, unknown name, TLS; with the reason.
    NoConnection(String),
    /// No connection within the limit.
    ConnectTimeout(Duration),
    /// No headers within the limit.
    FirstByteTimeout(Duration),
    /// The body stalled.
    IdleTimeout(Duration),
    /// The answer began, but the whole call took too long.
    TotalTimeout(Duration),
    /// The connection ended inside the answer; with the reason.
    Cut(String),
    /// The answer is larger than so many bytes (see [`most_bytes`]).
    TooLarge(usize),
}

/// Sends the request and takes the whole answer in, whatever its status.
///
/// Until the headers come there is one limit, so that it is never chance which of two says what was missing.
pub(super) async fn exchange(
    request: reqwest::RequestBuilder,
    limits: Timeouts,
    most: usize,
) -> Result<Answer, Broken> {
    let (ends, first_byte) = (Instant::now() + limits.total, limits.first_byte.min(limits.total));
    let response = timeout(first_byte, request.send())
        .await
        .map_err(|_| Broken::FirstByteTimeout(first_byte))?
        .map_err(|error| not_sent(error, limits))?;
    let status = response.status().as_u16();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_string);
    let body = timeout_at(ends, read_body(response, limits.idle, most)).await;
    Ok(Answer { status, retry_after, body: body.unwrap_or(Err(Broken::TotalTimeout(limits.total)))? })
}

async fn read_body(response: reqwest::Response, idle: Duration, most: usize) -> Result<Vec<u8>, Broken> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = timeout(idle, pieces.next()).await.map_err(|_| Broken::IdleTimeout(idle))? {
        let piece = piece.map_err(|error| Broken::Cut(root_cause(&error)))?;
        if body.len() + piece.len() > most {
            return Err(Broken::TooLarge(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn not_sent(error: reqwest::Error, limits: Timeouts) -> Broken {
    match (error.is_connect(), error.is_timeout()) {
        (true, true) => Broken::ConnectTimeout(limits.connect),
        (true, false) => Broken::NoConnection(root_cause(&error)),
        (false, _) => Broken::Cut(root_cause(&error)),
    }
}

/// The innermost reason: the outer ones only repeat that a request failed, with its address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
