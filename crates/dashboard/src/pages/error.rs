//! Error responses: one sentence, as JSON under `/api/`, as a page elsewhere.

use axum::{
    Json,
    extract::{Query, Request},
    http::{HeaderValue, StatusCode, Uri, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use minijinja::HtmlEscape;
use plumbline_store::Error;
use serde_json::json;
use std::collections::HashSet;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct PageError {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

impl PageError {
    pub(crate) fn not_found(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, sentence: sentence.into() }
    }

    pub(crate) fn bad(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, sentence: sentence.into() }
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        tracing::warn!(%error, "could not read a page from the database");
        let status =
            if error.is_transient() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
        // The driver's message may name hosts and users; it is only in the log.
        let sentence = "the database did not answer; see the worker's log, and try again in a moment";
        Self { status, sentence: sentence.into() }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        plain(self.status, &self.sentence, false)
    }
}

/// An error as JSON.
#[derive(Debug)]
pub(crate) struct ApiError(PageError);

impl<E: Into<PageError>> From<E> for ApiError {
    fn from(failure: E) -> Self {
        Self(failure.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        plain(self.0.status, &self.0.sentence, true)
    }
}

/// A response of one sentence.
pub(crate) fn plain(status: StatusCode, sentence: &str, api: bool) -> Response {
    let mut response = if api {
        (status, Json(json!({"error": sentence}))).into_response()
    } else {
        (status, Html(message_page(status, sentence))).into_response()
    };
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// Answers in the usual form where a handler's path or parameters could not be read, which axum answers as plain text.
pub(crate) async fn in_usual_form(request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    if let Some(sentence) = bad_parameters(request.uri()) {
        return plain(StatusCode::BAD_REQUEST, &sentence, api);
    }
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if response.status() != StatusCode::BAD_REQUEST || !kind.is_some_and(|kind| kind.starts_with(b"text/plain")) {
        return response;
    }
    let sentence = "a part of this address cannot be read: an id, a number or an encoding is wrong; \
                    the jobs are at /, the API is at /api/jobs";
    plain(StatusCode::BAD_REQUEST, sentence, api)
}

/// What is wrong with the parameters of an address, whatever its path.
fn bad_parameters(address: &Uri) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(address).ok()?;
    let mut names = HashSet::new();
    pairs.iter().find_map(|(name, value)| match () {
        // The database has no text with a NUL.
        () if name.contains('\0') || value.contains('\0') => {
            Some("a parameter of this address contains a NUL (%00); leave it out".to_owned())
        }
        // Scrapers may say to each of their targets what concerns another one.
        () if !names.insert(name) && address.path() != "/metrics" => {
            Some(format!("the parameter `{name}` is given twice; give it once"))
        }
        () => None,
    })
}

/// A page of one sentence; needs no template, so it can report a failed template.
fn message_page(status: StatusCode, sentence: &str) -> String {
    let title = status.canonical_reason().unwrap_or("Error");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title} · Plumbline</title>\
         <link rel=\"stylesheet\" href=\"/assets/style.css?v={}\"></head>\
         <body><main class=\"message\"><p class=\"code\">{}</p><h1>{title}</h1><p>{}</p>\
         <p><a href=\"/\">All jobs</a></p></main></body></html>\n",
        super::assets::version(),
        status.as_u16(),
        HtmlEscape(sentence)
    )
}
