//! The workspace: its files, a viewer, downloads.

use super::Head;
use crate::{
    api,
    pages::{error::PageError, markdown},
    server::{AppState, Shared},
};
use axum::{
    body::{Body, Bytes},
    extract::{Path, Query, State, rejection::QueryRejection},
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use futures_util::stream;
use plumbline_store::FilePart;
use serde::Deserialize;
use serde_json::json;
use std::{io, sync::Arc};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

/// Files per page.
const FILES: i64 = 200;
/// Bytes per page of the viewer, and per read of a download.
const PART: i32 = 131_072;
/// Largest download.
const LARGEST: i64 = 64 * 1024 * 1024;

#[derive(Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
pub(crate) struct Place {
    path: String,
    #[serde(default)]
    from: i32,
}

/// `/jobs/{id}/files`.
pub(crate) async fn list(
    State(state): Shared,
    Path(id): Path<String>,
    Query(place): Query<After>,
) -> Result<Html<String>, PageError> {
    let head = Head::of(&state, &id, "files").await?;
    let mut files = state.store.file_page(head.job.id, &place.after, FILES).await?;
    let full = i64::try_from(files.len()).is_ok_and(|found| found == FILES);
    let next = files.last().filter(|_| full).map(|file| file.path.clone());
    // Output files come first.
    files.sort_by_key(|file| !file.path.starts_with("output/"));
    state
        .renderer
        .page("files.html", json!({ "head": head, "files": files, "next": next, "first": place.after.is_empty() }))
}

/// `/jobs/{id}/file?path=`: shows text in parts.
pub(crate) async fn view(
    State(state): Shared,
    Path(id): Path<String>,
    place: Result<Query<Place>, QueryRejection>,
) -> Result<Html<String>, PageError> {
    let place = known(place)?;
    let head = Head::of(&state, &id, "files").await?;
    let part = state.store.file_part(head.job.id, &place.path, place.from, PART).await?;
    let part = part.ok_or_else(|| missing(&place.path))?;
    let whole = place.from == 0 && i64::from(PART) >= part.size;
    let text = as_text(&part.part, whole);
    let next = place.from.checked_add(PART).filter(|next| i64::from(*next) < part.size);
    let previous = (place.from > 0).then(|| (place.from - PART).max(0));
    let is_markdown = markdown::is_markdown(&place.path);
    let html = text.as_deref().filter(|_| is_markdown).map(|text| markdown::html(text, head.job.id, &place.path));
    let values = json!({ "head": head, "text": text, "html": html, "next": next, "previous": previous, "whole": whole, "path": place.path, "size": part.size, "step": part.step, "updated_at": part.updated_at, "from": place.from });
    state.renderer.page("file.html", values)
}

/// `/jobs/{id}/raw?path=`: the bytes, never with a content type that a browser would run.
pub(crate) async fn download(
    State(state): Shared,
    Path(id): Path<String>,
    place: Result<Query<Place>, QueryRejection>,
) -> Result<Response, PageError> {
    let place = known(place)?;
    let job = api::find(&state, &id).await?;
    let first = state.store.file_part(job.id, &place.path, 0, PART).await?.ok_or_else(|| missing(&place.path))?;
    if first.size > LARGEST {
        return Err(PageError::bad(format!(
            "`{}` is larger than {} MiB: use `plumbline export`",
            place.path,
            LARGEST / 1_048_576
        )));
    }
    let size = first.size;
    let body = match size > i64::from(PART) {
        true => {
            let permit = state.large.admit()?;
            in_parts(state, job.id, place.path.clone(), first, permit)
        }
        false => Body::from(first.part),
    };
    let name: String = place.path.rsplit('/').next().unwrap_or("file").chars().map(tame).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("application/octet-stream");
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_LENGTH, size.into()),
    ];
    Ok((headers, body).into_response())
}

/// A file in parts: each is read when the previous one was sent. If the file changes meanwhile, the response ends
/// before its stated length, which every client treats as a failed download.
fn in_parts(state: Arc<AppState>, job: Uuid, path: String, first: FilePart, permit: OwnedSemaphorePermit) -> Body {
    let (size, step) = (first.size, first.step);
    let begin = (state, path, Some(first.part), 0_i32, permit);
    let parts = stream::try_unfold(begin, move |(state, path, read, from, permit)| async move {
        if i64::from(from) >= size {
            return Ok(None);
        }
        let part = match read {
            Some(part) => part,
            None => {
                let next = state.store.file_part(job, &path, from, PART).await.map_err(io::Error::other)?;
                let same = next.filter(|next| (next.size, next.step) == (size, step) && !next.part.is_empty());
                same.ok_or_else(|| io::Error::other("the file changed during the download"))?.part
            }
        };
        let sent = i32::try_from(part.len()).unwrap_or(i32::MAX);
        Ok::<_, io::Error>(Some((Bytes::from(part), (state, path, None, from.saturating_add(sent), permit))))
    });
    Body::from_stream(parts)
}

fn known(place: Result<Query<Place>, QueryRejection>) -> Result<Place, PageError> {
    let wrong = "`path` must name a file of the job, and `from`, if it is given, the byte to begin with";
    place.map(|query| query.0).map_err(|_| PageError::bad(wrong))
}

fn missing(path: &str) -> PageError {
    PageError::not_found(format!("the job has no file `{path}`; it may have been deleted"))
}

/// A header allows only ASCII characters.
fn tame(char: char) -> char {
    if char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_' | ' ') { char } else { '_' }
}

/// The text, or none for binary data. A part may begin and end within a character.
fn as_text(bytes: &[u8], whole: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_owned()),
        Err(_) if whole => None,
        Err(_) => {
            let text = String::from_utf8_lossy(bytes);
            let broken = text.matches('\u{fffd}').count();
            (broken <= 6).then(|| text.trim_matches('\u{fffd}').to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{as_text, tame};

    #[test]
    fn only_text_is_shown_as_text() {
        assert_eq!(as_text("Prüfung".as_bytes(), true).as_deref(), Some("Prüfung"));
        assert_eq!(as_text(b"%PDF-1.7\n\xe2\xe3\xcf\xd3", true), None);
        assert_eq!(as_text(b"a\0b", false), None);
        assert_eq!(as_text(&"Prüfung".as_bytes()[3..], false).as_deref(), Some("fung"));
        assert_eq!("a\"b\r\n.md".chars().map(tame).collect::<String>(), "a_b__.md");
    }
}
