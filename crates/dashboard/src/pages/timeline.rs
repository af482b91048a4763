//! What happened, step by step, newest first.

use super::Head;
use crate::{pages::error::PageError, server::Shared};
use axum::{
    extract::{Path, Query, State, rejection::QueryRejection},
    response::Html,
};
use serde::Deserialize;
use serde_json::json;

/// Steps of a page.
const STEPS: i64 = 25;
/// Maximum characters of a message or of a call's arguments.
const TEXT: i32 = 1500;

#[derive(Deserialize)]
pub(crate) struct Place {
    /// Steps before this one.
    before: Option<i64>,
}

/// `/jobs/{id}/timeline`.
pub(crate) async fn show(
    State(state): Shared,
    Path(id): Path<String>,
    place: Result<Query<Place>, QueryRejection>,
) -> Result<Html<String>, PageError> {
    let Query(place) = place.map_err(|_| PageError::bad("`before` must be the number of a step"))?;
    let head = Head::of(&state, &id, "timeline").await?;
    let steps = state.store.step_page(head.job.id, place.before, STEPS, TEXT).await?;
    let next = steps.last().map(|step| step.step).filter(|step| *step > 1);
    state
        .renderer
        .page("timeline.html", json!({ "head": head, "steps": steps, "next": next, "first": place.before.is_none() }))
}
