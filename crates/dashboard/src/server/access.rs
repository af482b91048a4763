//! Access control: only reading methods, a token if one is set, and headers that restrict what a browser may do with a
//! page.

use super::session;
use crate::{HttpOptions, pages::error};
use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// Probes contain no secrets and need no token.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// On every response. Styles and scripts may come only from our own files, so text of a job can never become code.
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

/// The conditions for access.
#[derive(Clone)]
pub(crate) struct Access {
    /// Digest of the token.
    token: Option<[u8; 32]>,
    /// Permitted host names of this worker, besides the standard ones.
    hosts: Vec<String>,
}

/// The credentials of a request.
enum Shown {
    /// A valid token, or none is required; another site's page cannot make a browser send it.
    Token,
    /// A browser's session.
    Session,
    /// The token in the URL, which opens a session.
    Address,
    Nothing,
}

impl Access {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self { token: options.token.as_deref().map(session::digest), hosts: options.hosts.clone() }
    }

    fn shown(&self, request: &Request) -> Shown {
        let headers = request.headers();
        let Some(token) = &self.token else { return Shown::Session };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
        let bearer = bearer.map(|(_, token)| session::digest(token.trim()));
        if bearer == Some(*token) {
            return Shown::Token;
        }
        if session::is_open(token, headers) {
            return Shown::Session;
        }
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        let pairs = query.map(|query| query.0).unwrap_or_default();
        match pairs.iter().any(|(name, value)| name == "token" && session::digest(value) == *token) {
            true => Shown::Address,
            false => Shown::Nothing,
        }
    }

    /// Whether the host name is ours. Another site can point its name at this machine (DNS rebinding); a browser would
    /// then give that site's page access to the response.
    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST) else {
            return true;
        };
        let host = host.to_str().unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let known = |known: &String| name.eq_ignore_ascii_case(known);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<std::net::IpAddr>().is_ok()
            || self.hosts.iter().any(known)
    }
}

/// Runs before every route.
pub(crate) async fn check(State(guard): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let mut response = answer(&guard, request, next).await;
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    let uncached = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(uncached);
    response
}

async fn answer(guard: &Access, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let sentence = "the worker's HTTP server is read-only: use GET";
        let mut response = error::plain(StatusCode::METHOD_NOT_ALLOWED, sentence, api);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let shown = guard.shown(&request);
    if matches!(shown, Shown::Session | Shown::Address) && !guard.knows_host(request.headers()) {
        let sentence = "the host name is not allowed: open the dashboard as localhost or by IP address, or add the name to \
                        PLUMBLINE_HTTP_HOSTS";
        return error::plain(StatusCode::FORBIDDEN, sentence, api);
    }
    match (shown, &guard.token) {
        (Shown::Token | Shown::Session, _) => next.run(request).await,
        (Shown::Address, Some(token)) => enter(token, &request),
        _ => {
            let sentence = "authentication is required: send the token as `Authorization: Bearer …`, or open this page once with ?token=…";
            let mut response = error::plain(StatusCode::UNAUTHORIZED, sentence, api);
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        }
    }
}

/// A browser with the token in the URL gets a session and a redirect to the URL without it, so that the token stays in
/// no history.
fn enter(token: &[u8; 32], request: &Request) -> Response {
    // Two slashes would begin the name of another host; a browser treats a backslash as a slash.
    let path = format!("/{}", request.uri().path().trim_start_matches(['/', '\\']));
    let headers = [(header::LOCATION, path), (header::SET_COOKIE, session::open(token, request.headers()))];
    (StatusCode::SEE_OTHER, headers, Body::empty()).into_response()
}
