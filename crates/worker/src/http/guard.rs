//! Who may ask, and how: reading methods only, a token where one is set, and the headers that keep a browser from doing
//! more with a page than showing it.

use super::{HttpOptions, failure};
use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::Arc};

/// The cookie that a browser gets for a token; it holds a digest, not the token.
const COOKIE: &str = "plumbline_session";
/// Probes have no secrets and ask for none.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// On every answer. Styles and scripts come from files of ours only, so text of a job can never become code.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// The conditions for an answer.
#[derive(Clone)]
pub(super) struct Guard {
    /// Digest of the token.
    token: Option<[u8; 32]>,
    /// Bound to loopback: then a page of another site, whose name was pointed at 127.0.0.1, must not be answered.
    local: bool,
}

impl Guard {
    pub(super) fn new(options: &HttpOptions) -> Self {
        Self { token: options.token.as_deref().map(digest), local: options.is_local() }
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer ")).map(|shown| digest(shown.trim()));
        let wanted = cookie_value(token);
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let known =
            |pair: &str| pair.trim().strip_prefix(COOKIE).and_then(|rest| rest.strip_prefix('=')) == Some(&wanted);
        bearer == Some(*token) || cookies.flat_map(|value| value.split(';')).any(known)
    }

    /// Whether the name under which we were asked is one of this machine. Only for addresses that are.
    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST).filter(|_| self.local && self.token.is_none()) else {
            return true;
        };
        let host = host.to_str().unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
    }
}

/// Stands before every route.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = answer(&guard, request, next).await;
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    let uncached = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(uncached);
    response
}

async fn answer(guard: &Guard, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let sentence = "this side of the worker is read-only: use GET";
        let mut response = failure::plain(StatusCode::METHOD_NOT_ALLOWED, sentence, api);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    if !guard.knows_host(request.headers()) {
        let sentence = "this address serves this machine only: open it as localhost or 127.0.0.1";
        return failure::plain(StatusCode::FORBIDDEN, sentence, api);
    }
    if guard.admits(request.headers()) {
        return next.run(request).await;
    }
    if let Some(session) = guard.session(&request) {
        return session;
    }
    let sentence = "a token is needed: send it as `Authorization: Bearer …`, or open this page once with ?token=…";
    let mut response = failure::plain(StatusCode::UNAUTHORIZED, sentence, api);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

impl Guard {
    /// A browser that brought the token in the address gets a cookie for it, and the address without it, so that the
    /// token stays in no history.
    fn session(&self, request: &Request) -> Option<Response> {
        let token = self.token.as_ref()?;
        let pairs: Vec<(String, String)> =
            axum::extract::Query::try_from_uri(request.uri()).ok().map(|query| query.0)?;
        let shown = pairs.iter().find(|(name, _)| name == "token").map(|(_, value)| digest(value))?;
        if shown != *token {
            return None;
        }
        let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict", cookie_value(token));
        let headers = [(header::LOCATION, request.uri().path().to_owned()), (header::SET_COOKIE, cookie)];
        Some((StatusCode::SEE_OTHER, headers, Body::empty()).into_response())
    }
}

/// Digests are compared, not tokens: how long the comparison takes says nothing about the token.
fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn cookie_value(token: &[u8; 32]) -> String {
    let mut hash = Sha256::new();
    hash.update(b"plumbline session ");
    hash.update(token);
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string: it cannot fail");
        hex
    })
}
