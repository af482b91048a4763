//! The same as the dashboard, as JSON.

pub(crate) mod cursor;
pub(crate) mod events;
pub(crate) mod query;

use super::server::{AppState, Shared};
use crate::{
    api::query::JobsQuery,
    pages::{
        error::{ApiError, PageError},
        redact,
    },
};
use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use plumbline_store::JobDetail;
use serde_json::{Value, json};
use uuid::Uuid;

/// Maximum phases, attempts and bars of one answer.
const MOST: i64 = 200;

/// `/api/jobs`: a page of jobs, newest first; `next` is the `after` of the page that follows.
pub(crate) async fn jobs(
    State(state): Shared,
    given: Result<Query<Vec<(String, String)>>, QueryRejection>,
    query: Result<Query<JobsQuery>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    // A filter that is silently ignored would list jobs that were not asked for.
    if let Some((unknown, _)) =
        given.ok().and_then(|Query(pairs)| pairs.into_iter().find(|(name, _)| !query::is_known(name)))
    {
        let known = query::PARAMETERS.join(", ");
        return Err(PageError::bad(format!("there is no parameter `{unknown}`; there are {known}")).into());
    }
    let Query(query) = query.map_err(|error| PageError::bad(error.body_text()))?;
    let (filter, limit) = query.filter(&state.store).await?;
    let jobs = state.store.job_page(&filter, limit).await?;
    let full = i64::try_from(jobs.len()).is_ok_and(|found| found == limit);
    let next = jobs.last().filter(|_| full).map(cursor::after);
    Ok(Json(json!({"jobs": jobs, "next": next})))
}

/// `/api/jobs/{id}`: the job's columns, and its todos, phases, attempts, costs and findings.
pub(crate) async fn job(State(state): Shared, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    let mut job = find(&state, &id).await?;
    redact::hide(&mut job.config);
    let store = &state.store;
    let mut answer = serde_json::to_value(&job).map_err(|error| PageError::bad(error.to_string()))?;
    let parts = json!({
        "todos": store.todos_of(job.id).await?,
        "phases": store.phase_lines(job.id, MOST).await?,
        "attempts": store.attempt_lines(job.id, MOST).await?,
        "usage": store.cost_bars(job.id, MOST).await?,
        "requirements": store.findings_counts(job.id).await?,
    });
    if let (Some(answer), Value::Object(parts)) = (answer.as_object_mut(), parts) {
        answer.extend(parts);
    }
    Ok(Json(answer))
}

/// The job in a path.
pub(crate) async fn find(state: &AppState, id: &str) -> Result<JobDetail, PageError> {
    let parsed: Uuid =
        id.parse().map_err(|_| PageError::not_found(format!("`{}` is not a job's id", beginning(id))))?;
    let job = state.store.job_detail(parsed).await?;
    job.ok_or_else(|| PageError::not_found(format!("there is no job {parsed}; it may have been pruned")))
}

/// What is repeated of an address in a sentence.
fn beginning(text: &str) -> &str {
    text.split_at_checked(text.floor_char_boundary(100)).map_or(text, |(beginning, _)| beginning)
}
