//! The same as the dashboard, as JSON.

pub(crate) mod cursor;
pub(crate) mod events;
pub(crate) mod query;

use super::server::{Shared, Site};
use crate::{
    api::query::JobsQuery,
    pages::{
        error::{ApiFailure, Failure},
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

/// Phases, attempts and bars of one answer.
const MOST: i64 = 200;

/// `/api/jobs`: a page of jobs, newest first; `next` is the `after` of the page that follows.
pub(crate) async fn jobs(
    State(site): Shared,
    query: Result<Query<JobsQuery>, QueryRejection>,
) -> Result<Json<Value>, ApiFailure> {
    let Query(query) = query.map_err(|error| Failure::bad(error.body_text()))?;
    let (filter, limit) = query.filter(&site.store).await?;
    let jobs = site.store.job_page(&filter, limit).await?;
    let full = i64::try_from(jobs.len()).is_ok_and(|found| found == limit);
    let next = jobs.last().filter(|_| full).map(cursor::after);
    Ok(Json(json!({"jobs": jobs, "next": next})))
}

/// `/api/jobs/{id}`: the job's columns, and its todos, phases, attempts, costs and findings.
pub(crate) async fn job(State(site): Shared, Path(id): Path<String>) -> Result<Json<Value>, ApiFailure> {
    let mut job = find(&site, &id).await?;
    redact::hide(&mut job.config);
    let store = &site.store;
    let mut answer = serde_json::to_value(&job).map_err(|error| Failure::bad(error.to_string()))?;
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

/// The job that a path names.
pub(crate) async fn find(site: &Site, id: &str) -> Result<JobDetail, Failure> {
    let parsed: Uuid = id.parse().map_err(|_| Failure::not_found(format!("`{id}` is not a job's id")))?;
    let job = site.store.job_detail(parsed).await?;
    job.ok_or_else(|| Failure::not_found(format!("there is no job {parsed}; it may have been pruned")))
}
