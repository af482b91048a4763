//! The response on the wire, and how much of it is sent.

use serde_json::{Value, json};
use std::time::Duration;

/// One HTTP response, complete or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// The status.
    pub status: u16,
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// The `Retry-After` header.
    pub retry_after: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is delivered.
    pub delivery: Delivery,
}

/// How much of a response arrives, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// All of it.
    Whole,
    /// The connection ends before the first byte of the response.
    NoHead,
    /// The connection ends after this many bytes of the body; the head declares more.
    CutAfter(usize),
    /// Everything, in this many pieces with a pause between them.
    Dripping {
        /// The number of pieces.
        pieces: usize,
        /// The pause between two.
        pause: Duration,
    },
    /// Nothing, while the connection stays open.
    Never,
}

impl Reaction {
    /// A 200 with this JSON.
    pub(super) fn answer(body: &Value) -> Self {
        Self::json(200, body)
    }

    /// A status with this JSON.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, "application/json", body.to_string().into_bytes())
    }

    /// A status with an HTML page, as sent by proxies.
    pub(super) fn page(status: u16, title: &str) -> Self {
        let page =
            format!("<html>\n<head><title>{title}</title></head>\n<body><h1>{title}</h1><hr>nginx</body>\n</html>\n");
        Self::bytes(status, "text/html", page.into_bytes())
    }

    /// A status with OpenAI's error object.
    pub(super) fn error(status: u16, message: &str, kind: &str, code: &str) -> Self {
        let code = if code.is_empty() { Value::Null } else { json!(code) };
        Self::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
    }

    /// A status with these bytes.
    pub(super) fn bytes(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, retry_after: None, body, delivery: Delivery::Whole }
    }

    /// The same with another delivery.
    pub(super) fn delivered(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    /// The same with a `Retry-After`.
    pub(super) fn retry_after(self, header: &'static str) -> Self {
        Self { retry_after: Some(header), ..self }
    }
}
