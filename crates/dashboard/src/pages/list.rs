//! All jobs.

use crate::{
    api::{
        cursor,
        query::{JobsQuery, STATUSES},
    },
    pages::error::PageError,
    server::Shared,
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::Html,
};
use plumbline_store::StatusCount;
use serde::Serialize;
use serde_json::json;

/// Job types offered as filters.
const TYPES: i64 = 50;

#[derive(Serialize)]
struct Count {
    status: &'static str,
    jobs: i64,
}

/// `/`.
pub(crate) async fn show(
    State(state): Shared,
    query: Result<Query<JobsQuery>, QueryRejection>,
) -> Result<Html<String>, PageError> {
    let Query(query) = query.map_err(|error| PageError::bad(error.body_text()))?;
    let (filter, limit) = query.filter(&state.store).await?;
    let jobs = state.store.job_page(&filter, limit).await?;
    let counts = counts(&state.store.status_counts().await?);
    let types = state.store.job_types_seen(TYPES).await?;
    let full = i64::try_from(jobs.len()).is_ok_and(|found| found == limit);
    let next = jobs.last().filter(|_| full).map(cursor::after);
    let total: i64 = counts.iter().map(|count| count.jobs).sum();
    let values = json!({ "jobs": jobs, "counts": counts, "types": types, "next": next, "total": total, "limit": query.limit, "status": filter.status, "job_type": filter.job_type, "first": filter.after.is_none() });
    state.renderer.page("list.html", values)
}

/// Every status, including those without jobs.
fn counts(found: &[StatusCount]) -> Vec<Count> {
    let jobs = |status| found.iter().find(|count| count.status == status).map_or(0, |count| count.jobs);
    STATUSES.into_iter().map(|status| Count { status, jobs: jobs(status) }).collect()
}
