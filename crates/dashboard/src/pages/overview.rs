//! The overview of a job.

use super::Head;
use crate::{
    pages::{chart, error::PageError},
    server::Shared,
};
use axum::{
    extract::{Path, State},
    response::Html,
};
use plumbline_store::{ApprovalRow, FindingsCount, TodoRow};
use serde_json::json;

/// Bars of the chart.
const BARS: i64 = 120;
/// Phases shown.
const PHASES: i64 = 60;
/// Attempts shown.
const ATTEMPTS: i64 = 20;

/// `/jobs/{id}`.
pub(crate) async fn show(State(state): Shared, Path(id): Path<String>) -> Result<Html<String>, PageError> {
    let head = Head::of(&state, &id, "overview").await?;
    let (store, job) = (&state.store, &head.job);
    let phases = store.phase_lines(job.id, PHASES).await?;
    let todos = current(store.todos_from(job.id, job.phase_number).await?, job.phase_number);
    let chart = chart::draw(&store.cost_bars(job.id, BARS).await?);
    let attempts = store.attempt_lines(job.id, ATTEMPTS).await?;
    let findings = store.findings_counts(job.id).await?;
    // Only a job in review waits for decisions.
    let asked = if job.status == "review" { store.approvals(Some(job.id)).await? } else { Vec::new() };
    let waiting: Vec<ApprovalRow> = asked.into_iter().filter(|call| call.state == "pending").collect();
    let sum = |part: fn(&FindingsCount) -> i64| findings.iter().map(part).sum::<i64>();
    let (requirements, citations, verified) = (sum(|f| f.requirements), sum(|f| f.citations), sum(|f| f.verified));
    let cache_share = share(job.cached_tokens, phases.iter().map(|phase| phase.tokens).sum());
    let values = json!({ "phases": phases, "todos": todos, "chart": chart, "attempts": attempts, "findings": findings, "requirements": requirements, "citations": citations, "verified": verified, "cache_share": cache_share, "waiting": waiting, "head": head });
    state.renderer.page("overview.html", values)
}

/// The current list.
fn current(todos: Vec<TodoRow>, phase_number: i32) -> Vec<TodoRow> {
    todos.into_iter().filter(|todo| todo.phase_number == phase_number).collect()
}

/// Percent; none if the total is zero.
fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}
