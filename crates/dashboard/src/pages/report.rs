//! The job's documents with its quotes marked: the report file, generated from the current rows.

use crate::{
    api,
    pages::error::PageError,
    server::{Shared, large},
};
use axum::{
    extract::{Path, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

/// The file contains its styles, and nothing else that a content security policy must allow.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'");

/// `/jobs/{id}/report`.
pub(crate) async fn show(State(state): Shared, Path(id): Path<String>) -> Result<Response, PageError> {
    let job = api::find(&state, &id).await?;
    let gone = || PageError::not_found(format!("job {id} no longer exists"));
    // It may be as long as the documents are.
    let permit = state.large.admit()?;
    let html = plumbline_report::of_stored(&state.store, job.id).await?.ok_or_else(gone)?;
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_LENGTH, html.len().into()),
    ];
    Ok((headers, large::body(html, permit)).into_response())
}
