//! An entry of `connections.http_tools`, with its defaults filled in.

use crate::web::is_public;
use plumbline_engine::{Phases, Replay};
use reqwest::Url;
use reqwest::header::HeaderName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// How the arguments are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// As the query.
    Get,
    /// As a JSON body.
    Post,
}

impl HttpMethod {
    /// As HTTP has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A tool of an operator's own.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpTool {
    /// Its name, `http_NAME`.
    pub name: String,
    /// What the model reads of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// How the arguments are sent.
    pub method: HttpMethod,
    /// Where to.
    pub url: String,
    /// Names of the variables that hold the values of headers, by the headers' names.
    pub headers_env: BTreeMap<String, String>,
    /// Where it is bound.
    pub phases: Phases,
    /// Whether a call may be sent again.
    pub replay: Replay,
    /// From the beginning of a request to the last byte of its answer.
    pub timeout: Duration,
    /// Most bytes of an answer that are read.
    pub max_result_bytes: usize,
    /// Whether the address may be one outside the public internet.
    pub allow_private: bool,
}

/// The address, where it is written as a number that is not on the public internet: no resolver ever sees it.
pub fn literal_private_address(url: &str) -> Option<IpAddr> {
    let url = Url::parse(url).ok()?;
    let literal: IpAddr = url.host_str()?.trim_matches(['[', ']']).parse().ok()?;
    (!is_public(literal)).then_some(literal)
}

/// Headers that are not an operator's to set.
const OWN_HEADERS: [&str; 8] = [
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "accept",
    "idempotency-key",
    "traceparent",
];

/// Whether an entry may name this header.
pub fn may_be_sent(header: &str) -> bool {
    HeaderName::from_bytes(header.as_bytes()).is_ok_and(|header| !OWN_HEADERS.contains(&header.as_str()))
}
