//! One HTTP exchange under four time limits and a size limit.

pub(crate) mod body;
pub(crate) mod budget;
mod sse;
pub(crate) mod stated_limits;
pub mod tls;

use crate::Api;
use crate::config::Timeouts;
use crate::dialect::{Assembly, Begun, NoAnswer, mended};
pub(crate) use budget::Budget;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use reqwest::header::HeaderMap;
use serde::de::IgnoredAny;
use sse::Read;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// A complete response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body; of a stream, the equivalent body without streaming, or why there is none.
    pub(crate) body: Result<Vec<u8>, NoAnswer>,
    /// For a stream, whether it ended with its end mark, not only by closing.
    pub(crate) has_own_end: Option<bool>,
    /// Its paid output although it is not an answer.
    pub(crate) begun: Begun,
}

impl Answer {
    /// A header's text, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// No complete response.
#[derive(Debug)]
pub(crate) struct Unanswered {
    pub(crate) broken: Broken,
    /// The output after a success status; none without such a status.
    pub(crate) begun: Option<Begun>,
}

impl From<Broken> for Unanswered {
    fn from(broken: Broken) -> Self {
        Self { broken, begun: None }
    }
}

/// Why there is no complete response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the exchange broke off")]
pub(crate) enum Broken {
    /// No connection: refused, unreachable, unknown name, TLS; with the reason.
    NoConnection(String),
    /// No connection within the timeout.
    ConnectTimeout(Duration),
    /// No headers within the timeout.
    FirstByteTimeout(Duration),
    /// The body stalled.
    IdleTimeout(Duration),
    /// The response began, but the whole call took too long.
    TotalTimeout(Duration),
    /// The connection ended within the response; with the reason.
    Cut(String),
    /// The response is larger than this many bytes (see [`Budget`]).
    TooLarge(usize),
    /// The stream has more than this many events.
    TooMany(usize),
}

/// Sends the request and reads the whole response, with any status.
///
/// Only one timeout applies until the headers, so that the reported cause is deterministic.
pub(crate) async fn exchange(
    request: reqwest::RequestBuilder,
    api: Api,
    limits: Timeouts,
    budget: Budget,
) -> Result<Answer, Unanswered> {
    let (ends, first_byte) = (Instant::now() + limits.total, limits.first_byte.min(limits.total));
    let response = timeout(first_byte, request.send())
        .await
        .map_err(|_| Broken::FirstByteTimeout(first_byte))?
        .map_err(|error| not_sent(error, limits))?;
    let status = response.status();
    let headers = response.headers().clone();
    let pieces = pieces(response, limits.idle);
    let read = async {
        match status.is_success() {
            true => read_answer(pieces, api, budget).await,
            false => Ok(read_all(pieces, Vec::new(), budget).await.map(in_one_piece)?),
        }
    };
    let too_late = || after_headers(Broken::TotalTimeout(limits.total));
    let Read { body, has_own_end, begun } = timeout_at(ends, read).await.unwrap_or_else(|_| Err(too_late()))?;
    Ok(Answer { status: status.as_u16(), headers, body, has_own_end, begun })
}

fn in_one_piece(mut body: Vec<u8>) -> Read {
    let mark = body.len() - without_mark(&body).len();
    body.drain(..mark);
    let is_cut = body.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(&body).is_err();
    let begun = Begun { usage: None, bytes: if is_cut { body.len() } else { 0 } };
    Read { body: Ok(body), has_own_end: None, begun }
}

/// The pieces of a body as they arrive. Any data resets the idle timeout, including comments.
fn pieces(response: reqwest::Response, idle: Duration) -> impl Stream<Item = Result<Bytes, Broken>> {
    stream::unfold(response.bytes_stream().boxed(), move |mut pieces| async move {
        let piece = match timeout(idle, pieces.next()).await {
            Ok(piece) => piece?.map_err(|error| Broken::Cut(root_cause(&error))),
            Err(_) => Err(Broken::IdleTimeout(idle)),
        };
        Some((piece, pieces))
    })
}

/// Reads an event stream or a complete body, distinguished by the first word. Some servers answer a streaming
/// request with a complete body, some gateways the other way round, and not all declare it in their headers.
async fn read_answer(
    pieces: impl Stream<Item = Result<Bytes, Broken>>,
    api: Api,
    budget: Budget,
) -> Result<Read, Unanswered> {
    let mut pieces = pin!(pieces);
    let mut begun = Vec::new();
    let is_stream = loop {
        if let Some(is_stream) = begins_an_event(&begun) {
            break is_stream;
        }
        match pieces.next().await {
            Some(piece) => begun.extend_from_slice(&piece.map_err(after_headers)?),
            None if without_mark(&begun).trim_ascii().is_empty() => return Ok(in_one_piece(begun)),
            None => return sse::read(stream::iter([Ok(Bytes::from(begun))]), Assembly::new(api), budget).await,
        }
        if begun.len() > budget.kept {
            return Err(Broken::TooLarge(budget.kept).into());
        }
    };
    if is_stream {
        let all = stream::iter([Ok(Bytes::from(begun))]).chain(pieces);
        return sse::read(all, Assembly::new(api), budget).await;
    }
    Ok(in_one_piece(read_all(pieces, begun, budget).await.map_err(after_headers)?))
}

/// The status was a success.
fn after_headers(broken: Broken) -> Unanswered {
    Unanswered { broken, begun: Some(Begun::default()) }
}

/// A body without the UTF-8 byte order mark that some servers put before it; of a mark that is not complete yet,
/// nothing.
fn without_mark(body: &[u8]) -> &[u8] {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if MARK.starts_with(body) { &[] } else { body.strip_prefix(MARK).unwrap_or(body) }
}

/// Whether a body begins with a field of an event or a comment; none while it may become one.
fn begins_an_event(body: &[u8]) -> Option<bool> {
    const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let text = without_mark(body).trim_ascii_start();
    let is_one = FIELDS.iter().any(|field| text.starts_with(field));
    let may_become_one = FIELDS.iter().any(|field| field.starts_with(text));
    if is_one || !may_become_one { Some(is_one) } else { None }
}

async fn read_all(
    pieces: impl Stream<Item = Result<Bytes, Broken>>,
    begun: Vec<u8>,
    budget: Budget,
) -> Result<Vec<u8>, Broken> {
    let (mut pieces, mut body) = (pin!(pieces), begun);
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if body.len() + piece.len() > budget.kept {
            return Err(Broken::TooLarge(budget.kept));
        }
        body.extend_from_slice(&piece);
    }
    match budget.takes(&body) {
        true => Ok(mended(body)),
        false => Err(Broken::TooLarge(budget.kept)),
    }
}

fn not_sent(error: reqwest::Error, limits: Timeouts) -> Broken {
    match (error.is_connect(), error.is_timeout()) {
        (true, true) => Broken::ConnectTimeout(limits.connect),
        (true, false) => Broken::NoConnection(root_cause(&error)),
        (false, _) => Broken::Cut(root_cause(&error)),
    }
}

/// The innermost error: the outer ones only repeat that a request failed, with its address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
