//! An entry of `connections.http_tools`, with its defaults filled in.

use crate::web::is_public;
use plumbline_engine::{HttpMethod, Phases, Replay};
use reqwest::Url;
use reqwest::header::HeaderName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// A tool configured by the operator.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpTool {
    /// Its name, `http_NAME`.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// How the arguments are sent.
    pub method: HttpMethod,
    /// The address.
    pub url: String,
    /// The environment variables with the values of headers, by header name.
    pub headers_env: BTreeMap<String, String>,
    /// The phases in which it is bound.
    pub phases: Phases,
    /// Whether a call may be sent again.
    pub replay: Replay,
    /// The timeout, from the beginning of a request to the last byte of its response.
    pub timeout: Duration,
    /// Maximum bytes of a response.
    pub max_result_bytes: usize,
    /// Whether the address may be outside the public internet.
    pub allow_private: bool,
}

/// The address, if it is a literal IP address outside the public internet: no resolver ever sees it.
pub fn literal_private_address(url: &str) -> Option<IpAddr> {
    let url = Url::parse(url).ok()?;
    let literal: IpAddr = url.host_str()?.trim_matches(['[', ']']).parse().ok()?;
    (!is_public(literal)).then_some(literal)
}

/// Headers that an operator may not set.
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

/// Whether an entry may set this header.
pub fn may_be_sent(header: &str) -> bool {
    HeaderName::from_bytes(header.as_bytes()).is_ok_and(|header| !OWN_HEADERS.contains(&header.as_str()))
}
